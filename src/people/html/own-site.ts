import type { Context as HttpContext } from 'hono'
import { pageOnHost } from '../../account/custom-domain/hosted-page.ts'
import type { PageFinder } from '../../account/page/page-guard.ts'
import { pageLookupOf } from '../../account/page/page-guard.ts'
import { Forbidden, NotFound } from '../../core/errors.ts'
import { hostNameOf } from '../../http/request/host-header.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { isOwnOrigin } from '../../http/request/own-origin.ts'

/** The site, according to the settings. */
export interface OwnSite {
  readonly baseUrl: string
  /** Whether `BASE_URL` is set. */
  readonly isNamed: boolean
}

/**
 * Guards pages of people: they exist only on our own host, never on a custom domain, and accept forms only from our own pages.
 * Returns where to redirect; null: the request may continue.
 * @throws NotFound on a custom domain. @throws Forbidden for a form of another site.
 */
export async function guardOwnPage(c: HttpContext, ctx: PageFinder, site: OwnSite): Promise<Response | null> {
  const isSafe = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (!isSafe && !isOwnOrigin(nodeRequest(c), true)) {
    throw new Forbidden('FORBIDDEN', 'Submit this form from the page itself.')
  }
  const host = c.req.header('host') ?? ''
  if (await pageOnHost(pageLookupOf(ctx), site, hostNameOf(host))) throw new NotFound('Page not found.')
  if (!site.isNamed || host === new URL(site.baseUrl).host) return null
  if (!isSafe) throw new Forbidden('FORBIDDEN', `Use this service at ${site.baseUrl}.`)
  const { pathname, search } = new URL(c.req.url)
  return c.redirect(site.baseUrl + pathname + search, 307)
}
