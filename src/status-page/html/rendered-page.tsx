import { shownLogo } from '../../account/page/logo.ts'
import type { PageLookup } from '../../account/page/page-guard.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import { NotFound } from '../../core/errors.ts'
import { decodeCursor } from '../../event-log/event.ts'
import type { Site } from '../../http/page/layout.tsx'
import { pageHeaders } from '../../http/page/layout.tsx'
import { logoPolicy } from '../../http/page/owner-frame.tsx'
import { publicCacheControl } from '../../http/response/cache-control.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { offeredLanguages } from '../../language/choice.ts'
import { DEFAULT_RANGE, rangesOf, shownRange } from '../../monitoring/uptime/uptime-range.ts'
import type { PageState } from '../../status/page/page-state.ts'
import { impactsOf, RECENT_DAYS } from '../../status/page/page-state.ts'
import { pageStatus } from '../../status/service/shown-status.ts'
import type { IncidentWithTimeline } from '../../status/timeline/timeline-reader.ts'
import type { PageAddress } from '../page-address.ts'
import { pageAddressOf } from '../page-address.ts'
import type { PageCache, PagePatch, RenderedPage } from '../page-cache.ts'
import type { PageContent, PageData, PageRequest } from '../read-page.ts'
import { readPage, serviceIn } from '../read-page.ts'
import { groupBars, joinHistories, readMeasured, serviceHistoryViews } from '../service-history.ts'
import type { StateSource } from '../shared-state.ts'
import { reachedBy, sharedState, versionOf } from '../shared-state.ts'
import { zoneOf } from '../time-format.ts'
import { daysWithoutIncident, historyItemView, incidentView, maintenanceView } from '../view.ts'
import { History } from './history.tsx'
import { IncidentPage } from './incident.tsx'
import { createLivePage } from './live-page.ts'
import { MaintenancePage } from './maintenance.tsx'
import { Overview } from './overview.tsx'
import { ownersAttributes } from './owners-text.tsx'
import type { Owner, PageContext } from './page-layout.tsx'
import { followedPage, noteShown, patchOf } from './page-patch.ts'
import { barNames } from './range-bar.tsx'
import { ReportList, ReportPage } from './report.tsx'
import { ServicePage } from './service.tsx'
import { DayPage } from './service-day.tsx'
import { renderServices } from './service-item.tsx'

/** The source of rendered pages. */
export interface PageSource extends StateSource {
  readonly site: Site
  readonly guard: PageLookup
  readonly cache: PageCache
}

/** Identifies a page at one address. */
export function pageKey({ owner, origin, language }: PageAddress, request: PageRequest): string {
  return JSON.stringify([owner, origin, language, request])
}

const overview: PageRequest = { page: 'overview', range: DEFAULT_RANGE }

/**
 * Prepares patches for the overview at an address.
 * @throws NotFound when the page does not exist.
 */
export async function followOverview(source: PageSource, address: PageAddress): Promise<void> {
  const followed = followedPage(source.cache, pageKey(address, overview))
  const { live } = await readRendered(source, address, overview)
  if (live !== null) noteShown(followed, live.parts)
}

/** Returns the patch of an event for the overview at an address. Null: none, see `patchOf`. */
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
 * @throws NotFound when the page does not exist.
 */
