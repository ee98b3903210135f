import type { Context } from 'hono'
import { Hono } from 'hono'
import { NotFound } from '../../core/errors.ts'
import { root } from '../../core/process/paths.ts'
import { decodeCursor } from '../../event-log/event.ts'
import { themeStylesheet } from '../../http/assets/theme.ts'
import { errorPage } from '../../http/page/error-page.tsx'
import { publicCacheControl } from '../../http/response/cache-control.ts'
import { preferredLanguage, segmentOf } from '../../language/choice.ts'
import type { RangeName } from '../../monitoring/uptime/uptime-range.ts'
import { DEFAULT_RANGE, rangeNames } from '../../monitoring/uptime/uptime-range.ts'
import { readJointIncident } from '../history.ts'
import { rememberAddress } from '../http/hot-answers.ts'
import { sendPage, sendStalePage } from '../http/page-response.tsx'
import { addPageRoute } from '../http/page-routes.ts'
import type { PageAddress } from '../page-address.ts'
import type { RenderedPage } from '../page-cache.ts'
import type { PageRequest } from '../read-page.ts'
import { parseDay } from '../service-day.ts'
import { sharedState } from '../shared-state.ts'
import { parseMonth } from '../time-format.ts'
import { findPage, pageNotFound } from './find-page.tsx'
import { sendChanges } from './live-page.ts'
import { respondMissing } from './missing-page.tsx'
import type { PageSource } from './rendered-page.tsx'
import { pageKey, renderPage } from './rendered-page.tsx'

/** The script that keeps an open status page up to date; bundled as `live.js`. */
export const liveScript = new URL('src/status-page/browser/live.ts', root)

/** The style sheet of status pages; minified as `status.css`. */
export const statusStylesheet = new URL('src/status-page/status.css', root)

/**
 * Creates the routes of the pages under `/status/{slug}` and at the root of an owner's custom domain. A rendered page
 * is cached until its owner's event log moves, at most one minute: an unchanged page costs no query.
 */
export function statusPages(options: PageSource): Hono {
  const { site, cache } = options

  async function answer(c: Context, address: PageAddress | null, request: PageRequest | null): Promise<Response> {
    if (address === null || request === null) return missing(c, address)
    try {
      const key = pageKey(address, request)
      const { value, asOf } = await cache.pages.getOrStale(key, (previous) =>
        renderPage(options, address, request, previous),
      )
      if (asOf !== null) return sendStalePage(c, value, asOf)
      const { since: version, at = '0' } = c.req.query()
      if (version === undefined) {
        rememberAddress(c, cache, address, key)
        return sendInLanguage(c, value, address)
      }
      if (value.live === null) return sendPage(c, value)
      const minimum = decodeCursor(at) ?? Number.POSITIVE_INFINITY
      return await sendChanges(c, cache, { ...value, live: value.live }, { version, minimum })
    } catch (error) {
      if (error instanceof NotFound) return notFound(c, address, request)
      throw error
    }
  }

  const missing = async (c: Context, address: PageAddress | null) =>
    (address && (await respondMissing(c, options, address))) ?? errorPage(c, site, { status: 404 })

  async function notFound(c: Context, address: PageAddress, request: PageRequest) {
    const { root, base, owner, language } = address
    // An open page requests its changes, and reloads when it is gone.
    const id = request.page === 'incident' && c.req.query('since') === undefined ? request.id : null
    const joint = id === null ? null : await jointIncident(address, id)
    if (joint !== null) return c.redirect(`${base}/incidents/${joint}`, 302)
    // The page may have offered this language earlier.
    if (language !== null) return c.redirect(root + pathAfter(c, base) || '/', 302)
    const isPage = request.page === 'overview' && request.range === DEFAULT_RANGE
    return isPage && base !== '' ? pageNotFound(c, site, owner) : missing(c, address)
  }

  /**
   * Returns the incident of the page that another one was merged into; null: it does not exist, or there is no such
   * page.
   */
  async function jointIncident({ owner }: PageAddress, id: string): Promise<string | null> {
    try {
      return await readJointIncident(options.db, (await sharedState(options, owner)).scope, id)
    } catch (error) {
      if (error instanceof NotFound) return null
      throw error
    }
  }

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
    addPageRoute(routes, options, path, (c, address) => answer(c, address, parse(c)), { inLanguages: true })
  }

  return routes
}

/** Sends a page, or redirects a reader who prefers another of its languages. */
function sendInLanguage(c: Context, page: RenderedPage, { root, base }: PageAddress): Response {
  const preferred = page.offered && preferredLanguage(c.req.header('accept-language'), page.offered)
  if (preferred === null || preferred === page.language) return sendPage(c, page)
  c.header('cache-control', publicCacheControl)
  c.header('vary', 'accept-language')
  return c.redirect(`${root}/${segmentOf(preferred)}${pathAfter(c, base)}`, 302)
}

/** Returns the path after a prefix, and the query, of a request. */
function pathAfter(c: Context, base: string): string {
  const { pathname, search } = new URL(c.req.url)
  return (pathname === '/' ? '' : pathname.slice(base.length)) + search
}

/** Returns the range in an address; null: unknown. */
function rangeIn(c: Context): RangeName | null {
  const requested = c.req.query('range') ?? DEFAULT_RANGE
  return rangeNames.find((each) => each === requested) ?? null
}

/** An owner's pages by path. `parse` returns null when the address is invalid. */
const pageRoutes: readonly { readonly path: string; parse(c: Context): PageRequest | null }[] = [
  {
    path: '',
    parse(c) {
      const range = rangeIn(c)
      return range && { page: 'overview', range }
    },
  },
  {
    path: '/incidents/:id',
    parse: (c) => ({ page: 'incident', id: c.req.param('id') ?? '', before: c.req.query('before') ?? null }),
  },
  {
    path: '/maintenance/:id',
    parse: (c) => ({ page: 'maintenance', id: c.req.param('id') ?? '', before: c.req.query('before') ?? null }),
  },
  {
    path: '/services/:id',
    parse(c) {
      const id = c.req.param('id') ?? ''
      const { day, days } = c.req.query()
      if (day !== undefined) {
        const at = parseDay(day, days)
        return at && { page: 'day', id, at }
      }
      const range = rangeIn(c)
      return range && { page: 'service', id, range }
    },
  },
  { path: '/reports', parse: () => ({ page: 'reports' }) },
  { path: '/reports/:month', parse: (c) => ({ page: 'report', month: c.req.param('month') ?? '' }) },
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
