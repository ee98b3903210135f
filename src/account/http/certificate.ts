import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { createTokenBucket } from '../../core/concurrency/token-bucket.ts'
import { SECOND } from '../../core/time.ts'
import { CERTIFICATE_PATH, isServedHost } from '../custom-domain/custom-domain.ts'
import type { PageLookup } from '../page/page-guard.ts'

/** How long answers are cached, and the maximum number of them. */
const REMEMBERED = { ttl: 10 * SECOND, max: 10_000 } as const
/** The limit of database lookups for uncached names, for all callers together. Proxies ask once per new host. */
const LOOKUPS = { limit: 600, windowMs: 60 * SECOND, burst: 100 } as const
/** The maximum length of a host name (RFC 1035 §2.3.4). */
const MAX_HOST_LENGTH = 253

/**
 * Answers a reverse proxy that asks, in `?domain=`, whether it may fetch a certificate for a host, as Caddy does on demand
 * (https://caddyserver.com/docs/automatic-https#on-demand-tls: 200 permits, anything else refuses). The answer does not reveal who
 * owns the host.
 */
export function certificateRoutes(parts: {
  readonly guard: PageLookup
  readonly site: { readonly baseUrl: string }
  /** In milliseconds; only tests pass one. */
  readonly clock?: () => number
}): Hono {
  const bucket = createTokenBucket(LOOKUPS, parts.clock)
  const known = new LRUCache<string, boolean>(REMEMBERED)
  return new Hono().get(CERTIFICATE_PATH, async (c) => {
    c.header('cache-control', 'no-store')
    const named = c.req.query('domain') ?? ''
    if (named.length > MAX_HOST_LENGTH) return c.body(null, 404)
    const host = named.toLowerCase()
    let isServed = known.get(host)
    if (isServed === undefined) {
      if (!bucket.take()) return c.body(null, 429, { 'retry-after': '1' })
      isServed = await isServedHost(parts.guard, parts.site, host)
      known.set(host, isServed)
    }
    return c.body(null, isServed ? 200 : 404)
  })
}
