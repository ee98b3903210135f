import type { Context } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import { root } from '../../core/paths.ts'
import { decodeCursor } from '../../event-log/event.ts'
import { errorPage } from '../../http/error-page.tsx'
import { themeStylesheet } from '../colour.ts'
import type { PageRequest } from '../read-page.ts'
import { parseMonth } from '../time-format.ts'
import { findPage, pageNotFound } from './find-page.tsx'
import type { PageAddress } from './page-address.ts'
import { addPageRoute } from './page-address.ts'
import { sendChanges, sendPage, sendStalePage } from './page-response.tsx'
import type { PageSource } from './rendered-page.tsx'
import { pageKey, renderPage } from './rendered-page.tsx'

/** The script that keeps an open status page up to date; bundled as `live.js`. */
export const liveScript = new URL('src/status-page/browser/live.ts', root)

/** The style sheet of status pages; minified as `status.css`. */
export const statusStylesheet = new URL('src/status-page/status.css', root)

/**
 * Creates the routes of the pages under `/status/{slug}` and at the root of an owner's custom domain. A rendered page is
 * cached until its owner's event log moves, at most one minute: an unchanged page costs no query.
 */
export function statusPages(options: PageSource): Hono {
  const { site, cache } = options

  async function answer(c: Context, address: PageAddress | null, request: PageRequest | null): Promise<Response> {
    if (address === null || request === null) return errorPage(c, site, { status: 404 })
    try {
      const { value, asOf } = await cache.pages.getOrStale(pageKey(address, request), (previous) =>
        renderPage(options, address, request, previous),
      )
      if (asOf !== null) return sendStalePage(c, value, asOf)
      const { since: version, at = '0' } = c.req.query()
      if (version === undefined || value.live === null) return sendPage(c, value)
      const minimum = decodeCursor(at) ?? Number.POSITIVE_INFINITY
      return await sendChanges(c, cache, { ...value, live: value.live }, { version, minimum })
    } catch (error) {
      if (error instanceof NotFound) return notFound(c, address, request)
      throw error
    }
  }

  const notFound = (c: Context, { base, owner }: PageAddress, { page }: PageRequest) =>
    page === 'overview' && base !== '' ? pageNotFound(c, site, owner) : errorPage(c, site, { status: 404 })

  const routes = new Hono()
  routes.get('/assets/:file{theme\\.[0-9a-f]{6}\\.css}', (c) =>
    c.body(themeStylesheet(`#${c.req.param('file').slice('theme.'.length, -'.css'.length)}`), 200, {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    }),
  )
  routes.get('/status', (c) => findPage(c, site, options.db))
  routes.get('/status/', (c) => c.redirect('/status', 308))
  routes.get('/status/:slug{[a-z0-9-]+}/', (c) => c.redirect(`/status/${c.req.param('slug')}`, 308))
  for (const { path, parse } of pageRoutes) {
    addPageRoute(routes, options, path, (c, address) => answer(c, address, parse(c)))
  }

  return routes
}

/** An owner's pages by path. `parse` returns null when the address is invalid. */
const pageRoutes: readonly { readonly path: string; parse(c: Context): PageRequest | null }[] = [
  { path: '', parse: () => ({ page: 'overview' }) },
  {
    path: '/incidents/:id',
    parse: (c) => ({ page: 'incident', id: c.req.param('id') ?? '', before: c.req.query('before') ?? null }),
  },
  { path: '/services/:id', parse: (c) => ({ page: 'service', id: c.req.param('id') ?? '' }) },
  {
    path: '/history',
    parse(c) {
      const { month, page = '1' } = c.req.query()
      const parsed = month === undefined ? null : parseMonth(month)
      if ((month !== undefined && parsed === null) || !/^[1-9]\d{0,3}$/.test(page)) return null
      return { page: 'history', month: parsed, number: Number(page) }
    },
  },
]
