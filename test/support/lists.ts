import type { RbldnsdZone } from './rbldnsd.ts'

/** The first line of every zone: negative answers are cached for 150 s. */
const soa = '$SOA 3600 ns.lists.test hostmaster.lists.test 1 600 300 86400 150'

/** Entries of a list, by address or name: a code such as `127.0.0.2`, and a reason. */
type Entries = Readonly<Record<string, readonly [code: string, reason: string]>>

/** The entries of each list besides its test entry, by zone. */
export type Listings = Readonly<Partial<Record<(typeof ipZones)[number] | (typeof domainZones)[number], Entries>>>

const ipZones = [
  'zen.spamhaus.org',
  'bl.spamcop.net',
  'b.barracudacentral.org',
  'psbl.surriel.com',
  'bl.mailspike.net',
  'dnsbl.dronebl.org',
] as const
const domainZones = ['multi.surbl.org', 'black.uribl.com'] as const

/** The eight lists under their real names, healthy: each answers for its test entry. */
export function listZones(listings: Listings = {}): RbldnsdZone[] {
  const lines = (zone: keyof Listings, testEntry: string, testCode: string) => [
    soa,
    `:${testCode}:Test entry of ${zone}`,
    testEntry,
    ...Object.entries(listings[zone] ?? {}).flatMap(([entry, [code, reason]]) => [`:${code}:${reason}`, entry]),
  ]
  return [
    ...ipZones.map((zone): RbldnsdZone => ({ zone, type: 'ip4set', lines: lines(zone, '127.0.0.2', '127.0.0.2') })),
    ...domainZones.map((zone): RbldnsdZone => {
      const testCode = zone === 'multi.surbl.org' ? '127.0.0.254' : '127.0.0.2'
      return { zone, type: 'dnset', lines: lines(zone, '2.0.0.127', testCode) }
    }),
  ]
}

/** A domain with its addresses, so that one daemon serves the whole DNS. */
export function hostZone(name: string, addresses: readonly string[]): RbldnsdZone {
  const records = addresses.map((address) => `@ ${address.includes(':') ? 'AAAA' : 'A'} ${address}`)
  return { zone: name, type: 'generic', lines: [soa, ...records] }
}
