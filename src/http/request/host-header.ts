import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { parseUrl } from '../../core/url.ts'

/**
 * Returns why the host of a request is refused, or null. RFC 9112 §3.2 requires 400 for a missing, repeated or invalid
 * Host: two servers in a chain might choose different hosts. HTTP/1.0, which load balancers may use for health checks,
 * has no Host.
 */
export function hostError({ headers: { host }, rawHeaders, httpVersion, url = '' }: IncomingMessage): string | null {
  if (host === undefined) return httpVersion === '1.0' ? null : 'The Host header is missing.'
  if (isRepeated(rawHeaders)) return 'The Host header is given twice.'
  if (!validHosts.memo(host)) return 'The Host header does not name a host.'
  if (url.startsWith('/') || !url.includes('://')) return null
  return authorityOf(url) === authorityOf(`http://${host}`)
    ? null
    : 'The Host header does not match the host of the address.'
}

/**
 * Returns the path and query of a request target. Strips scheme and host of the absolute form, which a server must
 * accept (RFC 9112 §3.2.2).
 */
export function originForm(url: string): string {
  return /^https?:\/\/[^/?]*(\/.*)?$/i.exec(url)?.[1] ?? (isAbsolute(url) ? '/' : url)
}

const isAbsolute = (url: string) => /^https?:\/\//i.test(url)

/** Returns the host name of a Host header in lower case, without port and trailing dot; empty when none exists. */
export function hostNameOf(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/\.?(:\d*)?$/, '')
}

/** Returns whether a request has several Host headers; Node exposes only the first in `headers`. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}

/** A name or an address, and a port. URLs allow more, such as a user and a path, which are invalid in a Host. */
const HOST = /^(?:[a-z0-9_-][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/** Caches the validity of recent Hosts, because nearly all requests use the same few. */
const validHosts = new LRUCache<string, boolean>({
  max: 100,
  memoMethod: (host) => HOST.test(host) && parseUrl(`http://${host}`) !== null,
})

/** Returns the host and port of an HTTP or HTTPS URL; null for any other text. */
function authorityOf(url: string): string | null {
  const parsed = isAbsolute(url) ? parseUrl(url.replace(/^https:/i, 'http:')) : null
  if (parsed === null) return null
  const { host, username, password } = parsed
  return username || password ? null : host
}
