import { Hono } from 'hono'

/**
 * What crawlers are asked to leave alone (RFC 9309): a check asks lists that answer only so often, and what programs read is
 * no page. Pages say of themselves whether they are to be found.
 */
const rules = `User-agent: *
Disallow: /api/
Disallow: /check/
Disallow: /graphql
Disallow: /status/*/api/
`

/** `/robots.txt`, the same on every host. */
export function robotsRoutes(): Hono {
  return new Hono().get('/robots.txt', (c) =>
    c.body(rules, 200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' }),
  )
}