export async function renderPage(
  { site, ...source }: PageSource,
  address: PageAddress,
  request: PageRequest,
  previous: RenderedPage | null,
): Promise<RenderedPage> {
  // A reader may subscribe only after the event that made the open page stale.
  if (previous?.live) noteShown(source.cache.followed.peek(pageKey(address, request)), previous.live.parts)
  const parts = await readPage(source, address.owner, request)
  const stateVersion = versionOfPage(parts)
  const { state, content } = parts
  const reached = reachedBy(state)
  if (previous?.stateVersion === stateVersion) {
    if (previous.live !== null) previous.live.reached = Math.max(previous.live.reached, reached)
    return previous
  }
  const { links, logoUrl, timeZone, languages, defaultLanguage, ...settings } = state.organization
  const { offered, byDefault } = offeredLanguages(languages, defaultLanguage)
  const language = address.language ?? byDefault
  if (!offered.includes(language)) throw new NotFound('This page does not offer this language.')
  const owner = { ...settings, links, logoUrl: shownLogo(logoUrl) }
  const words = wordsOf(language)
  const zone = zoneOf(timeZone, words)
  const context = {
    ...address,
    ...{ owner, assets: site.assets, homeUrl: site.baseUrl, zone, words, offered, cursor: state.cursor },
    shownIn: language,
    ownersText: language === byDefault ? ownersAttributes.byDefault : ownersAttributes.otherwise,
  }
  const rendered = await renderContent(state, content, context)
  // Joining the parts of a large page takes most of a time slice.
  await yieldAfterTimeSlice(context)
  const html = `<!DOCTYPE html>${rendered}`
  const seq = decodeCursor(state.cursor) ?? 0
  const page = {
    organizationId: state.organization.id,
    language,
    offered: address.language === null && offered.length > 1 ? { offered, byDefault } : null,
    stateVersion,
    seq,
    reached,
    html,
    key: pageKey(address, request),
  }
  const headers = { ...headersOf(address.origin, owner.logoUrl), 'last-modified': state.readAt.toUTCString() }
  return createLivePage(source.cache, page, headers)
}

/** Unsaved settings of a page. */
export type PageDraft = Partial<
  Pick<Owner, 'name' | 'description' | 'accentColor' | 'logoUrl' | 'links'> & {
    readonly timeZone: string
    /** The services that it shows, in this order; null: all. */
    readonly serviceIds: readonly string[] | null
  }
>

/** The items per list in a draft: enough to judge the look of the page. */
const DRAFT_SERVICES = 6
const DRAFT_ITEMS = 2

/**
 * Renders the beginning of the overview with unsaved settings. It has no script, and its links do nothing.
 * @throws NotFound when the page does not exist.
 */
export async function renderDraft(
  { site, ...source }: PageSource,
  slug: string,
  { serviceIds, ...draft }: PageDraft,
): Promise<string> {
  const saved = await sharedState(source, slug)
  const shown = serviceIds === undefined ? saved : await withServices(source, saved, serviceIds)
  const state = beginningOf(shown)
  const { position, services } = state
  const measured = await readMeasured(source.db, state, services, source.now())
  const joined = await joinHistories(source.db, state, services, measured)
  const histories = { organizationId: state.organization.id, position, ...joined }
  const { byDefault } = offeredLanguages(state.organization.languages, state.organization.defaultLanguage)
  const words = wordsOf(byDefault)
  const { timeZone, logoUrl, ...settings } = { ...state.organization, ...draft }
  const context = {
    ...pageAddressOf(slug, { site }),
    owner: { ...settings, logoUrl: draft.logoUrl === undefined ? shownLogo(logoUrl) : logoUrl },
    assets: site.assets,
    homeUrl: site.baseUrl,
    zone: zoneOf(timeZone, words),
    words,
    offered: [],
    shownIn: byDefault,
    ownersText: ownersAttributes.byDefault,
    cursor: state.cursor,
    isDraft: true,
  }
  return `<!DOCTYPE html>${await renderContent(state, { page: 'overview', range: DEFAULT_RANGE, histories }, context)}`
}

