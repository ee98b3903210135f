import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Config } from '../../core/config.ts'
import { parseUrl } from '../../core/url.ts'
import { isTrustedProxy } from './client-address.ts'
import { hostNameOf } from './host-header.ts'

/** The settings that name the hosts of this service. */
export type HostConfig = Pick<Config, 'BASE_URL' | 'ALLOWED_HOSTS'>

/**
 * Returns whether the host of a request is the service's own: `BASE_URL`'s, one of `ALLOWED_HOSTS`, `localhost` or a
 * name below it, an address, or none (HTTP/1.0). A stranger can point any other name here, also after a browser has
 * opened a page of theirs under it (DNS rebinding), so it gives no right that depends on where a request comes from.
 */
export function isOwnHost(host: string | undefined, config: HostConfig): boolean {
  return host === undefined || factsOf(host, config).isOwn
}

/** What the settings say about the host of a request. */
interface HostFacts {
  readonly isOwn: boolean
  /** Whether it is the host of `BASE_URL`, and that address is secure. */
  readonly isSecureBase: boolean
  /** Whether browsers may be told to use https alone for it, and how long, in seconds; null: they may not. */
  readonly strictFor: number | null
}

/** Caches recent hosts, because nearly all requests use the same few. The settings do not change. */
const caches = new WeakMap<HostConfig, LRUCache<string, HostFacts>>()

function factsOf(host: string, config: HostConfig): HostFacts {
  const known = caches.get(config) ?? createCache(config)
  caches.set(config, known)
  return known.memo(host)
}

function createCache({ BASE_URL, ALLOWED_HOSTS }: HostConfig): LRUCache<string, HostFacts> {
  const base = BASE_URL === undefined ? null : new URL(BASE_URL)
  const names = new Set([base?.hostname, ...ALLOWED_HOSTS])
  const memoMethod = (host: string): HostFacts => {
    const name = hostNameOf(host)
    const isAlwaysOwn = name === 'localhost' || name.endsWith('.localhost') || isAddress(host)
    const isBase = name === base?.hostname
    const hasPort = /:\d*$/.test(host) ? !host.endsWith(':443') : isBase && base.port !== ''
    const strictFor = isAlwaysOwn || hasPort ? null : isBase ? OWN_MAX_AGE : OTHER_MAX_AGE
    return {
      isOwn: isAlwaysOwn || names.has(name),
      isSecureBase: isBase && base.protocol === 'https:',
      strictFor,
    }
  }
  return new LRUCache({ max: 100, memoMethod })
}

/** Browsers read addresses in all spellings (https://url.spec.whatwg.org/#ipv4-parser), and ask no resolver for them. */
function isAddress(host: string): boolean {
  return isIP(parseUrl(`http://${host}`)?.hostname.replace(/^\[|\]$/g, '') ?? '') !== 0
}

/** How long browsers use https alone, in seconds: a year for our own name. */
const OWN_MAX_AGE = 31_536_000
/** A month for other names, because their owners may take them elsewhere. */
const OTHER_MAX_AGE = 2_592_000

/**
 * Returns the value of `Strict-Transport-Security` (RFC 6797) for a request that a browser has sent by https; null: it
 * has not, or that is not certain. The header applies to every port of a name, so a name with a port gets none, nor does
 * `localhost`. It never includes subdomains.
 */
export function strictTransportFor(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  config: HostConfig & Pick<Config, 'TRUST_PROXY'>,
): string | null {
  const { host, 'x-forwarded-proto': protocols } = headers
  if (host === undefined) return null
  const { strictFor, isSecureBase } = factsOf(host, config)
  if (strictFor === null) return null
  if (protocols === undefined) return isSecureBase ? `max-age=${strictFor}` : null
  const isSecure = isHttps.test(protocols.toString())
  const isKnown = isSecureBase || isTrustedProxy(socket.remoteAddress, config.TRUST_PROXY)
  return isSecure && isKnown ? `max-age=${strictFor}` : null
}

/** Each proxy of a chain may add what it has received. */
const isHttps = /^\s*https\s*(?:,\s*https\s*){0,32}$/i
