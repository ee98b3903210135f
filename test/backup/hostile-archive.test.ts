// @slow
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { isEncrypted, readArchive, verifyArchive, writeArchive } from '../../src/backup/archive.ts'
import { load } from '../../src/backup/dump.ts'
import { MAX_LINE_BYTES } from '../../src/backup/lines.ts'
import { StartError } from '../../src/core/errors.ts'
import { openEmbedded } from '../../src/database/embedded/embedded.ts'
import { unpack } from '../../src/database/embedded/unpack.ts'
import { migrationsDirectory, readMigrations } from '../../src/database/migration/migrate.ts'
import { readTemplate } from '../../src/database/migration/migrated-template.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { temporaryDirectory } from '../support/scratch.ts'

const now = new Date('2026-11-23T12:00:00Z')
const plain = { passphrase: null, now }
let directory = ''
let file = ''
beforeEach(async () => {
  const scratch = await temporaryDirectory()
  directory = scratch.path
  file = join(directory, 'x.backup')
  return scratch.remove
})

/** Writes a file in the format of a backup. @param frame compressed lines. */
function writeFrames(head: string, frame: Buffer, length = frame.length): void {
  const word = Buffer.alloc(4)
  word.writeUInt32BE((length | 0x8000_0000) >>> 0)
  const content = Buffer.concat([Buffer.from(`allclear-backup 1 ${head}\n`), word, frame])
  writeFileSync(file, Buffer.concat([content, createHash('sha256').update(content).digest()]))
}

async function linesIn(path: string, passphrase: string | null = null): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readArchive(path, passphrase)) lines.push(line)
  return lines
}

const head = (scrypt: unknown) => JSON.stringify({ createdAt: now.toISOString(), scrypt })
const salt = Buffer.alloc(16).toString('base64')

test.each([
  ['no JSON', '{', null],
  ['no object', 'null', null],
  ['a time that is none', '{"createdAt":1,"scrypt":null}', null],
  ['a cost that takes hours', head({ salt, cost: 2 ** 30 }), 'p'],
  ['a cost that is no power of two', head({ salt, cost: 3 }), 'p'],
  ['no cost', head({ salt }), 'p'],
  ['a cost that is a text', head({ salt, cost: '32768' }), 'p'],
  ['a salt that is no text', head({ salt: [1], cost: 32768 }), 'p'],
  ['parameters that are a text', head('x'), 'p'],
])('a head with %s is refused', async (_, first, passphrase) => {
  writeFrames(first, gzipSync('line\n'))
  await expect(verifyArchive(file, passphrase)).rejects.toThrow(StartError)
  await expect(isEncrypted(file)).rejects.toThrow(StartError)
})

test.each([
  ['a frame longer than any', () => writeFrames(head(null), gzipSync('line\n'), 0x7fff_ffff)],
  ['a frame that ends early', () => writeFrames(head(null), gzipSync('line\n').subarray(0, -4))],
  ['no compressed text', () => writeFrames(head(null), Buffer.from('not compressed'))],
  ['two compressed texts', () => writeFrames(head(null), Buffer.concat([gzipSync('a\n'), Buffer.from('more')]))],
])('a file with %s is damaged', async (_, write) => {
  write()
  await expect(verifyArchive(file, null)).rejects.toThrow(/damaged/)
})

test('a line that would fill the memory is refused', async () => {
  const bomb = createGzip()
  const parts: Buffer[] = []
  bomb.on('data', (part: Buffer) => void parts.push(part))
  const zeros = Buffer.alloc(1024 * 1024)
  for (let size = 0; size < 3 * MAX_LINE_BYTES; size += zeros.length)
    await new Promise((resolve) => bomb.write(zeros, resolve))
  await new Promise((resolve) => bomb.on('end', resolve).end())
  const frame = Buffer.concat(parts)
  expect(frame.length).toBeLessThan(256 * 1024)
  writeFrames(head(null), frame)
  const before = process.memoryUsage().rss
  await expect(verifyArchive(file, null)).rejects.toThrow(/damaged/)
  expect(process.memoryUsage().rss - before).toBeLessThan(3 * MAX_LINE_BYTES)
})

test('only a file is read', async () => {
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [directory, pipe, '/dev/zero', join(directory, 'none'), `${directory}/a\0b`])
    await expect(verifyArchive(path, null)).rejects.toThrow(StartError)
})

test('an unencrypted file does not replace an encrypted one unnoticed', async () => {
  await writeArchive(file, linesOf('line'), plain)
  await expect(verifyArchive(file, 'passphrase')).rejects.toThrow('is not encrypted')
  expect(await linesIn(file)).toEqual(['line'])
})

