import { NotFound } from '../core/errors.ts'
import type { PageState } from '../status/page-state.ts'
import type { IncidentWithTimeline } from '../status/timeline-reader.ts'
import type { HistoryState } from './history.ts'
import { hasOlderUpdates, readHistory, readIncidentPage } from './history.ts'
import type { ServiceHistories, ServiceHistory } from './service-history.ts'
import { readServiceHistory } from './service-history.ts'
import type { StateSource } from './shared-state.ts'
import { readWithState, sharedHistories, sharedState } from './shared-state.ts'
import type { Month } from './time-format.ts'
import { zoneOf } from './time-format.ts'

/** A request for one of an owner's pages. */
export type PageRequest =
  | { readonly page: 'overview' }
  /** `before`: the id of the incident update whose predecessors are read; null: the newest updates. */
  | { readonly page: 'incident'; readonly id: string; readonly before: string | null }
  | { readonly page: 'service'; readonly id: string }
  /** `month` null: the current month. Pages are numbered from 1. */
  | { readonly page: 'history'; readonly month: Month | null; readonly number: number }

/** What one page shows in addition to the page state, which all pages of an owner share. */
export type PageContent =
  | { readonly page: 'overview'; readonly histories: ServiceHistories }
  | { readonly page: 'incident'; readonly incident: IncidentWithTimeline; readonly hasOlder: boolean }
  | { readonly page: 'service'; readonly id: string; readonly history: ServiceHistory }
  | { readonly page: 'history'; readonly history: HistoryState }

/** A page with everything that it shows. */
export interface PageData {
  readonly state: PageState
  readonly content: PageContent
}

/**
 * Returns what a page of the organization with this id or slug shows: the shared state, and what is on this page only.
 * @throws NotFound when the organization, incident, service, month or page of a month does not exist.
 */
export async function readPage(source: StateSource, owner: string, request: PageRequest): Promise<PageData> {
  if (request.page === 'overview') {
    const state = await sharedState(source, owner)
    return { state, content: { page: request.page, histories: await sharedHistories(source, state) } }
  }
  const { state, value } = await readWithState(source, owner, (state) => readContent(source, state, request))
  return { state, content: value }
}

async function readContent(
  { db, now }: StateSource,
  state: PageState,
  request: Exclude<PageRequest, { page: 'overview' }>,
): Promise<PageContent> {
  const { id, timeZone } = state.organization
  switch (request.page) {
    case 'incident': {
      const incident = await readIncidentPage(db, id, request.id, request.before)
      return { page: request.page, incident, hasOlder: await hasOlderUpdates(db, incident) }
    }
    case 'service': {
      const service = state.services.find(({ id }) => id === request.id)
      if (service === undefined) throw new NotFound('Service not found.')
      const history = await readServiceHistory(db, state, service, state.readAt)
      return { page: request.page, id: request.id, history }
    }
    case 'history':
      return {
        page: request.page,
        history: await readHistory(db, id, request, { now: now(), zone: zoneOf(timeZone) }),
      }
  }
}
