import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import ipaddr from 'ipaddr.js'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type GeoLookup,
  type GeoOptions,
  geoAttribution,
  geoSources,
  openGeo,
  unknownGeo,
} from '../../src/blacklist/geo.ts'
import { type MmdbValue, mmdb } from '../support/mmdb.ts'

const require = createRequire(import.meta.url)

let directory: string
/** The data from npm, compiled once for this file. */
let geo: GeoLookup
let messages: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => messages.push(JSON.parse(line).msg) })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'allclear-geo-'))
  geo = open({})
  await geo.ready()
})

beforeEach(() => {
  messages = []
})

afterAll(async () => {
  await geo.close()
  await rm(directory, { recursive: true })
})

function open(options: Partial<GeoOptions>): GeoLookup {
  return openGeo({ dataDir: directory, cityFile: undefined, asnFile: undefined, log, ...options })
}

/** What `options` know of the addresses, one after another. */
async function locate(options: Partial<GeoOptions>, ...addresses: string[]) {
  const opened = open(options)
  await opened.ready()
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

test('well-known addresses are located', async () => {
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
  'nothing is known of %j',
  async (address) => {
    expect(await geo.locate(address)).toEqual(unknownGeo)
  },
)

test('a network is known where nobody knows the place, and the other way round', async () => {
  const cityFile = await file('nowhere.mmdb', mmdb(6, []))
  expect(await locate({ cityFile }, '8.8.8.8')).toEqual([{ ...unknownGeo, isp: 'Google LLC', asn: 'AS15169' }])
  // The resolver of Hetzner lies in a gap of the network data.
  expect(await geo.locate('185.12.64.1')).toMatchObject({ country: 'Germany', isp: null, asn: null })
})

test('compiled data is opened without compiling, and a first question waits for it', async () => {
  const opened = open({})
  expect(await opened.locate('2606:4700:4700::1111')).toMatchObject({ asn: 'AS13335', country: expect.any(String) })
  await opened.ready()
  await opened.close()
  expect(messages).toEqual(['geo: ready'])
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

test('own databases of MaxMind take the place of the data from npm, for both families', async () => {
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

test('an own database of IPv4 alone knows no IPv6 address', async () => {
  const cityFile = await file('ipv4.mmdb', mmdb(4, byDbIp))
  const asnFile = await file('asn-ipv4.mmdb', mmdb(4, networks.slice(0, 1)))
  // 2001:db8 begins like 32.1.13.184, cb00:7100 like 203.0.113.0.
  expect(await locate({ cityFile, asnFile }, '203.0.113.1', 'cb00:7101::', '2001:db8::1')).toEqual([
    { country: 'France', city: 'Lyon', isp: 'Example Net', asn: 'AS64500' },
    unknownGeo,
    unknownGeo,
  ])
})

test('files that are missing or something else give nulls and a warning each', async () => {
  const cityFile = join(directory, 'missing.mmdb')
  const asnFile = await file('garbage.mmdb', 'This is no database.')
  expect(await locate({ cityFile, asnFile }, '8.8.8.8', '2001:4860:4860::8888')).toEqual([unknownGeo, unknownGeo])
  expect(messages.toSorted()).toEqual(['geo: networks stay unknown', 'geo: places stay unknown', 'geo: ready'])
})

test('a database that is cut short or damaged gives nulls and one warning', async () => {
  const whole = mmdb(6, byMaxMind)
  const cityFile = await file('cut.mmdb', whole.subarray(0, whole.length / 2))
  const damaged = mmdb(6, networks)
  // Extended type 0 does not exist: the records cannot be decoded.
  damaged.fill(0, damaged.indexOf('autonomous_system_number') - 2, damaged.indexOf('\xab\xcd\xef', 'latin1'))
  const asnFile = await file('damaged.mmdb', damaged)
  expect(await locate({ cityFile, asnFile }, '203.0.113.1', '203.0.113.1')).toEqual([unknownGeo, unknownGeo])
  expect(messages.toSorted()).toEqual(['geo: networks stay unknown', 'geo: places stay unknown', 'geo: ready'])
})

test('closing while data is loading stops it without a word', async () => {
  const opened = open({ dataDir: join(directory, 'new') })
  await opened.close()
  await opened.ready()
  expect(messages.filter((message) => !message.startsWith('geo: compiling'))).toEqual([])
})

test('the attribution names every source', () => {
  for (const name of ['DB-IP', 'https://db-ip.com', 'Route Views', 'NRO', 'CC BY 4.0'])
    expect(geoAttribution).toContain(name)
  expect(geoSources.map(({ url }) => new URL(url).hostname)).toContain('db-ip.com')
})

/** A range of the source as the numbers of its `-num` files, which the code does not read. */
interface Range {
  readonly first: bigint
  readonly last: bigint
  readonly asn: string
}

async function rangesOf(name: string): Promise<Range[]> {
  const ranges: Range[] = []
  const lines = createInterface({ input: createReadStream(require.resolve(`@ip-location-db/asn/${name}`)) })
  for await (const line of lines) {
    const [first = '', last = '', number = ''] = line.split(',', 3)
    ranges.push({ first: BigInt(first), last: BigInt(last), asn: `AS${number}` })
  }
  return ranges
}

function spell(value: bigint, family: 4 | 6): string {
  const bytes = Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex')
  return ipaddr.fromByteArray([...bytes]).toString()
}

test.each([
  [4, 'asn-ipv4-num.csv', (range: Range) => range.last - range.first < 16n],
  [6, 'asn-ipv6-num.csv', (range: Range) => range.last % 2n ** 64n !== 2n ** 64n - 1n],
] as const)('the networks of IPv%i are those that a scan of the source finds', async (family, name, isOdd) => {
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

  for (const value of values) {
    const scanned = ranges.findLast(({ first, last }) => first <= value && value <= last)
    const address = spell(value, family)
    expect([address, (await geo.locate(address)).asn]).toEqual([address, scanned?.asn ?? null])
  }
})
