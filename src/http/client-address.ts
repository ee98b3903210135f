import type { BlockList } from 'node:net'
import { LRUCache } from 'lru-cache'
import { addressFamily, parseAddress } from '../network/address.ts'

/** Stands for the address of a caller whose socket has none: it is closed already, or a Unix socket. */
const unknownAddress = '0.0.0.0'

/** No real chain of proxies is longer; it bounds the work an enormous header can ask for. */
const maxHops = 32

/**
 * The caller's address in canonical text: the socket's, unless that is a proxy we trust. Then `X-Forwarded-For` is read
 * from the right, where our own proxies write, up to the first hop that is not trusted; what stands left of it is the
 * caller's own claim. An entry that is no address (`unknown`, an obfuscated name) ends the walk at the last good one.
 * @param forwardedFor the header's value, several lines joined by commas as Node does.
 * @param trusted the proxies' addresses (`TRUST_PROXY`), or null when there are none.
 */
export function clientAddress(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList | null,
): string {
  // Node appends the zone (`%eth0`) to a link-local peer's address.
  let client = parseAddress(remoteAddress?.split('%', 1)[0] ?? '') ?? unknownAddress
  let rest = forwardedFor ?? ''
  for (let hop = 0; hop < maxHops && rest !== '' && trusted !== null && isIn(trusted, client); hop++) {
    const comma = rest.lastIndexOf(',')
    const address = hopAddress(rest.slice(comma + 1).trim())
    if (address === null) break
    client = address
    rest = rest.slice(0, Math.max(comma, 0))
  }
  return client
}

/** The address in one entry, which some proxies write as `[address]`, `[address]:port` or `ipv4:port`. */
function hopAddress(entry: string): string | null {
  const wrapped = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry)
  return parseAddress(wrapped?.[1] ?? wrapped?.[2] ?? entry)
}

/** What lists have said lately: to ask one takes twenty times as long as all else that is done here. */
const known = new WeakMap<BlockList, LRUCache<string, boolean>>()

/** Whether an address is in a list, which must no longer change. */
function isIn(list: BlockList, address: string): boolean {
  const answers = known.get(list) ?? answersOf(list)
  known.set(list, answers)
  return answers.memo(address)
}

function answersOf(list: BlockList): LRUCache<string, boolean> {
  return new LRUCache({ max: 1000, memoMethod: (address) => list.check(address, `ipv${addressFamily(address)}`) })
}