test('is written to a new file only, not through a link or to a file that someone else has placed', async () => {
  const victim = join(directory, 'victim')
  writeFileSync(victim, 'mine')
  symlinkSync(victim, `${file}.unfinished`)
  await writeArchive(file, linesOf('line'), plain)
  expect(readFileSync(victim, 'utf8')).toBe('mine')
  expect(lstatSync(file).isFile()).toBe(true)
  await rm(file)
  // What an interrupted run left, readable for all.
  writeFileSync(`${file}.unfinished`, 'left')
  chmodSync(`${file}.unfinished`, 0o666)
  await writeArchive(file, linesOf('line'), plain)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await mkdir(`${file}.unfinished`)
  await rm(file)
  await expect(writeArchive(file, linesOf('line'), plain)).rejects.toThrow()
  expect(existsSync(file)).toBe(false)
})

async function* linesOf(...lines: readonly string[]) {
  yield* lines
}

const scratch = await temporaryDirectory()
atTheEnd(scratch.remove)
const database = await openEmbedded(join(scratch.path, 'database'), readTemplate)
atTheEnd(database.close)
const known = await readMigrations(migrationsDirectory)
const first = JSON.stringify({ migrations: {}, secretKey: null })
const table = (name: string, columns: unknown = []) => JSON.stringify({ table: name, columns })
const keyed = JSON.stringify({ table: 'SealKey', columns: ['id', 'fingerprint'] })

test.each<[string, readonly string[]]>([
  ['nothing', []],
  ['no head', ['[]']],
  ['a key that is no text', [JSON.stringify({ migrations: {}, secretKey: { path: '/etc/passwd' } })]],
  ['a huge key', [JSON.stringify({ migrations: {}, secretKey: 'x'.repeat(100_000) })]],
  ['an unknown migration', [JSON.stringify({ migrations: { '../../x': 'y' }, secretKey: null })]],
  ['a line that is no JSON', [first, '{']],
  ['a line that is null', [first, 'null']],
  ['rows before a table', [first, '["(1)"]']],
  ['rows that are no texts', [first, keyed, '[1, {"a": 2}]']],
  ['a table that does not exist', [first, table('nowhere')]],
  ['a table of the database itself', [first, table('pg_class')]],
  ['the table of migrations', [first, table('_prisma_migrations')]],
  ['a name with SQL', [first, table('SealKey"; DROP TABLE "User"; --')]],
  ['a name of every object', [first, table('__proto__')]],
  ['columns that are no list', [first, table('SealKey', 'id,fingerprint')]],
  ['rows that do not fit', [first, keyed, '["(1,a,b,c)"]']],
  ['a row twice', [first, keyed, '["(1,a)"]', '["(1,a)"]', '{"rows":2}']],
  ['a row with NUL', [first, keyed, '["(1,\\u0000)"]', '{"rows":1}']],
  ['a sequence that does not exist', [first, '{"sequences":[{"name":"x","value":"1","isCalled":true}]}']],
  ['a sequence value with SQL', [first, '{"sequences":[{"name":"x","value":"1); DROP","isCalled":true}]}']],
  ['no end', [first, keyed, '["(1,a)"]']],
  ['a wrong count', [first, keyed, '["(1,a)"]', '{"rows":7}']],
])('contents with %s are refused, and change nothing', async (_, lines) => {
  const connection = await database.pool.connect()
  try {
    await expect(load(connection, linesOf(...lines), known)).rejects.toThrow(StartError)
    expect((await connection.query('SELECT 1 FROM "SealKey"')).rowCount).toBe(0)
    expect((await connection.query(`SELECT to_regclass('"User"') AS at`)).rows[0].at).not.toBeNull()
  } finally {
    connection.release()
  }
})

/** A block of a tar archive with one entry. */
function entry(path: string, { type = '0', size = '00000000001', content = 'x' } = {}): Buffer {
  const block = Buffer.alloc(1024)
  block.write(path, 0, 100, 'latin1')
  block.write(size, 124, 12, 'latin1')
  block.write(type, 156, 1, 'latin1')
  block.write('/etc/passwd', 157, 100, 'latin1')
  block.write(content, 512)
  return block
}

test.each([
  ['a parent', entry('../outside')],
  ['a parent within', entry('base/../../outside')],
  ['an absolute path', entry('/tmp/outside')],
  ['a link', entry('link', { type: '2' })],
  ['a hard link', entry('link', { type: '1' })],
  ['a device', entry('device', { type: '3' })],
  ['a pipe', entry('pipe', { type: '6' })],
  ['a size beyond its end', entry('huge', { size: '77777777777' })],
  ['a negative size', entry('huge', { size: '-0000000001' })],
  ['no size', entry('huge', { size: 'x' })],
])('a template with %s is refused', async (_, archive) => {
  const to = join(directory, 'to')
  await mkdir(to)
  expect(() => unpack(archive, to)).toThrow('invalid entry')
  expect(await readdir(to)).toEqual([])
  expect(await readdir(directory)).toEqual(['to'])
})
