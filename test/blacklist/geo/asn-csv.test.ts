import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAsnFiles } from '../../../src/blacklist/geo/asn-csv.ts'
import { type AsnData, packAsnTable, readAsnTable } from '../../../src/blacklist/geo/asn-table.ts'
import { randomAccessTo } from '../../../src/blacklist/geo/paged-file.ts'

const tableOf = (data: AsnData) => randomAccessTo(packAsnTable(data))
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'allclear-asn-csv-'))
})

afterAll(() => rm(directory, { recursive: true }))

async function read(ipv4Rows: readonly string[], ipv6Rows: readonly string[] = [], newline = '\n') {
  const files = { ipv4: join(directory, 'ipv4.csv'), ipv6: join(directory, 'ipv6.csv') }
  await writeFile(files.ipv4, ipv4Rows.map((row) => row + newline).join(''))
  await writeFile(files.ipv6, ipv6Rows.map((row) => row + newline).join(''))
  return await readAsnFiles(files)
}

test('converts rows to boundaries, and gaps between them to boundaries without a holder', async () => {
  const data = await read(
    ['0.0.0.0,0.0.0.255,1,One', '1.0.0.0,1.0.0.255,2,"Two, ""Ltd"""', '255.0.0.0,255.255.255.255,3, Three '],
    ['2001::,2001::ffff:ffff,2,"Two, ""Ltd"""'],
  )

  expect(data.ipv4).toEqual({
    starts: [0, 0x100, 0x0100_0000, 0x0100_0100, 0xff00_0000],
    holders: [1, 0, 2, 0, 3],
  })
  expect(data.ipv6).toEqual({ starts: [0x2001_0000, 0, 0, 0, 0x2001_0000, 0, 1, 0], holders: [2, 0] })
  expect(data.holders).toEqual([
    { number: 1, name: 'One' },
    { number: 2, name: 'Two, "Ltd"' },
    { number: 3, name: 'Three' },
  ])
})

test('merges adjacent rows of one holder', async () => {
  const { ipv4 } = await read(['1.0.0.0,1.0.0.255,1,One', '1.0.1.0,1.0.1.255,1,One', '1.0.2.0,1.0.2.255,2,Two'])
  expect(ipv4).toEqual({ starts: [0x0100_0000, 0x0100_0200, 0x0100_0300], holders: [1, 2, 0] })
})

test('lets the later of two overlapping rows win', async () => {
  const { ipv4 } = await read(['1.0.0.0,1.0.1.255,1,One', '1.0.1.0,1.0.2.255,2,Two'])
  expect(ipv4).toEqual({ starts: [0x0100_0000, 0x0100_0100, 0x0100_0300], holders: [1, 2, 0] })
})

test('accepts a holder without a name, Windows line endings and empty files', async () => {
  const data = await read(['1.0.0.0,1.0.0.255,7,'], [], '\r\n')
  expect(data.holders).toEqual([{ number: 7, name: '' }])
  expect(data.ipv6).toEqual({ starts: [], holders: [] })
  expect(readAsnTable(tableOf(data))('1.0.0.1')).toEqual({ asn: 'AS7', isp: null })
})

test.each([
  ['no columns', 'hello'],
  ['no address', '1.0.0,1.0.0.255,1,One'],
  ['no number', '1.0.0.0,1.0.0.255,One'],
  ['another family', '2001::,2001::1,1,One'],
  ['an end before its start', '1.0.0.255,1.0.0.0,1,One'],
  ['a start before the row above', '0.0.0.0,9.9.9.9,1,One'],
  ['a range inside the row above', '0.5.0.1,0.5.0.2,1,One'],
])('rejects a row with %s and names its line', async (_, row) => {
  await expect(read(['0.5.0.0,0.5.0.255,1,One', row])).rejects.toThrow(
    `line 2: not a range that follows the previous one: ${row}`,
  )
})

test('rejects a row after the last address', async () => {
  const rows = ['255.0.0.0,255.255.255.255,1,One', '255.1.0.0,255.255.255.255,2,Two']
  await expect(read(rows)).rejects.toThrow('line 2')
})

test('throws for a missing file', async () => {
  const missing = join(directory, 'missing.csv')
  await expect(readAsnFiles({ ipv4: missing, ipv6: missing })).rejects.toThrow('ENOENT')
})
