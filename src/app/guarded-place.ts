import type { Context as HttpContext } from 'hono'
import type { GuardedPage, PageGuard } from '../account/page/page-guard.ts'
import type { Site } from '../http/page/layout.tsx'
import { hostNameOf } from '../http/request/host-header.ts'

/** Where a page is. */
export interface Place {
  readonly page: GuardedPage
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** `/status/{slug}`, or empty on a custom domain. */
  readonly base: string
}

/** Returns the page that a request is for, by the slug in its path or by its custom domain; null: none. */
export async function placeAt(
  { site, guard }: { readonly site: Pick<Site, 'baseUrl'>; readonly guard: PageGuard },
  c: HttpContext,
): Promise<Place | null> {
  const slug = c.req.param('slug')
  if (slug !== undefined) {
    const [page] = await guard.pages({ slug })
    return page ? { page, origin: site.baseUrl, base: `/status/${slug}` } : null
  }
  const home = new URL(site.baseUrl)
  const host = hostNameOf(c.req.header('host'))
  if (host === home.hostname || !host.includes('.') || /^[\d.]+$/.test(host)) return null
  const [page] = await guard.pages({ host })
  return page ? { page, origin: `${home.protocol}//${host}`, base: '' } : null
}
