import type { Context, Hono } from 'hono'
import { organizationOfHost } from '../../account/custom-domain.ts'
import { typeOfId } from '../../core/id.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { hostNameOf } from '../../http/host.ts'
import type { PageCache } from '../page-cache.ts'

/** The requested address of an owner's pages: under the slug, or on the owner's custom domain. */
export interface PageAddress {
  /** The owner's slug or id. */
  readonly owner: string
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** The prefix of the owner's paths: `/status/{slug}`, or empty. */
  readonly base: string
}

interface PageFinder {
  readonly site: { readonly baseUrl: string }
  readonly db: PrismaClient
  readonly cache: Pick<PageCache, 'hosts'>
}

/**
 * Adds a route for a path of every owner's page, under `/status/{slug}` and on custom domains. Calls `answer` with null for
 * an address that cannot be a page.
 */
export function addPageRoute(
  routes: Hono,
  finder: PageFinder,
  path: string,
  answer: (c: Context, address: PageAddress | null) => Response | Promise<Response>,
): void {
  routes.get(`/status/:slug${path}`, (c) => {
    const slug = c.req.param('slug') ?? ''
    // The query also finds organizations by id, which would give pages a second address.
    const isId = typeOfId(slug) !== null
    return answer(c, isId ? null : { owner: slug, origin: finder.site.baseUrl, base: `/status/${slug}` })
  })
  routes.get(path || '/', async (c, next) => {
    const address = await pageAddressOfHost(c, finder)
    return address === null ? next() : answer(c, address)
  })
}

/** Returns the page address for the request's custom domain; null: the host is no verified custom domain. */
async function pageAddressOfHost(c: Context, { site, db, cache }: PageFinder): Promise<PageAddress | null> {
  const home = new URL(site.baseUrl)
  const host = hostNameOf(c.req.header('host'))
  if (host === home.hostname || !/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host)) return null
  const { value } = await cache.hosts.getOrStale(host, async () => ({
    organizationId: await organizationOfHost({ db, site }, host),
  }))
  const { organizationId } = value
  return organizationId === null ? null : { owner: organizationId, origin: `${home.protocol}//${host}`, base: '' }
}
