import type { PrismaClient } from '../generated/prisma/client.ts'
import type { PageState } from '../status/page-state.ts'
import { readPageState } from '../status/page-state.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline } from '../status/timeline-reader.ts'
import { readIncidentTimelines, readMaintenanceTimelines } from '../status/timeline-reader.ts'
import { bounds } from './bounds.ts'
import type { HistoryState } from './history.ts'
import { hasOlderUpdates, readHistory, readIncidentPage } from './history.ts'
import type { ServiceHistory } from './service-history.ts'
import { readServiceHistories } from './service-history.ts'
import type { Month } from './time-format.ts'
import { zoneOf } from './time-format.ts'

/** A request for one of an owner's pages. */
export type PageRequest =
  | { readonly page: 'overview' }
  /** `before`: the id of the incident update whose predecessors are read; null: the newest updates. */
  | { readonly page: 'incident'; readonly id: string; readonly before: string | null }
  /** `month` null: the current month. Pages are numbered from 1. */
  | { readonly page: 'history'; readonly month: Month | null; readonly number: number }

/** What one page shows in addition to the page state, which all pages of an owner share. */
export type PageContent =
  | {
      readonly page: 'overview'
      /** The histories of monitored services, by service id. */
      readonly histories: ReadonlyMap<string, ServiceHistory>
      readonly openIncidents: readonly IncidentWithTimeline[]
      readonly pastIncidents: readonly IncidentWithTimeline[]
      readonly maintenances: readonly MaintenanceWithTimeline[]
    }
  | { readonly page: 'incident'; readonly incident: IncidentWithTimeline; readonly hasOlder: boolean }
  | { readonly page: 'history'; readonly history: HistoryState }

/**
 * Reads a page of the organization with this id or slug. One snapshot keeps the content consistent with the cursor.
 * @throws NotFound when the organization, incident, month or page of a month does not exist.
 */
export function readPage(
  db: PrismaClient,
  owner: string,
  request: PageRequest,
  now: Date,
): Promise<{ readonly state: PageState; readonly content: PageContent }> {
  return db.$transaction(
    async (snapshot) => {
      const state = await readPageState(snapshot, owner, now)
      const { id, timeZone } = state.organization
      switch (request.page) {
        case 'overview': {
          const { open, past, maintenances } = bounds.overview
          const timelines = {
            openIncidents: await readIncidentTimelines(snapshot, state.incidents, open),
            pastIncidents: await readIncidentTimelines(snapshot, state.recentIncidents, past),
            maintenances: await readMaintenanceTimelines(snapshot, state.maintenances, maintenances),
          }
          const histories = await readServiceHistories(snapshot, id, now)
          return { state, content: { page: request.page, histories: histories, ...timelines } }
        }
        case 'incident': {
          const incident = await readIncidentPage(snapshot, id, request.id, request.before)
          return {
            state,
            content: { page: request.page, incident, hasOlder: await hasOlderUpdates(snapshot, incident) },
          }
        }
        case 'history': {
          const history = await readHistory(snapshot, id, request, { now, zone: zoneOf(timeZone) })
          return { state, content: { page: request.page, history } }
        }
      }
    },
    { isolationLevel: 'RepeatableRead' },
  )
}
