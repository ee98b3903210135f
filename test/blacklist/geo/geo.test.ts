// @slow
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type Geo,
  type GeoLookup,
  type GeoOptions,
  geoAttribution,
  geoSources,
  openGeo,
  unknownGeo,
} from '../../../src/blacklist/geo/geo.ts'
import { type MmdbValue, mmdb } from '../../support/mmdb.ts'

const require = createRequire(import.meta.url)

let directory: string
/** The data from npm. `impatient`, which does not wait for it, compiles it once for this file. */
let geo: GeoLookup
let impatient: GeoLookup
/** The answer of `impatient` for 8.8.8.8, before the data was compiled. */
let early: Geo
let messages: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => messages.push(JSON.parse(line).msg) })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'allclear-geo-'))
  impatient = open({ maxWaitMs: 0 })
  early = await impatient.locate('8.8.8.8')
  await impatient.load()
  geo = open({})
  await geo.load()
})

beforeEach(() => {
  messages = []
})

afterAll(async () => {
  await Promise.all([geo.close(), impatient.close()])
  await rm(directory, { recursive: true })
})

function open(options: Partial<GeoOptions>): GeoLookup {
  return openGeo({ dataDir: directory, cityFile: undefined, asnFile: undefined, log, ...options })
}

/** Locates the addresses with data from `options`. */
async function locate(options: Partial<GeoOptions>, ...addresses: string[]) {
  const opened = open(options)
  await opened.load()
  const found = []
  for (const address of addresses) found.push(await opened.locate(address))
  await opened.close()
  return found
}

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, content)
  return path
}

test('locates well-known addresses', async () => {
  expect(await geo.locate('8.8.8.8')).toEqual({
    country: 'United States',
    city: 'Mountain View',
    isp: 'Google LLC',
    asn: 'AS15169',
  })
  expect(await geo.locate('1.1.1.1')).toEqual({
    country: 'Australia',
    city: 'Sydney',
    isp: 'Cloudflare, Inc.',
    asn: 'AS13335',
  })
  expect(await geo.locate('2001:4860:4860::8888')).toMatchObject({ isp: 'Google LLC', asn: 'AS15169' })
  expect((await geo.locate('2001:4860:4860::8888')).country).not.toBeNull()
})

test.each(['192.0.2.1', '127.0.0.2', '10.0.0.1', '2001:db8::1', '::1', '0.0.0.0', '255.255.255.255', 'nonsense', ''])(
  '%j is unknown',
  async (address) => {
    expect(await geo.locate(address)).toEqual(unknownGeo)
  },
)

test('returns a network without a location, and the reverse', async () => {
  const cityFile = await file('nowhere.mmdb', mmdb(6, []))
  expect(await locate({ cityFile }, '8.8.8.8')).toEqual([{ ...unknownGeo, isp: 'Google LLC', asn: 'AS15169' }])
  // Hetzner's resolver lies in a gap of the network data.
  expect(await geo.locate('185.12.64.1')).toMatchObject({ country: 'Germany', isp: null, asn: null })
})

test('opens compiled data without compiling, and the first lookup waits for it', async () => {
  const opened = open({})
  expect(await opened.locate('2606:4700:4700::1111')).toMatchObject({ asn: 'AS13335', country: expect.any(String) })
  await opened.load()
  await opened.close()
  expect(messages).toEqual(['geo: ready'])
})

test('a location is marked as loading before the data is loaded, and not after that', async () => {
  expect(early).toMatchObject({ isp: null, asn: null, loading: true })
  const known = await impatient.locate('8.8.8.8')
  expect(known).toMatchObject({ isp: 'Google LLC', asn: 'AS15169' })
  expect(known).not.toHaveProperty('loading')
  expect(await impatient.locate('192.0.2.1'), 'of what no one knows').toEqual(unknownGeo)
})

test('waits no longer than its caller, and reports that the data is still loading', async () => {
  const opened = open({ dataDir: await mkdtemp(join(directory, 'empty-')) })
  expect(await opened.locate('8.8.8.8', { aborted: true })).toMatchObject({ isp: null, asn: null, loading: true })
  await opened.close()
})

const byMaxMind: [string, MmdbValue][] = [
  ['203.0.113.0/24', { country: { iso_code: 'FR' }, city: { names: { de: 'Leon', en: 'Lyon' } } }],
  ['2001:db8::/32', { country: { iso_code: 'HK' } }],
]
const byDbIp: [string, MmdbValue][] = [['203.0.113.0/24', { country_code: 'FR', city: 'Lyon' }]]
const networks: [string, MmdbValue][] = [
  ['203.0.113.0/25', { autonomous_system_number: 64500, autonomous_system_organization: 'Example Net' }],
  ['2001:db8::/48', { autonomous_system_number: 64501 }],
]

test('MaxMind databases replace the data from npm for both families', async () => {
  const cityFile = await file('city.mmdb', mmdb(6, byMaxMind))
  const asnFile = await file('asn.mmdb', mmdb(6, networks))
  expect(
    await locate({ cityFile, asnFile, dataDir: '/dev/null' }, '203.0.113.1', '203.0.113.200', '2001:db8::1', '8.8.8.8'),
  ).toEqual([
    { country: 'France', city: 'Lyon', isp: 'Example Net', asn: 'AS64500' },
    { country: 'France', city: 'Lyon', isp: null, asn: null },
    { country: 'Hong Kong', city: null, isp: null, asn: 'AS64501' },
    unknownGeo,
  ])
  expect(messages).toEqual(['geo: ready'])
})

