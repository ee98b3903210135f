import type { IncomingMessage } from 'node:http'
import type { AddressRange } from '../network/address.ts'
import { addressRange, parseAddress } from '../network/address.ts'

/** Headers that a proxy in front adds: behind one, everybody seems to come from its address. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const

/**
 * Whether a request comes from the service's own network, asking for it by a local name: then it is most likely its
 * operator's. Good enough for advice, and for nothing that has to be kept secret.
 */
export function isLocalCaller({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): boolean {
  if (PROXY_HEADERS.some((name) => headers[name] !== undefined)) return false
  const address = parseAddress(socket.remoteAddress?.split('%', 1)[0] ?? '')
  return address !== null && isInside(address) && isLocalHost(headers.host ?? '')
}

const INSIDE: ReadonlySet<AddressRange> = new Set(['loopback', 'private', 'unique local', 'link-local'])

const isInside = (address: string) => INSIDE.has(addressRange(address))

function isLocalHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  const address = parseAddress(name.replace(/^\[|\]$/g, ''))
  return address === null ? !name.includes('.') || /\.(local|internal|lan|home\.arpa)$/.test(name) : isInside(address)
}