/** Returns the state of a page with other services, in this order; null: all. */
async function withServices(
  source: StateSource,
  { organization }: PageState,
  serviceIds: readonly string[] | null,
): Promise<PageState> {
  const whole = { ...(await sharedState(source, organization.id)), organization }
  if (serviceIds === null) return whole
  const services = serviceIds.flatMap((id, position) =>
    whole.services.filter((service) => service.id === id).map((service) => ({ ...service, position })),
  )
  const isShown = (of: Pick<IncidentWithTimeline, 'services' | 'serviceCount'>) =>
    of.serviceCount === 0 || of.services.some(({ serviceId }) => serviceIds.includes(serviceId))
  const incidents = whole.incidents.filter(isShown)
  return {
    ...whole,
    services,
    groups: whole.groups.filter(({ id }) => services.some(({ groupId }) => groupId === id)),
    status: pageStatus(services, impactsOf(incidents)),
    incidents,
    maintenances: whole.maintenances.filter(isShown),
    recentIncidents: whole.recentIncidents.filter(isShown),
  }
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

async function renderContent(state: PageState, content: PageContent, context: PageContext) {
  const names = new Map(state.services.map(({ id, name }) => [id, name]))
  const viewOf = (incident: IncidentWithTimeline) => incidentView(incident, names, context.shownIn)
  switch (content.page) {
    case 'overview': {
      const { range } = content
      const isDefault = range === shownRange(state.tier, DEFAULT_RANGE)
      const { histories, measured } = content.histories
      return (
        <Overview
          {...state}
          {...{ context, range, ranges: rangesOf(state.tier), spans: measured.spans }}
          items={await renderServices(state.services, histories, isDefault ? DEFAULT_RANGE : range, context)}
          groupBars={await groupBars(state, histories, context.words)}
          hasBars={histories.size > 0}
          hasImported={measured.imported.size > 0}
          readAt={measured.readAt}
          openIncidents={state.incidents.map(viewOf)}
          maintenances={state.maintenances.map((maintenance) => maintenanceView(maintenance, names, context.shownIn))}
          pastIncidents={state.recentIncidents.map(viewOf)}
          daysWithoutIncident={daysWithoutIncident(state, measured.readAt)}
          hasMorePast={state.hasMoreRecent}
          pastDays={RECENT_DAYS}
        />
      )
    }
    case 'incident':
      return (
        <IncidentPage
          context={context}
          incident={viewOf(content.incident)}
          hasOlder={content.hasOlder}
          postmortem={content.postmortem?.(context.shownIn) ?? null}
        />
      )
    case 'maintenance':
      return (
        <MaintenancePage
          context={context}
          maintenance={maintenanceView(content.maintenance, names, context.shownIn)}
          hasOlder={content.hasOlder}
        />
      )
    case 'service': {
      const service = serviceIn(state, content.id)
      const { zone } = context
      const { range, history } = content
      const views = await serviceHistoryViews(new Map([[service.id, history]]), zone, {
        words: context.words,
        name: barNames(range, zone, context.words),
      })
      const view = views.get(service.id)
      if (view === undefined) throw new NotFound('Service not found.')
      const ranges = rangesOf(state.tier)
      return (
        <ServicePage
          {...{ context, service, range, ranges, latencies: history.latencies, readAt: state.readAt }}
          history={view}
        />
      )
    }
    case 'day':
      return (
        <DayPage
          context={context}
          service={serviceIn(state, content.id)}
          happened={content.happened}
          readAt={state.readAt}
        />
      )
    case 'reports':
      return <ReportList context={context} months={content.months} />
    case 'report':
      return <ReportPage context={context} report={content.report} />
    case 'history': {
      const items = content.history.items.map((item) => historyItemView(item, names, context.shownIn))
      return <History {...content.history} context={context} items={items} />
    }
  }
}

function headersOf(origin: string, logoUrl: string | null): Readonly<Record<string, string>> {
  return {
    ...pageHeaders,
    'cache-control': publicCacheControl,
    // Older browsers do not count a WebSocket as the page's own origin.
    'content-security-policy': logoPolicy(logoUrl)['content-security-policy'].replace(
      "connect-src 'self'",
      `connect-src 'self' ${origin.replace(/^http/, 'ws')}`,
    ),
  }
}
