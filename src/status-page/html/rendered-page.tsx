import { isUploaded, shownLogo } from '../../account/logo.ts'
import { NotFound } from '../../core/errors.ts'
import { decodeCursor } from '../../event-log/event.ts'
import { publicCacheControl } from '../../http/cache-control.ts'
import type { Site } from '../../http/layout.tsx'
import { pageHeaders } from '../../http/layout.tsx'
import type { PageState } from '../../status/page-state.ts'
import { RECENT_DAYS } from '../../status/page-state.ts'
import type { IncidentWithTimeline } from '../../status/timeline-reader.ts'
import type { PageCache, PagePatch, RenderedPage } from '../page-cache.ts'
import type { PageContent, PageData, PageRequest } from '../read-page.ts'
import { readPage } from '../read-page.ts'
import type { ServiceHistory } from '../service-history.ts'
import { barView, groupBar, serviceHistoryViews } from '../service-history.ts'
import type { StateSource } from '../shared-state.ts'
import { reachedBy, sharedHistories, sharedState, versionOf } from '../shared-state.ts'
import { zoneOf } from '../time-format.ts'
import { historyItemView, incidentView, maintenanceView } from '../view.ts'
import { History } from './history.tsx'
import { IncidentPage } from './incident.tsx'
import { Overview } from './overview.tsx'
import type { PageAddress } from './page-address.ts'
import { pageAddressOf } from './page-address.ts'
import type { Owner, PageContext } from './page-layout.tsx'
import { followedPage, noteShown, patchOf } from './page-patch.ts'
import { createLivePage } from './page-response.tsx'
import { ServicePage } from './service.tsx'
import { renderServices } from './service-item.tsx'

/** Where rendered pages come from. */
export interface PageSource extends StateSource {
  readonly site: Site
  readonly cache: PageCache
}

/** Names one page at one address. */
export function pageKey({ owner, origin }: PageAddress, request: PageRequest): string {
  return JSON.stringify([owner, origin, request])
}

const overview: PageRequest = { page: 'overview' }

/** Prepares patches for the overview at an address. @throws NotFound when there is no such page. */
export async function followOverview(source: PageSource, address: PageAddress): Promise<void> {
  const followed = followedPage(source.cache, pageKey(address, overview))
  const { live } = await readRendered(source, address, overview)
  if (live !== null) noteShown(followed, live.parts)
}

/** Returns the patch that an event brings to the overview at an address. Null: none, see `patchOf`. */
export function overviewPatch(
  source: PageSource,
  address: PageAddress,
  { seq, organizationId }: { readonly seq: number; readonly organizationId: string },
): Promise<PagePatch | null> {
  return patchOf(followedPage(source.cache, pageKey(address, overview)), seq, async () => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      const page = await readRendered(source, address, overview).catch(nullIfNotFound)
      if (page === null || page.live === null || page.organizationId !== organizationId) return null
      if (page.live.seq >= seq) return { ...page, live: page.live }
      // The notification of the event has not arrived yet.
      source.cache.invalidate(organizationId)
    }
    return null
  })
}

function readRendered(source: PageSource, address: PageAddress, request: PageRequest): Promise<RenderedPage> {
  return source.cache.pages.get(pageKey(address, request), (previous) => renderPage(source, address, request, previous))
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof NotFound) return null
  throw error
}

/**
 * Reads and renders a page, or returns the previous one (null: none) if it shows the same state.
 * @throws NotFound when there is no such page.
 */
export async function renderPage(
  { site, ...source }: PageSource,
  address: PageAddress,
  request: PageRequest,
  previous: RenderedPage | null,
): Promise<RenderedPage> {
  const parts = await readPage(source, address.owner, request)
  const stateVersion = versionOfPage(parts)
  const { state, content } = parts
  const reached = reachedBy(state)
  if (previous?.stateVersion === stateVersion) {
    if (previous.live !== null) previous.live.reached = Math.max(previous.live.reached, reached)
    return previous
  }
  const { links, logoUrl, timeZone, ...settings } = state.organization
  const owner = { ...settings, links, logoUrl: shownLogo(logoUrl) }
  const zone = zoneOf(timeZone)
  const context = { ...address, owner, assets: site.assets, homeUrl: site.baseUrl, zone, cursor: state.cursor }
  const html = `<!DOCTYPE html>${await renderContent(state, content, context)}`
  const seq = decodeCursor(state.cursor) ?? 0
  const page = {
    organizationId: state.organization.id,
    stateVersion,
    seq,
    reached,
    html,
    key: pageKey(address, request),
  }
  const headers = { ...headersOf(address.origin, owner.logoUrl), 'last-modified': state.readAt.toUTCString() }
  return createLivePage(source.cache, page, headers)
}

