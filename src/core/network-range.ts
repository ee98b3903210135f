import { BlockList } from 'node:net'
import ipaddr from 'ipaddr.js'
import { addressFamily, parseAddress } from './ip-address.ts'

/**
 * Returns a network in CIDR notation, with its host bits cleared; a single address is a network of one. An IPv4-mapped
 * IPv6 network becomes IPv4, like clients' addresses. Returns null for other text.
 */
export function parseRange(text: string): string | null {
  const [address = '', length, ...rest] = text.trim().split('/')
  const canonical = parseAddress(address)
  if (canonical === null || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return null
  const family = addressFamily(canonical)
  const longest = family === 6 ? 128 : 32
  // The first 96 bits of a mapped address are not in its IPv4 form.
  const unmapped = family === 4 && address.includes(':') ? 96 : 0
  const bits = length === undefined ? longest : Number(length) - unmapped
  if (bits < 0 || bits > longest) return null
  const { IPv4, IPv6 } = ipaddr
  const network =
    family === 6
      ? IPv6.networkAddressFromCIDR(`${canonical}/${bits}`).toRFC5952String()
      : IPv4.networkAddressFromCIDR(`${canonical}/${bits}`).toString()
  return `${network}/${bits}`
}

/** Returns whether an address that `parseAddress` returned is in one of the networks that `parseRange` returned. */
export function isInRanges(ranges: readonly string[], address: string): boolean {
  const family = addressFamily(address)
  const known = lists.get(ranges) ?? { 4: listOf(ranges, 4), 6: listOf(ranges, 6) }
  lists.set(ranges, known)
  return known[family].check(address, `ipv${family}`)
}

const lists = new WeakMap<readonly string[], Readonly<Record<4 | 6, BlockList>>>()

/** One list per family: a list would treat IPv4 addresses as mapped ones, which are in wide IPv6 networks. */
function listOf(ranges: readonly string[], family: 4 | 6): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    if (addressFamily(network) === family) list.addSubnet(network, Number(bits), `ipv${family}`)
  }
  return list
}
