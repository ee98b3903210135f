import type { AddressRange } from './ip-address.ts'
import { addressRange, parseAddress } from './ip-address.ts'

/** The route of a request, according to its socket and headers. */
export interface RequestRoute {
  /** The address of the other end of the socket; null: unknown. */
  readonly peer: string | null
  /** The caller’s address after trusted proxies (`http/request/client-address.ts`). */
  readonly client: string
  /** The headers of the same names; null: absent. */
  readonly host: string | null
  readonly forwardedFor: string | null
  readonly forwardedProto: string | null
  /** Whether the request has a header of a proxy, such as Via or X-Real-IP. */
  readonly hasProxyHeader: boolean
}

const INTERNAL_RANGES: ReadonlySet<AddressRange> = new Set(['loopback', 'private', 'unique local', 'link-local'])

/** Returns whether an address is in a local network, not counting carrier-grade NAT, whose addresses visitors share. */
export function isInternal(address: string): boolean {
  return INTERNAL_RANGES.has(addressRange(address))
}

/**
 * Returns whether a request comes from the service's own network and uses a local host name, so most likely from its
 * operator. Sufficient for showing advice, not for protecting secrets.
 */
export function isLocalCaller(route: Pick<RequestRoute, 'peer' | 'host' | 'hasProxyHeader'>): boolean {
  if (route.hasProxyHeader) return false
  // Node appends the zone (`%eth0`) to a link-local peer's address.
  const peer = parseAddress(route.peer?.split('%', 1)[0] ?? '')
  return peer !== null && isInternal(peer) && isLocalHost(route.host ?? 'localhost')
}

/** Returns whether a host is a local address, or a name that no public domain can have. */
function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const address = parseAddress(name.replace(/^\[|\]$/g, ''))
  return address === null ? !name.includes('.') || /\.(local|internal|lan|home\.arpa)$/.test(name) : isInternal(address)
}
