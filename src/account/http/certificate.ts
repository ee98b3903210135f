import { Hono } from 'hono'
import { CERTIFICATE_PATH, isServedHost } from '../custom-domain/custom-domain.ts'
import type { ProvenDomains } from '../custom-domain/proven-domains.ts'

/**
 * Answers a reverse proxy that asks, in `?domain=`, whether it may fetch a certificate for a host, as Caddy does on demand
 * (https://caddyserver.com/docs/automatic-https#on-demand-tls: 200 permits, anything else refuses). The answer does not reveal who
 * owns the host. No limit applies, so questions about other names never refuse a proven one; `ProvenDomains` bounds their cost.
 */
export function certificateRoutes(parts: {
  readonly domains: Pick<ProvenDomains, 'isProven'>
  readonly site: { readonly baseUrl: string }
}): Hono {
  return new Hono().get(CERTIFICATE_PATH, async (c) => {
    const host = (c.req.query('domain') ?? '').toLowerCase()
    return c.body(null, (await isServedHost(parts.domains, parts.site, host)) ? 200 : 404)
  })
}
