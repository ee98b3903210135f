import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'

/**
 * Why the host of a request cannot be served, or null. RFC 9112 §3.2 has a Host that is missing, given twice or invalid
 * answered with 400: two servers in a row might take different ones. HTTP/1.0, in which load balancers may ask how we are,
 * knows none.
 */
export function hostRefusal({ headers: { host }, rawHeaders, httpVersion, url = '' }: IncomingMessage): string | null {
  if (host === undefined) return httpVersion === '1.0' ? null : 'The Host header is missing.'
  if (isRepeated(rawHeaders)) return 'The Host header is given twice.'
  if (!possibleHosts.memo(host)) return 'The Host header names no host.'
  if (url.startsWith('/') || !url.includes('://')) return null
  return authorityOf(url) === authorityOf(`http://${host}`) ? null : 'The Host header is not the host of the address.'
}

/**
 * The path and query of a request's target: the absolute form, which a server must take (RFC 9112 §3.2.2), without its
 * scheme and host.
 */
export function originForm(url: string): string {
  return /^https?:\/\/[^/?]*(\/.*)?$/i.exec(url)?.[1] ?? (isAbsolute(url) ? '/' : url)
}

const isAbsolute = (url: string) => /^https?:\/\//i.test(url)

/** The host name of a Host, in small letters, without a port and a trailing dot; empty when there is none. */
export function hostNameOf(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/\.?(:\d*)?$/, '')
}

/** Node keeps the first and hides the others. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}

/** A name or an address, and a port; URLs allow much more, such as a user and a path, which no Host may hold. */
const HOST = /^(?:[a-z0-9_-][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** Of Hosts seen lately, whether they are possible: nearly all requests name the same few. */
const possibleHosts = new LRUCache<string, boolean>({
  max: 100,
  memoMethod: (host) => HOST.test(host) && URL.canParse(`http://${host}`),
})

/** The host and port of an address; null when it is of another protocol than ours, or none. */
function authorityOf(url: string): string | null {
  if (!isAbsolute(url) || !URL.canParse(url)) return null
  const { host, username, password } = new URL(url.replace(/^https:/i, 'http:'))
  return username || password ? null : host
}
