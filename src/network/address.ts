import { isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

/** What an address is for, by the IANA special-purpose registries; only `public` ones are reachable from everywhere. */
export type AddressRange =
  | 'public'
  | 'documentation'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'carrier-grade NAT'
  | 'unique local'
  | 'multicast'
  | 'unspecified'
  | 'reserved'

// INET6_ADDRSTRLEN (RFC 3493 §6.3) less its NUL: nothing longer is an address.
const longestAddress = 45

/**
 * The canonical text of an address: a dotted quad, or IPv6 by RFC 5952. An IPv4-mapped IPv6 address becomes the IPv4
 * address it means. Null for anything else: octal, hex and integer spellings, zone ids, brackets, surrounding blanks.
 */
export function parseAddress(text: string): string | null {
  if (text.length > longestAddress) return null
  if (isIPv4(text)) return text
  if (!isIPv6(text) || text.includes('%')) return null
  // The URL standard's serializer writes RFC 5952. ipaddr.js would read `::1.2.3.4` as if it were `::ffff:1.2.3.4`.
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical)
  return mapped ? dottedQuad(`${mapped[1]}`, `${mapped[2]}`) : canonical
}

/** 4 or 6, of an address as `parseAddress` gives it. */
export function addressFamily(address: string): 4 | 6 {
  return address.includes(':') ? 6 : 4
}

/**
 * The range an address belongs to. IPv6 counts as public only inside 2000::/3, the space IANA allocates from, and there
 * not in 6to4, Teredo, ORCHID and the like; NAT64 and every other way to wrap an IPv4 address is reserved.
 * @throws TypeError when the text is no address.
 */
export function addressRange(address: string): AddressRange {
  return knownRanges.memo(address)
}

/** Ranges found lately: to find one takes a tenth of the time of a check from cache. */
const knownRanges = new LRUCache<string, AddressRange>({ max: 1000, memoMethod: findRange })

function findRange(address: string): AddressRange {
  const parsed = read(address)
  if (ipaddr.subnetMatch(parsed, { documentation }, 'other') === 'documentation') return 'documentation'
  const range = parsed.range()
  if (range !== 'unicast') return rangeNames[range] ?? 'reserved'
  return parsed.kind() === 'ipv4' || parsed.match(globalUnicast) ? 'public' : 'reserved'
}

/**
 * Whether anyone on the internet may be reached at an address, so that we may connect to it for a tenant.
 * @throws TypeError when the text is no address.
 */
export function isPublic(address: string): boolean {
  return addressRange(address) === 'public'
}

/**
 * Whether an address is set aside for examples (RFC 5737, RFC 3849, RFC 9637).
 * @throws TypeError when the text is no address.
 */
export function isDocumentation(address: string): boolean {
  return addressRange(address) === 'documentation'
}

/**
 * The labels a DNS blacklist is asked with, before its zone (RFC 5782 §2.1, §2.4): the octets of an IPv4 address or the 32
 * nibbles of an IPv6 address, reversed. A mapped address given as IPv6 stays nibbles: lists have their IPv6 test point there.
 * @throws TypeError when the text is no address.
 */
export function reversedLabels(address: string): string {
  if (isIPv4(address)) return address.split('.').reverse().join('.')
  const nibbles = read(address)
    .toByteArray()
    .flatMap((byte) => [byte >> 4, byte & 15])
  return nibbles
    .map((nibble) => nibble.toString(16))
    .reverse()
    .join('.')
}

/**
 * The /64 of an IPv6 address, such as `2001:db8:1:2::/64`: what one subscriber is usually given (RFC 6177).
 * @throws Error when the text is no IPv6 address.
 */
export function subnet64(address: string): string {
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toRFC5952String()}/64`
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

const documentation = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'].map((cidr) =>
  ipaddr.parseCIDR(cidr),
)

/** Our words for ipaddr.js's; what is not named here is reserved. */
const rangeNames: Readonly<Record<string, AddressRange>> = {
  private: 'private',
  loopback: 'loopback',
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
  uniqueLocal: 'unique local',
  multicast: 'multicast',
  unspecified: 'unspecified',
}

function read(address: string) {
  // ipaddr.js alone would take octal, hex and integer spellings.
  if (isIP(address) === 0) throw new TypeError('Not an IP address')
  return ipaddr.parse(address)
}

function dottedQuad(...groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 255])
    .join('.')
}
