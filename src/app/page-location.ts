import type { Context as HttpContext } from 'hono'
import { originOfHost, pageHostOf } from '../account/custom-domain/domain-name.ts'
import type { GuardedPage, PageGuard } from '../account/page/page-guard.ts'
import type { Site } from '../http/page/layout.tsx'
import { hostNameOf } from '../http/request/host-header.ts'

/** The location of a page. */
export interface PageLocation {
  readonly page: GuardedPage
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** `/status/{slug}`, or empty on a custom domain. */
  readonly base: string
}

/** Finds the page of a request, by the slug in its path or by its custom domain; null: none. */
export async function findPageLocation(
  { site, guard }: { readonly site: Pick<Site, 'baseUrl'>; readonly guard: PageGuard },
  c: HttpContext,
): Promise<PageLocation | null> {
  const slug = c.req.param('slug')
  if (slug !== undefined) {
    const [page] = await guard.pages({ slug })
    return page ? { page, origin: site.baseUrl, base: `/status/${slug}` } : null
  }
  const host = pageHostOf(site.baseUrl, hostNameOf(c.req.header('host')))
  if (host === null) return null
  const [page] = await guard.pages({ host })
  return page ? { page, origin: originOfHost(site.baseUrl, host), base: '' } : null
}
