import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { createTokenBucket } from '../../core/concurrency/token-bucket.ts'
import { SECOND } from '../../core/time.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { CERTIFICATE_PATH, isServedHost } from '../custom-domain/custom-domain.ts'

/** How long an answer is remembered, and how many are. */
const REMEMBERED = { ttl: 10 * SECOND, max: 10_000 } as const
/** Questions about other names that reach the database, from all callers together: proxies ask once per new host. */
const LOOKUPS = { limit: 600, windowMs: 60 * SECOND, burst: 100 } as const

/**
 * Answers a reverse proxy that asks, in `?domain=`, whether it may fetch a certificate for a host, as Caddy does on demand
 * (https://caddyserver.com/docs/automatic-https#on-demand-tls: 200 permits, anything else refuses). The answer says nothing about
 * whose the host is.
 */
export function certificateRoutes(parts: {
  readonly db: PrismaClient
  readonly site: { readonly baseUrl: string }
  /** In milliseconds; only tests give one. */
  readonly clock?: () => number
}): Hono {
  const bucket = createTokenBucket(LOOKUPS, parts.clock)
  const known = new LRUCache<string, boolean>(REMEMBERED)
  return new Hono().get(CERTIFICATE_PATH, async (c) => {
    const host = (c.req.query('domain') ?? '').toLowerCase()
    c.header('cache-control', 'no-store')
    let isServed = known.get(host)
    if (isServed === undefined) {
      if (!bucket.take()) return c.body(null, 429, { 'retry-after': '1' })
      isServed = await isServedHost(parts, host)
      // Other texts can be long.
      if (host.length <= 253) known.set(host, isServed)
    }
    return c.body(null, isServed ? 200 : 404)
  })
}
