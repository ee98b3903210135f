import type { BlockList } from 'node:net'
import { addressFamily, addressRange, hopAddress, parseAddress } from '../core/ip-address.ts'
import type { RequestRoute } from '../core/request-route.ts'
import { isInternal, isLocalCaller } from '../core/request-route.ts'
import { parseUrl } from '../core/url.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

const isIn = (list: BlockList, address: string) => list.check(address, `ipv${addressFamily(address)}`)

/** Unrelated addresses that no sensible list of proxies contains together. */
const ANYWHERE = ['1.1.1.1', '9.9.9.9', '203.0.113.9', '2001:4860:4860::8888']

/**
 * Examines whether the addresses of visitors arrive, based on the proxy headers of one request and TRUST_PROXY.
 * @param trusted the addresses of TRUST_PROXY; null: not set.
 */
export function examineProxy(route: RequestRoute, trusted: BlockList | null): Finding {
  if (trusted !== null && ANYWHERE.every((address) => isIn(trusted, address))) return found('PROXY_ALL_TRUSTED')
  const { client, forwardedFor } = route
  const address = parseAddress(route.peer?.split('%', 1)[0] ?? '')
  const peer = address ?? 'a socket'
  const isTrusted = trusted !== null && address !== null && isIn(trusted, address)
  if (forwardedFor === null) {
    const isForwarded = route.hasProxyHeader || (isTrusted && !isLocalCaller(route))
    return isForwarded ? found('PROXY_ADDRESS_UNKNOWN', { peer }) : found('PROXY_NONE', { client })
  }
  if (!isTrusted) return found('PROXY_NOT_TRUSTED', { peer, setting: settingWith(trusted, peer) })
  return examineChain(forwardedFor.split(','), { client, peer, trusted })
}

/** Examines the X-Forwarded-For entries of a trusted proxy, the nearest last. */
function examineChain(
  hops: readonly string[],
  { client, peer, trusted }: { readonly client: string; readonly peer: string; readonly trusted: BlockList },
): Finding {
  // If there is an address, the request comes from the proxy's own machine.
  if (client === peer && hopAddress(hops.at(-1) ?? '') === null) return found('PROXY_ADDRESS_UNKNOWN', { peer })
  const isOuter = hops.length > 1 && isInner(client) && hopAddress(hops[0] ?? '') !== client
  if (isOuter) return found('PROXY_CHAIN_INCOMPLETE', { client, setting: settingWith(trusted, client) })
  return found('PROXY_OK', { client })
}

/** Returns whether a proxy may have this address: load balancers of some clouds use carrier-grade NAT. */
const isInner = (address: string) => isInternal(address) || addressRange(address) === 'carrier-grade NAT'

/** Returns the value of TRUST_PROXY with an added address. */
function settingWith(trusted: BlockList | null, address: string): string {
  const known = (trusted?.rules ?? []).map((rule) => rule.split(' ').at(-1) ?? '').reverse()
  return [...known, address].map((entry) => entry.replace(/\/(32|128)$/, '')).join(',')
}

/**
 * Compares the public address with the address of a request.
 * @param baseUrl without a trailing slash.
 */
export function examineAddress(baseUrl: string, { host, forwardedProto }: RequestRoute): Finding {
  const known = parseUrl(baseUrl)
  const scheme = forwardedProto?.split(',').at(0)?.trim() || known?.protocol.replace(':', '') || 'http'
  const used = host === null ? null : parseUrl(`${scheme}://${host}`)
  if (known === null || used === null || !/^https?:$/.test(used.protocol)) return found('ADDRESS_OK', { url: baseUrl })
  return compareAddresses(known, used)
}

/** Compares the address in links with the one in use. */
export function compareAddresses(known: URL, used: URL): Finding {
  if (known.origin === used.origin) return found('ADDRESS_OK', { url: known.origin })
  return found('ADDRESS_DIFFERENT', { known: known.origin, used: used.origin })
}
