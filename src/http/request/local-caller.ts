import type { IncomingMessage } from 'node:http'
import type { AddressRange } from '../../core/ip-address.ts'
import { addressRange, parseAddress } from '../../core/ip-address.ts'

/** Headers of a reverse proxy; behind one, all requests seem to come from its address. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/** Returns whether a request came through a reverse proxy that says so. */
export function hasProxyHeader(headers: IncomingMessage['headers']): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined)
}

/**
 * Returns whether a request comes from the service's own network and uses a local host name, so most likely from its
 * operator. Sufficient to show advice, not to protect secrets.
 */
export function isLocalCaller({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  if (hasProxyHeader(headers)) return false
  const address = parseAddress(socket.remoteAddress?.split('%', 1)[0] ?? '')
  return address !== null && isInternal(address) && isLocalHost(headers.host ?? '')
}

const INTERNAL_RANGES: ReadonlySet<AddressRange> = new Set(['loopback', 'private', 'unique local', 'link-local'])

const isInternal = (address: string) => INTERNAL_RANGES.has(addressRange(address))

function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const address = parseAddress(name.replace(/^\[|\]$/g, ''))
  return address === null ? !name.includes('.') || /\.(local|internal|lan|home\.arpa)$/.test(name) : isInternal(address)
}
