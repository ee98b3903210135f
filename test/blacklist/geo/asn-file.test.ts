import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type AsnSource, openAsnTable } from '../../../src/blacklist/geo/asn-file.ts'

const one = { asn: 'AS1', isp: 'One' }
const two = { asn: 'AS2', isp: 'Two' }

let directory: string
let path: string
let source: AsnSource
let messages: string[]
/** A table with a single holder, `1,One`. */
let compiled: Buffer
const log = pino({ level: 'info' }, { write: (line: string) => messages.push(JSON.parse(line).msg) })

beforeAll(async () => {
  await setUp()
  await holder()
  compiled = await readFile(path)
  await tearDown()
})

beforeEach(setUp)
afterEach(tearDown)

async function setUp(): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'allclear-asn-file-'))
  path = join(directory, 'geo', 'asn.bin')
  source = { version: '1.0.0', ipv4: join(directory, 'ipv4.csv'), ipv6: join(directory, 'ipv6.csv') }
  messages = []
  await writeSource('1,One')
}

async function tearDown(): Promise<void> {
  await rm(directory, { recursive: true })
}

async function writeSource(holder: string): Promise<void> {
  await writeFile(source.ipv4, `1.0.0.0,1.0.0.255,${holder}\n`)
  await writeFile(source.ipv6, `2001:db8::,2001:db8::ffff,${holder}\n`)
}

/** Opens a table and returns the holder of 1.0.0.1. */
async function holder({ version = '1.0.0', at = path, signal = new AbortController().signal } = {}) {
  const find = await openAsnTable({ ...source, version }, at, log, signal)
  return find('1.0.0.1')
}

const compiling = expect.stringMatching(/^geo: compiling/)

test('compiles the table once, then reads it from its file', async () => {
  expect(await holder()).toEqual(one)
  expect(messages).toEqual([compiling])
  await rm(source.ipv4)
  expect(await holder()).toEqual(one)
  expect(messages).toHaveLength(1)
  expect(await readdir(join(directory, 'geo'))).toEqual(['asn.bin'])
})

test('compiles a new version of the source', async () => {
  await holder()
  await writeSource('2,Two')
  expect(await holder()).toEqual(one)
  expect(await holder({ version: '1.0.1' })).toEqual(two)
  expect(await holder({ version: '1.0.1' })).toEqual(two)
  expect(messages).toEqual([compiling, compiling])
})

test.each([
  ['empty', () => truncate(path)],
  ['truncated', () => truncate(path, 50)],
  ['truncated inside its digest', () => truncate(path, 10)],
  ['longer than before', () => writeFile(path, 'x', { flag: 'a' })],
  ['changed in one bit', flipLastBit],
  ['something else', () => writeFile(path, 'hello')],
])('compiles again when the file is %s', async (_, damage) => {
  await mkdir(dirname(path))
  await writeFile(path, compiled)
  await damage()
  expect(await holder()).toEqual(one)
  expect(await holder()).toEqual(one)
  expect(messages).toEqual([compiling])
  expect(await readFile(path)).toEqual(compiled)
})

async function flipLastBit(): Promise<void> {
  const bytes = await readFile(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  await writeFile(path, bytes)
}

test('concurrent first starts all succeed and leave one file', async () => {
  expect(await Promise.all([holder(), holder(), holder()])).toEqual([one, one, one])
  expect(await readdir(join(directory, 'geo'))).toEqual(['asn.bin'])
  await rm(source.ipv4)
  expect(await holder()).toEqual(one)
})

test('uses the table from memory, with a warning, when it cannot be stored', async () => {
  const at = join(source.ipv4, 'asn.bin')
  expect(await holder({ at })).toEqual(one)
  expect(messages).toEqual([compiling, expect.stringContaining(`could not store the compiled AS numbers in ${at}`)])
})

test('does not touch a directory that is at the path of the file', async () => {
  expect(await holder({ at: directory })).toEqual(one)
  expect(messages).toEqual([compiling, expect.stringContaining('could not store the compiled AS numbers')])
  expect((await readdir(directory)).toSorted()).toEqual(['ipv4.csv', 'ipv6.csv'])
})

test('throws for an unreadable source and stores nothing', async () => {
  await rm(source.ipv6)
  await expect(holder()).rejects.toThrow('ENOENT')
  await writeFile(source.ipv6, 'not a row\n')
  await expect(holder()).rejects.toThrow('ipv6.csv, line 1')
  expect(await readdir(directory)).not.toContain('geo')
})

test('an abort stops compilation, before and after its start', async () => {
  await expect(holder({ signal: AbortSignal.abort() })).rejects.toThrow('aborted')

  const closing = new AbortController()
  const opening = holder({ signal: closing.signal })
  opening.catch(() => undefined)
  await vi.waitUntil(() => messages.length > 1, { interval: 1 })
  setImmediate(() => closing.abort())
  await expect(opening).rejects.toThrow('has stopped')
  expect(await readdir(directory)).not.toContain('geo')
})
