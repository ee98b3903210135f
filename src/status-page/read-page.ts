import { NotFound } from '../core/errors.ts'
import type { RangeName } from '../monitoring/uptime/uptime-range.ts'
import { shownRange } from '../monitoring/uptime/uptime-range.ts'
import type { PostmortemIn } from '../status/incident/postmortem.ts'
import { readPublished } from '../status/incident/postmortem.ts'
import type { PageState, ServiceState } from '../status/page/page-state.ts'
import type { Repetition } from '../status/page/page-state-query.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline } from '../status/timeline/timeline-reader.ts'
import type { HistoryState } from './history.ts'
import { hasOlderUpdates, readHistory, readIncidentPage, readMaintenancePage } from './history.ts'
import type { MonthlyReport } from './monthly-report.ts'
import { readPublishedMonths, readPublishedReport } from './published-report.ts'
import type { DayRequest, ServiceDay } from './service-day.ts'
import { readServiceDay } from './service-day.ts'
import type { ServiceHistories } from './service-history.ts'
import type { ServiceRange } from './service-range.ts'
import { readServiceRange } from './service-range.ts'
import type { StateSource } from './shared-state.ts'
import { readWithState, sharedHistories, sharedState } from './shared-state.ts'
import type { Month } from './time-format.ts'
import { zoneOf } from './time-format.ts'

/** A request for one of an owner's pages. */
export type PageRequest =
  | { readonly page: 'overview'; readonly range: RangeName }
  /** `before`: the id of the update whose predecessors are read; null: the newest updates. */
  | { readonly page: 'incident'; readonly id: string; readonly before: string | null }
  | { readonly page: 'maintenance'; readonly id: string; readonly before: string | null }
  | { readonly page: 'service'; readonly id: string; readonly range: RangeName }
  /** A service's day or week. */
  | { readonly page: 'day'; readonly id: string; readonly at: DayRequest }
  /** `month` null: the current month. Pages are numbered from 1. */
  | { readonly page: 'history'; readonly month: Month | null; readonly number: number }
  | { readonly page: 'reports' }
  /** `month` such as 2026-10. */
  | { readonly page: 'report'; readonly month: string }

/** The content of one page in addition to the page state, which all pages of an owner share. */
export type PageContent =
  | { readonly page: 'overview'; readonly range: RangeName; readonly histories: ServiceHistories }
  | {
      readonly page: 'incident'
      readonly incident: IncidentWithTimeline
      readonly hasOlder: boolean
      readonly postmortem: PostmortemIn | null
    }
  | {
      readonly page: 'maintenance'
      readonly maintenance: MaintenanceWithTimeline & { readonly repeats?: Repetition | null }
      readonly hasOlder: boolean
    }
  | { readonly page: 'service'; readonly id: string; readonly range: RangeName; readonly history: ServiceRange }
  | { readonly page: 'day'; readonly id: string; readonly happened: ServiceDay }
  | { readonly page: 'history'; readonly history: HistoryState }
  | { readonly page: 'reports'; readonly months: readonly string[] }
  | { readonly page: 'report'; readonly report: MonthlyReport }

/** A page with all its content. */
export interface PageData {
  readonly state: PageState
  readonly content: PageContent
}

/**
 * Returns the content of a page of the organization with this id or slug: the shared state, and what only this page
 * needs.
 * @throws NotFound when the organization, incident, service, month or page of a month does not exist.
 */
export async function readPage(source: StateSource, owner: string, request: PageRequest): Promise<PageData> {
  if (request.page === 'overview') {
    const state = await sharedState(source, owner)
    const range = rangeIn(state, request.range)
    return { state, content: { page: request.page, range, histories: await sharedHistories(source, state, range) } }
  }
  const { state, value } = await readWithState(source, owner, (state) => readContent(source, state, request))
  return { state, content: value }
}

async function readContent(
  { db, now }: StateSource,
  state: PageState,
  request: Exclude<PageRequest, { page: 'overview' }>,
): Promise<PageContent> {
  const { scope } = state
  switch (request.page) {
    case 'incident': {
      const incident = await readIncidentPage(db, scope, request.id, request.before)
      const postmortem = request.before === null ? await readPublished(db, incident.id) : null
      return { page: request.page, incident, hasOlder: await hasOlderUpdates(db, 'Incident', incident), postmortem }
    }
    case 'maintenance': {
      const maintenance = await readMaintenancePage(db, scope, request.id, request.before)
      const { repeats = null } = state.maintenances.find(({ id }) => id === request.id) ?? {}
      const hasOlder = await hasOlderUpdates(db, 'Maintenance', maintenance)
      return { page: request.page, maintenance: { ...maintenance, repeats }, hasOlder }
    }
    case 'service': {
      const service = serviceIn(state, request.id)
      const range = rangeIn(state, request.range)
      const history = await readServiceRange(db, state, service, range, state.readAt)
      return { page: request.page, id: request.id, range, history }
    }
    case 'day': {
      const happened = await readServiceDay(db, state, serviceIn(state, request.id), request.at, state.readAt)
      return { page: request.page, id: request.id, happened }
    }
    case 'reports':
      return { page: request.page, months: await readPublishedMonths(db, state) }
    case 'report':
      return { page: request.page, report: await readPublishedReport(db, state, request.month) }
    case 'history':
      return {
        page: request.page,
        history: await readHistory(db, scope, request, {
          now: now(),
          zone: zoneOf(state.organization.timeZone),
        }),
      }
  }
}

function rangeIn({ tier }: PageState, requested: RangeName): RangeName {
  const range = shownRange(tier, requested)
  if (range === null) throw new NotFound('The page does not show this range.')
  return range
}

/** @throws NotFound when the page does not show the service. */
export function serviceIn({ services }: PageState, id: string): ServiceState {
  const service = services.find((each) => each.id === id)
  if (service === undefined) throw new NotFound('Service not found.')
  return service
}
