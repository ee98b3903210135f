import type { Context } from 'hono'
import { Hono } from 'hono'
import { isLogoAddress } from '../../account/page-settings.ts'
import { NotFound } from '../../core/errors.ts'
import { root } from '../../core/paths.ts'
import type { Clock } from '../../core/time.ts'
import { decodeCursor } from '../../event-log/event.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { publicCacheControl } from '../../http/cache-control.ts'
import { errorPage } from '../../http/error-page.tsx'
import type { Site } from '../../http/layout.tsx'
import { pageHeaders } from '../../http/layout.tsx'
import type { PageState } from '../../status/page-state.ts'
import { RECENT_DAYS } from '../../status/page-state.ts'
import type { IncidentWithTimeline } from '../../status/timeline-reader.ts'
import { themeStylesheet } from '../colour.ts'
import type { PageCache, RenderedPage } from '../page-cache.ts'
import type { PageContent, PageData, PageRequest } from '../read-page.ts'
import { readPage } from '../read-page.ts'
import { barView, hasInlineHistories, serviceHistoryViews } from '../service-history.ts'
import type { StateSource } from '../shared-state.ts'
import { versionOf } from '../shared-state.ts'
import { parseMonth, zoneOf } from '../time-format.ts'
import { historyItemView, incidentView, maintenanceView } from '../view.ts'
import { History } from './history.tsx'
import { IncidentPage } from './incident.tsx'
import { Overview } from './overview.tsx'
import type { PageAddress } from './page-address.ts'
import { addPageRoute } from './page-address.ts'
import type { PageContext } from './page-layout.tsx'
import { createLivePage, sendChanges, sendPage, sendStalePage } from './page-response.tsx'
import { ServicePage } from './service.tsx'
import { renderServices } from './service-item.tsx'

/** The script that keeps an open status page up to date; bundled as `live.js`. */
export const liveScript = new URL('src/status-page/browser/live.ts', root)

/** The style sheet of status pages; minified as `status.css`. */
export const statusStylesheet = new URL('src/status-page/status.css', root)

/**
 * Creates the routes of the pages under `/status/{slug}` and at the root of an owner's custom domain. A rendered page is
 * cached until its owner's event log moves, at most one minute: an unchanged page costs no query.
 */
export function statusPages(options: {
  readonly site: Site
  readonly db: PrismaClient
  readonly cache: PageCache
  readonly now: Clock
}): Hono {
  const { site, cache } = options

  async function answer(c: Context, address: PageAddress | null, request: PageRequest | null): Promise<Response> {
    if (address === null || request === null) return errorPage(c, site, { status: 404 })
    try {
      const key = JSON.stringify([address.owner, address.origin, request])
      const { value, asOf } = await cache.pages.getOrStale(key, (previous) =>
        render(options, address, request, previous),
      )
      if (asOf !== null) return sendStalePage(c, value, asOf)
      const { since: version, at = '0' } = c.req.query()
      if (version === undefined || value.live === null) return sendPage(c, value)
      const minimum = decodeCursor(at) ?? Number.POSITIVE_INFINITY
      return await sendChanges(c, cache, { ...value, live: value.live }, { version, minimum })
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
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

/**
 * Reads and renders a page, or returns the previous one (null: none) if it shows the same state.
 * @throws NotFound when there is no such page.
 */
async function render(
  { site, ...source }: StateSource & { readonly site: Site; readonly cache: PageCache },
  address: PageAddress,
  request: PageRequest,
  previous: RenderedPage | null,
): Promise<RenderedPage> {
  const parts = await readPage(source, address.owner, request)
  const stateVersion = versionOfPage(parts)
  if (previous?.stateVersion === stateVersion) return previous
  const { state, content } = parts
  const { links, logoUrl, timeZone, ...settings } = state.organization
  const owner = { ...settings, links, logoUrl: logoUrl !== null && isLogoAddress(logoUrl) ? logoUrl : null }
  const zone = zoneOf(timeZone)
  const context = { ...address, owner, assets: site.assets, homeUrl: site.baseUrl, zone, cursor: state.cursor }
  const html = `<!DOCTYPE html>${await renderContent(state, content, context)}`
  const seq = decodeCursor(state.cursor) ?? 0
  const page = { organizationId: state.organization.id, stateVersion, seq, html }
  const headers = { ...headersOf(address.origin, owner.logoUrl), 'last-modified': state.readAt.toUTCString() }
  return createLivePage(source.cache, page, headers)
}

function versionOfPage({ state, content }: PageData): string {
  const version = versionOf(state)
  return content.page === 'overview' ? `${version} ${content.histories.readAt.getTime()}` : version
}

async function renderContent(state: PageState, content: PageContent, context: PageContext) {
  const names = new Map(state.services.map(({ id, name }) => [id, name]))
  const viewOf = (incident: IncidentWithTimeline) => incidentView(incident, names)
  switch (content.page) {
    case 'overview': {
      const { histories, readAt } = content.histories
      return (
        <Overview
          {...state}
          context={context}
          items={await renderServices(state.services, histories, hasInlineHistories(state), context)}
          hasBars={histories.size > 0}
          readAt={readAt}
          openIncidents={state.incidents.map(viewOf)}
          maintenances={state.maintenances.map((maintenance) => maintenanceView(maintenance, names))}
          pastIncidents={state.recentIncidents.map(viewOf)}
          hasMorePast={state.hasMoreRecent}
          pastDays={RECENT_DAYS}
        />
      )
    }
    case 'incident':
      return <IncidentPage context={context} incident={viewOf(content.incident)} hasOlder={content.hasOlder} />
    case 'service': {
      const service = state.services.find(({ id }) => id === content.id)
      if (service === undefined) throw new NotFound('Service not found.')
      const { id, name } = service
      const views = content.history && (await serviceHistoryViews(new Map([[id, content.history]]), context.zone))
      const history = content.history && { id, name, bar: barView(content.history), history: views?.get(id) ?? null }
      return <ServicePage context={context} service={service} history={history} readAt={state.readAt} />
    }
    case 'history': {
      const items = content.history.items.map((item) => historyItemView(item, names))
      return <History {...content.history} context={context} items={items} />
    }
  }
}

/** The logo is the only external resource. */
function headersOf(origin: string, logoUrl: string | null): Readonly<Record<string, string>> {
  const images = logoUrl === null ? "'self'" : `'self' ${new URL(logoUrl).origin}`
  return {
    ...pageHeaders,
    'cache-control': publicCacheControl,
    'content-security-policy': pageHeaders['content-security-policy']
      .replace("img-src 'self'", `img-src ${images}`)
      // Older browsers do not count a WebSocket as the page's own origin.
      .replace("connect-src 'self'", `connect-src 'self' ${origin.replace(/^http/, 'ws')}`),
  }
}
