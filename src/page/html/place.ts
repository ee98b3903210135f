import type { Context, Hono } from 'hono'
import { ownerOfHost } from '../../account/domain.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { hostNameOf } from '../../http/host.ts'
import { typeOfId } from '../../id.ts'
import type { PageCache } from '../page-cache.ts'

/** Where an owner's pages are asked for: under the slug, or at the owner's own domain. */
export interface Place {
  /** The owner's slug or id. */
  readonly owner: string
  /** The public address of the host, without a slash at its end. */
  readonly origin: string
  /** What the paths of the owner's pages begin with: `/status/{slug}`, or nothing. */
  readonly base: string
}

interface Finder {
  readonly site: { readonly baseUrl: string }
  readonly db: PrismaClient
  readonly cache: Pick<PageCache, 'hosts'>
}

/**
 * Answers at a path of every owner's page: after `/status/{slug}`, and at the root of an owner's own domain. `answer` is
 * given null where no page can be.
 */
export function servePath(
  routes: Hono,
  finder: Finder,
  path: string,
  answer: (c: Context, place: Place | null) => Response | Promise<Response>,
): void {
  routes.get(`/status/:slug${path}`, (c) => {
    const slug = c.req.param('slug') ?? ''
    // An id would be found as well, and be a second address of the same page.
    const isId = typeOfId(slug) !== null
    return answer(c, isId ? null : { owner: slug, origin: finder.site.baseUrl, base: `/status/${slug}` })
  })
  routes.get(path || '/', async (c, next) => {
    const place = await placeOfHost(c, finder)
    return place === null ? next() : answer(c, place)
  })
}

/** The owner whose own domain was asked for; null: it is nobody's, or not proven. */
export async function placeOfHost(c: Context, { site, db, cache }: Finder): Promise<Place | null> {
  const home = new URL(site.baseUrl)
  const host = hostNameOf(c.req.header('host'))
  if (host === home.hostname || !/^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host)) return null
  const { value } = await cache.hosts.getOrLast(host, async () => ({
    organizationId: await ownerOfHost({ db, site }, host),
  }))
  const { organizationId } = value
  return organizationId === null ? null : { owner: organizationId, origin: `${home.protocol}//${host}`, base: '' }
}
