import type { Context } from 'hono'
import { Hono } from 'hono'
import { isLogoAddress } from '../account/page-settings.ts'
import { NotFound } from '../errors.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import { errorPage } from '../http/error-page.tsx'
import type { Site } from '../http/layout.tsx'
import { pageHeaders } from '../http/layout.tsx'
import { root } from '../paths.ts'
import type { PageState } from '../status/page-state.ts'
import { RECENT_DAYS } from '../status/page-state.ts'
import type { IncidentStory } from '../status/story.ts'
import type { Clock } from '../time.ts'
import { themeSheet } from './colour.ts'
import type { Served } from './html/frame.tsx'
import { History } from './html/history.tsx'
import { IncidentPage } from './html/incident.tsx'
import { Overview } from './html/overview.tsx'
import type { Place } from './html/place.ts'
import { servePath } from './html/place.ts'
import { rendered, send, sendAsOf } from './html/send.tsx'
import type { PageCache, RenderedPage } from './page-cache.ts'
import { shownPasts } from './past.ts'
import type { Asked, Subject } from './read.ts'
import { readPage } from './read.ts'
import { shownHappening, shownIncident, shownMaintenance } from './view.ts'
import { parseMonth, zoneOf } from './zone.ts'

/** The script that keeps a status page true while it is open; bundled as `live.js`. */
export const liveScript = new URL('src/page/browser/live.ts', root)

/** What only status pages look like; minified as `status.css`. */
export const statusSheet = new URL('src/page/status.css', root)

/**
 * The pages under `/status/{slug}`, and the same at the root of an owner's own domain. A page is rendered once, and kept
 * until its owner's log moves or a minute has passed: while nothing changes, it costs no query.
 */
export function statusPages(options: {
  readonly site: Site
  readonly db: PrismaClient
  readonly cache: PageCache
  readonly now: Clock
}): Hono {
  const { site, db, cache, now } = options

  async function answer(c: Context, place: Place | null, asked: Asked | null): Promise<Response> {
    if (place === null || asked === null) return errorPage(c, site, { status: 404 })
    try {
      const key = JSON.stringify([place.owner, place.origin, asked])
      const { value, asOf } = await cache.pages.getOrLast(key, () => render({ site, db, now }, place, asked))
      return asOf === null ? send(c, value) : sendAsOf(c, value, asOf)
    } catch (error) {
      if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
      throw error
    }
  }

  const routes = new Hono()
  routes.get('/assets/:file{theme\\.[0-9a-f]{6}\\.css}', (c) =>
    c.body(themeSheet(`#${c.req.param('file').slice('theme.'.length, -'.css'.length)}`), 200, {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    }),
  )
  routes.get('/status/:slug{[a-z0-9-]+}/', (c) => c.redirect(`/status/${c.req.param('slug')}`, 308))
  for (const { path, asked } of askable) {
    servePath(routes, options, path, (c, place) => answer(c, place, asked(c)))
  }

  return routes
}

/** An owner's pages by their paths; null: the address is none of theirs. */
const askable: readonly { readonly path: string; asked(c: Context): Asked | null }[] = [
  { path: '', asked: () => ({ page: 'overview' }) },
  {
    path: '/incidents/:id',
    asked: (c) => ({ page: 'incident', id: c.req.param('id') ?? '', before: c.req.query('before') ?? null }),
  },
  {
    path: '/history',
    asked(c) {
      const { month, page = '1' } = c.req.query()
      const parsed = month === undefined ? null : parseMonth(month)
      if ((month !== undefined && parsed === null) || !/^[1-9]\d{0,3}$/.test(page)) return null
      return { page: 'history', month: parsed, number: Number(page) }
    },
  },
]

/** Reads a page and renders it. @throws NotFound when there is no such page. */
async function render(
  { site, db, now }: { readonly site: Site; readonly db: PrismaClient; readonly now: Clock },
  place: Place,
  asked: Asked,
): Promise<RenderedPage> {
  const readAt = now()
  const { state, subject } = await readPage(db, place.owner, asked, readAt)
  const { links, logoUrl, timeZone, ...settings } = state.organization
  const owner = { ...settings, links, logoUrl: logoUrl !== null && isLogoAddress(logoUrl) ? logoUrl : null }
  const zone = zoneOf(timeZone)
  const served = { ...place, owner, assets: site.assets, homeUrl: site.baseUrl, zone, cursor: state.cursor, readAt }
  const html = `<!DOCTYPE html>${contentOf(state, subject, served)}`
  return rendered(state.organization.id, html, headersOf(place.origin, owner.logoUrl))
}

function contentOf(state: PageState, subject: Subject, served: Served) {
  const names = new Map(state.services.map(({ id, name }) => [id, name]))
  const shown = (incident: IncidentStory) => shownIncident(incident, names)
  switch (subject.page) {
    case 'overview':
      return (
        <Overview
          {...state}
          served={served}
          pasts={shownPasts(subject.pasts, served.zone)}
          openIncidents={subject.openIncidents.map(shown)}
          maintenances={subject.maintenances.map((maintenance) => shownMaintenance(maintenance, names))}
          pastIncidents={subject.pastIncidents.map(shown)}
          pastDays={RECENT_DAYS}
        />
      )
    case 'incident':
      return <IncidentPage served={served} incident={shown(subject.incident)} hasOlder={subject.hasOlder} />
    case 'history': {
      const happenings = subject.history.happenings.map((happening) => shownHappening(happening, names))
      return <History {...subject.history} served={served} happenings={happenings} />
    }
  }
}

/** Anyone may keep a page, but must ask whether it is still true; the logo is the only thing that comes from elsewhere. */
function headersOf(origin: string, logoUrl: string | null): Readonly<Record<string, string>> {
  const images = logoUrl === null ? "'self'" : `'self' ${new URL(logoUrl).origin}`
  return {
    ...pageHeaders,
    'cache-control': 'no-cache',
    'content-security-policy': pageHeaders['content-security-policy']
      .replace("img-src 'self'", `img-src ${images}`)
      // For older browsers, to which a websocket is never the page's own origin.
      .replace("connect-src 'self'", `connect-src 'self' ${origin.replace(/^http/, 'ws')}`),
  }
}
