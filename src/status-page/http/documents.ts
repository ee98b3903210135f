import type { Context } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import type { Clock } from '../../core/time.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { publicCacheControl } from '../../http/response/cache-control.ts'
import { sendFile } from '../../http/response/send-file.ts'
import { languageOfTag } from '../../language/choice.ts'
import { isPicture } from '../../status/incident/file-content.ts'
import { readPublicFile } from '../../status/incident/file-store.ts'
import type { DocumentKind } from '../document/document.ts'
import { documentKinds, readDocument } from '../document/document.ts'
import type { ImageSubject } from '../open-graph-image.ts'
import { openGraphImageSvg, readOpenGraphImage } from '../open-graph-image.ts'
import type { PageAddress, PageFinder } from '../page-address.ts'
import type { PageCache } from '../page-cache.ts'
import type { PngRenderer } from '../png-renderer.ts'
import { sharedState, versionOf } from '../shared-state.ts'
import { rememberAddress } from './hot-answers.ts'
import { createRenderedPage, sendPage, sendStalePage } from './page-response.tsx'
import { addPageRoute } from './page-routes.ts'

/**
 * Creates the routes of the documents about status pages: Statuspage's API v2, feeds, the calendar, badges and images.
 * They live under the pages' addresses, are cached like pages, and allow cross-origin reads. The handlers throw
 * NotFound when the page or service does not exist.
 */
export function documentRoutes(
  options: PageFinder & {
    readonly db: PrismaClient
    readonly cache: PageCache
    readonly pngRenderer: PngRenderer
    readonly now: Clock
  },
): Hono {
  const { db, cache, pngRenderer, now } = options
  const source = { db, cache, now }

  async function answer(c: Context, address: PageAddress | null, kind: DocumentKind): Promise<Response> {
    if (address === null) throw new NotFound('Status page not found.')
    c.header('access-control-allow-origin', '*')
    const id = c.req.param('id') ?? ''
    const url = address.origin + address.root
    const requested = languageOfTag(c.req.query('language'))
    const key = JSON.stringify([address.owner, url, kind.path, id, requested])
    const { value, asOf } = await cache.pages.getOrStale(key, async (previous) => {
      if (previous?.stateVersion === versionOf(await sharedState(source, address.owner))) return previous
      const { body, ...of } = await readDocument(source, address.owner, kind, { url, id, requested })
      return createRenderedPage({ ...of, headers: headersOf(kind) }, body)
    })
    if (asOf !== null) return sendStalePage(c, value, asOf)
    rememberAddress(c, cache, address, key)
    return sendPage(c, value)
  }

  async function answerImage(
    c: Context,
    address: PageAddress | null,
    kind: ImageSubject['kind'] | null,
  ): Promise<Response> {
    if (address === null) throw new NotFound('Status page not found.')
    const subject = kind === null ? null : { kind, id: c.req.param('id') ?? '' }
    const requested = languageOfTag(c.req.query('language'))
    const key = JSON.stringify([address.owner, 'image', subject, requested])
    const { value, asOf } = await cache.pages.getOrStale(key, async (previous) => {
      const { image, ...of } = await readOpenGraphImage(source, address.owner, subject, requested)
      if (previous?.stateVersion === of.stateVersion) return previous
      const picture = await pngRenderer.render(openGraphImageSvg(image), of.organizationId)
      return createRenderedPage({ ...of, headers: headersOf(png) }, picture)
    })
    return asOf === null ? sendPage(c, value) : sendStalePage(c, value, asOf)
  }

  /** The content stays in memory while the log moves, as long as the page has the file. */
  async function answerFile(c: Context, address: PageAddress | null): Promise<Response> {
    if (address === null) throw new NotFound('Status page not found.')
    const id = c.req.param('id') ?? ''
    const { owner } = address
    const file = await cache.files.get(JSON.stringify([owner, id]), async (previous) =>
      readPublicFile(db, (await sharedState(source, owner)).scope, id, previous),
    )
    return sendFile(c, { ...file, isShown: isPicture(file) }, publicCacheControl, {
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
    })
  }

  const routes = new Hono()
  addPageRoute(routes, options, '/files/:id', answerFile)
  for (const [path, kind] of pictures)
    addPageRoute(routes, options, path, (c, address) => answerImage(c, address, kind))
  for (const kind of documentKinds) addPageRoute(routes, options, kind.path, (c, address) => answer(c, address, kind))
  // Browsers send a preflight request for scripts that set custom headers.
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

/** The paths of images, and what each is of; null: the page. */
const pictures = [
  ['/picture.png', null],
  ['/incidents/:id/picture.png', 'incident'],
  ['/maintenance/:id/picture.png', 'maintenance'],
] as const

/** A page changes the addresses of its images whenever it changes. */
const png = { type: 'image/png', maxAge: 300 } as const

/** Any site may embed and read a document; an image that is opened as a page cannot run scripts. */
function headersOf({ type, maxAge }: Pick<DocumentKind, 'type' | 'maxAge'>): Readonly<Record<string, string>> {
  return {
    'content-type': type,
    'cache-control': maxAge === 0 ? publicCacheControl : `public, max-age=${maxAge}`,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'etag',
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
  }
}
