import type { Context as HttpContext } from 'hono'
import { pageOnHost } from '../account/custom-domain/hosted-page.ts'
import type { GuardedPage, PageLookup } from '../account/page/page-guard.ts'
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
  { site, guard }: { readonly site: Pick<Site, 'baseUrl'>; readonly guard: PageLookup },
  c: HttpContext,
): Promise<PageLocation | null> {
  const slug = c.req.param('slug')
  if (slug !== undefined) {
    const [page] = await guard.pages({ slug })
    return page ? { page, origin: site.baseUrl, base: `/status/${slug}` } : null
  }
  const hosted = await pageOnHost(guard, site, hostNameOf(c.req.header('host')))
  return hosted && { page: hosted.page, origin: hosted.origin, base: '' }
}
