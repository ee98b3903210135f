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

/** What finds the owner of an address. */
export interface PageFinder {
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
    return answer(c, isId ? null : pageAddressOf(slug, finder))
  })
  routes.get(path || '/', async (c, next) => {
    const address = await pageAddressOfHost(c.req.header('host'), finder)
    return address === null ? next() : answer(c, address)
  })
}

/** Returns the address of an owner's page on this service. */
export function pageAddressOf(slug: string, { site }: Pick<PageFinder, 'site'>): PageAddress {
  return { owner: slug, origin: site.baseUrl, base: `/status/${slug}` }
}

/** Returns the page address for a custom domain as in a `Host` header; null: the host is no verified custom domain. */
export async function pageAddressOfHost(
  header: string | undefined,
  { site, db, cache }: PageFinder,
): Promise<PageAddress | null> {
  const home = new URL(site.baseUrl)
  const host = hostNameOf(header)
  if (host === home.hostname || !/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host)) return null
  const { value } = await cache.hosts.getOrStale(host, async () => ({
    organizationId: await organizationOfHost({ db, site }, host),
  }))
  const { organizationId } = value
  return organizationId === null ? null : { owner: organizationId, origin: `${home.protocol}//${host}`, base: '' }
}
