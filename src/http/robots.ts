import { Hono } from 'hono'

/**
 * The paths that crawlers must skip (RFC 9309): checks use up the quotas of blacklists, and APIs are not pages. Each
 * page declares whether it may be indexed.
 */
const rules = `User-agent: *
Disallow: /api/
Disallow: /check/
Disallow: /graphql
Disallow: /status/*/api/
`

/** Creates the route of `/robots.txt`, which is the same on every host. */
export function robotsRoutes(): Hono {
  return new Hono().get('/robots.txt', (c) =>
    c.body(rules, 200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' }),
  )
}