test('an IPv4-only database has no IPv6 records', async () => {
  const cityFile = await file('ipv4.mmdb', mmdb(4, byDbIp))
  const asnFile = await file('asn-ipv4.mmdb', mmdb(4, networks.slice(0, 1)))
  // 2001:db8 has the same first bits as 32.1.13.184, cb00:7100 as 203.0.113.0.
  expect(await locate({ cityFile, asnFile }, '203.0.113.1', 'cb00:7101::', '2001:db8::1')).toEqual([
    { country: 'France', city: 'Lyon', isp: 'Example Net', asn: 'AS64500' },
    unknownGeo,
    unknownGeo,
  ])
})

test('a missing or invalid file results in nulls and one warning', async () => {
  const cityFile = join(directory, 'missing.mmdb')
  const asnFile = await file('garbage.mmdb', 'This is no database.')
  expect(await locate({ cityFile, asnFile }, '8.8.8.8', '2001:4860:4860::8888')).toEqual([unknownGeo, unknownGeo])
  expect(messages.toSorted()).toEqual([
    'geo: could not load networks; they stay unknown',
    'geo: could not load places; they stay unknown',
    'geo: ready',
  ])
})

test('a truncated or damaged database results in nulls and one warning', async () => {
  const whole = mmdb(6, byMaxMind)
  const cityFile = await file('cut.mmdb', whole.subarray(0, whole.length / 2))
  const damaged = mmdb(6, networks)
  // Extended type 0 does not exist: the records cannot be decoded.
  damaged.fill(0, damaged.indexOf('autonomous_system_number') - 2, damaged.indexOf('\xab\xcd\xef', 'latin1'))
  const asnFile = await file('damaged.mmdb', damaged)
  expect(await locate({ cityFile, asnFile }, '203.0.113.1', '203.0.113.1')).toEqual([unknownGeo, unknownGeo])
  expect(messages.toSorted()).toEqual([
    'geo: could not load networks; they stay unknown',
    'geo: could not load places; they stay unknown',
    'geo: ready',
  ])
})

test('closing stops loading without a log message', async () => {
  const opened = open({ dataDir: join(directory, 'new') })
  const loading = opened.load()
  await opened.close()
  await loading
  expect(messages.filter((message) => !message.startsWith('geo: compiling'))).toEqual([])
})

test('the attribution names every source', () => {
  for (const name of ['DB-IP', 'https://db-ip.com', 'Route Views', 'NRO', 'CC BY 4.0'])
    expect(geoAttribution).toContain(name)
  expect(geoSources.map(({ url }) => new URL(url).hostname)).toContain('db-ip.com')
})

/** A range in the source's `-num` files, which the code does not read. */
interface Range {
  readonly first: bigint
  readonly last: bigint
  readonly asn: string
}

async function rangesOf(name: string): Promise<Range[]> {
  const text = await readFile(require.resolve(`@ip-location-db/asn/${name}`), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [first = '', last = '', number = ''] = line.split(',', 3)
      return { first: BigInt(first), last: BigInt(last), asn: `AS${number}` }
    })
}

/** Finds the network of each value: that of the last range with it. Values and ranges are in ascending order. */
function scan(ranges: readonly Range[], values: readonly bigint[]): Map<bigint, string> {
  const found = new Map<bigint, string>()
  let next = 0
  for (const { first, last, asn } of ranges) {
    while (next < values.length && (values[next] ?? 0n) < first) next++
    for (let index = next; index < values.length && (values[index] ?? 0n) <= last; index++) {
      found.set(values[index] ?? 0n, asn)
    }
  }
  return found
}

function spell(value: bigint, family: 4 | 6): string {
  const bytes = Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex')
  return ipaddr.fromByteArray([...bytes]).toString()
}

test.each([
  [4, 'asn-ipv4-num.csv', (range: Range) => range.last - range.first < 16n],
  [6, 'asn-ipv6-num.csv', (range: Range) => range.last % 2n ** 64n !== 2n ** 64n - 1n],
] as const)('the networks of IPv%i match a scan of the source', async (family, name, isOdd) => {
  const ranges = await rangesOf(name)
  const every = Math.floor(ranges.length / 25)
  const overlapping = ranges.filter((range, index) => range.last >= (ranges[index + 1]?.first ?? range.last + 1n))
  const regular = ranges.filter((_, index) => index % every === Math.floor(every / 2))
  const sample = [
    ...regular,
    ...ranges.filter(isOdd).slice(0, 10),
    ...overlapping,
    ...ranges.slice(0, 1),
    ...ranges.slice(-1),
  ]
  const limit = 2n ** (family === 4 ? 32n : 128n)
  const values = sample
    .flatMap(({ first, last }) => [first - 1n, first, (first + last) / 2n, last, last + 1n])
    .filter((value) => value >= 0n && value < limit)
    .toSorted((one, other) => (one < other ? -1 : 1))

  const scanned = scan(ranges, values)
  for (const value of values) {
    const address = spell(value, family)
    expect([address, (await geo.locate(address)).asn]).toEqual([address, scanned.get(value) ?? null])
  }
})
