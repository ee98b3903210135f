import type { Context } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../errors.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { Clock } from '../time.ts'
import type { DocumentKind } from './document.ts'
import { documentKinds, readDocument } from './document.ts'
import type { Place } from './html/place.ts'
import { servePath } from './html/place.ts'
import { rendered, send, sendAsOf } from './html/send.tsx'
import type { PageCache } from './page-cache.ts'
import type { Painter } from './painter.ts'
import { pictureSvg, readPicture } from './picture.ts'

/**
 * What programs read of status pages: Statuspage's API v2, feeds, the calendar, badges and pictures, at the same places as
 * the pages and kept like them. Anyone's page may read them.
 * @throws NotFound, inside, when there is no such page, or none of its services is meant.
 */
export function pageDocuments(options: {
  readonly site: { readonly baseUrl: string }
  readonly db: PrismaClient
  readonly cache: PageCache
  readonly painter: Painter
  readonly now: Clock
}): Hono {
  const { db, cache, painter, now } = options

  async function answer(c: Context, place: Place | null, kind: DocumentKind): Promise<Response> {
    if (place === null) throw new NotFound('There is no such status page.')
    c.header('access-control-allow-origin', '*')
    const id = c.req.param('id') ?? ''
    const url = place.origin + place.base
    const { value, asOf } = await cache.pages.getOrLast(JSON.stringify([place.owner, url, kind.path, id]), async () => {
      const { organizationId, body } = await readDocument(db, place.owner, kind, { url, id }, now())
      return rendered(organizationId, body, headersOf(kind))
    })
    return asOf === null ? send(c, value) : sendAsOf(c, value, asOf)
  }

  async function answerPicture(c: Context, place: Place | null): Promise<Response> {
    if (place === null) throw new NotFound('There is no such status page.')
    const incident = c.req.param('id') ?? null
    const { value, asOf } = await cache.pages.getOrLast(
      JSON.stringify([place.owner, 'picture', incident]),
      async () => {
        const { organizationId, picture } = await readPicture(db, place.owner, incident, now())
        return rendered(organizationId, await painter.paint(pictureSvg(picture), organizationId), headersOf(png))
      },
    )
    return asOf === null ? send(c, value) : sendAsOf(c, value, asOf)
  }

  const routes = new Hono()
  for (const path of ['/picture.png', '/incidents/:id/picture.png']) servePath(routes, options, path, answerPicture)
  for (const kind of documentKinds) servePath(routes, options, kind.path, (c, place) => answer(c, place, kind))
  // Scripts that send a header of their own ask first.
  for (const path of ['/status/:slug/api/v2/*', '/api/v2/*']) {
    routes.options(path, (c) =>
      c.body(null, 204, {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': '*',
        'access-control-max-age': '86400',
      }),
    )
  }
  return routes
}

/** A page names its pictures anew whenever it changes. */
const png = { type: 'image/png', maxAge: 300 } as const

/** Anyone may show a document and read it, and a picture that is opened by itself can do nothing. */
function headersOf({ type, maxAge }: Pick<DocumentKind, 'type' | 'maxAge'>): Readonly<Record<string, string>> {
  return {
    'content-type': type,
    'cache-control': maxAge === 0 ? 'no-cache' : `public, max-age=${maxAge}`,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'etag',
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
  }
}
