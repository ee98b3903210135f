import type { Context as HttpContext } from 'hono'
import type { Context } from '../../core/context.ts'

/**
 * Returns the origin at which the browser reaches us: `BASE_URL`, or the host of the request if it is not set. Do not use it for
 * links in emails, because the request that causes the email can name any host.
 */
export function ownAddress(
  c: HttpContext,
  { config }: Pick<Context, 'config'>,
  site: { readonly baseUrl: string },
): string {
  if (config.BASE_URL !== undefined) return new URL(site.baseUrl).origin
  const host = c.req.header('host')
  return host === undefined ? site.baseUrl : `http://${host}`
}
