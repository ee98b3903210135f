import type { BlockList } from 'node:net'
import { LRUCache } from 'lru-cache'
import { addressFamily, hopAddress, parseAddress } from '../../core/ip-address.ts'

/** The address of a caller without one: the socket is closed, or a Unix socket. */
const unknownAddress = '0.0.0.0'

/** The maximum length of a proxy chain, which bounds the work for a huge header. */
const MAX_HOPS = 32

/**
 * Returns the caller's address as canonical text: the socket's, unless it is a trusted proxy. Then reads
 * `X-Forwarded-For` from the right, where our own proxies write, up to the first untrusted hop; the entries left of it
 * are the caller's own claim. An entry that is not an address (`unknown`, an obfuscated name) ends the walk at the last
 * valid one.
 * @param forwardedFor the header's value, several lines joined by commas as Node does.
 * @param trusted the proxies' addresses (`TRUST_PROXY`), or null when there are none.
 */
export function clientAddress(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList | null,
): string {
  let client = peerAddress(remoteAddress)
  let remaining = forwardedFor ?? ''
  for (let hop = 0; hop < MAX_HOPS && remaining !== '' && trusted !== null && isIn(trusted, client); hop++) {
    const comma = remaining.lastIndexOf(',')
    const address = hopAddress(remaining.slice(comma + 1))
    if (address === null) break
    client = address
    remaining = remaining.slice(0, Math.max(comma, 0))
  }
  return client
}

/** Returns whether the other end of a socket is one of the proxies of `TRUST_PROXY`. */
export function isTrustedProxy(remoteAddress: string | undefined, trusted: BlockList | null): boolean {
  return trusted !== null && isIn(trusted, peerAddress(remoteAddress))
}

/** Node appends the zone (`%eth0`) to a link-local peer's address. */
const peerAddress = (remoteAddress: string | undefined) =>
  parseAddress(remoteAddress?.split('%', 1)[0] ?? '') ?? unknownAddress

/** Caches of recent lookups: a lookup takes twenty times as long as everything else here. */
const caches = new WeakMap<BlockList, LRUCache<string, boolean>>()

/** Returns whether an address is in a list, which must not change afterwards. */
function isIn(list: BlockList, address: string): boolean {
  const answers = caches.get(list) ?? createCache(list)
  caches.set(list, answers)
  return answers.memo(address)
}

function createCache(list: BlockList): LRUCache<string, boolean> {
  return new LRUCache({ max: 1000, memoMethod: (address) => list.check(address, `ipv${addressFamily(address)}`) })
}