/** Settings of a page that are not saved. */
export type PageDraft = Partial<
  Pick<Owner, 'name' | 'description' | 'accentColor' | 'logoUrl' | 'links'> & { readonly timeZone: string }
>

/** What a draft shows of each list: enough to see what the page looks like. */
const DRAFT_SERVICES = 6
const DRAFT_ITEMS = 2

/**
 * Renders the beginning of the overview as it would be with unsaved settings. It has no script, and its links do nothing.
 * @throws NotFound when there is no such page.
 */
export async function renderDraft({ site, ...source }: PageSource, slug: string, draft: PageDraft): Promise<string> {
  const state = await sharedState(source, slug)
  const histories = await sharedHistories(source, state)
  const { timeZone, logoUrl, ...settings } = { ...state.organization, ...draft }
  const context = {
    ...pageAddressOf(slug, { site }),
    owner: { ...settings, logoUrl: draft.logoUrl === undefined ? shownLogo(logoUrl) : logoUrl },
    assets: site.assets,
    homeUrl: site.baseUrl,
    zone: zoneOf(timeZone),
    cursor: state.cursor,
    isDraft: true,
  }
  return `<!DOCTYPE html>${await renderContent(beginningOf(state), { page: 'overview', histories }, context)}`
}

function beginningOf(state: PageState): PageState {
  return {
    ...state,
    services: state.services.slice(0, DRAFT_SERVICES),
    incidents: state.incidents.slice(0, DRAFT_ITEMS),
    maintenances: state.maintenances.slice(0, DRAFT_ITEMS),
    recentIncidents: state.recentIncidents.slice(0, DRAFT_ITEMS),
  }
}

function versionOfPage({ state, content }: PageData): string {
  const version = versionOf(state)
  return content.page === 'overview' ? `${version} ${content.histories.measured.readAt.getTime()}` : version
}

function groupBarsOf({ groups, services }: PageState, histories: ReadonlyMap<string, ServiceHistory>) {
  return new Map(
    groups.map(({ id }) => {
      const own = services.filter(({ groupId }) => groupId === id).flatMap((service) => histories.get(service.id) ?? [])
      return [id, groupBar(own)] as const
    }),
  )
}

async function renderContent(state: PageState, content: PageContent, context: PageContext) {
  const names = new Map(state.services.map(({ id, name }) => [id, name]))
  const viewOf = (incident: IncidentWithTimeline) => incidentView(incident, names)
  switch (content.page) {
    case 'overview': {
      const { histories, measured } = content.histories
      return (
        <Overview
          {...state}
          context={context}
          items={await renderServices(state.services, histories, context)}
          groupBars={groupBarsOf(state, histories)}
          hasBars={histories.size > 0}
          readAt={measured.readAt}
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
      const views = await serviceHistoryViews(new Map([[id, content.history]]), context.zone)
      const history = { id, name, bar: barView(content.history), history: views.get(id) ?? null }
      return <ServicePage context={context} service={service} history={history} readAt={state.readAt} />
    }
    case 'history': {
      const items = content.history.items.map((item) => historyItemView(item, names))
      return <History {...content.history} context={context} items={items} />
    }
  }
}

/** The logo may be an external resource, the only one. */
function headersOf(origin: string, logoUrl: string | null): Readonly<Record<string, string>> {
  const images = logoUrl === null || isUploaded(logoUrl) ? "'self'" : `'self' ${new URL(logoUrl).origin}`
  return {
    ...pageHeaders,
    'cache-control': publicCacheControl,
    'content-security-policy': pageHeaders['content-security-policy']
      .replace("img-src 'self'", `img-src ${images}`)
      // Older browsers do not count a WebSocket as the page's own origin.
      .replace("connect-src 'self'", `connect-src 'self' ${origin.replace(/^http/, 'ws')}`),
  }
}
