import type { PrismaClient } from '../generated/prisma/client.ts'
import type { PageState } from '../status/page-state.ts'
import { readPageState } from '../status/page-state.ts'
import type { IncidentStory, MaintenanceStory } from '../status/story.ts'
import { readIncidentStories, readMaintenanceStories } from '../status/story.ts'
import { bounds } from './bounds.ts'
import type { HistoryState } from './history.ts'
import { hasOlder, readHistory, readIncident } from './history.ts'
import type { ServicePast } from './past.ts'
import { readServicePasts } from './past.ts'
import type { Month } from './zone.ts'
import { zoneOf } from './zone.ts'

/** Which of an owner's pages is asked for. */
export type Asked =
  | { readonly page: 'overview' }
  /** `before`: the id of an entry, before which the timeline goes on; null: it begins with the newest. */
  | { readonly page: 'incident'; readonly id: string; readonly before: string | null }
  /** `month` null: the present one. Pages are numbered from 1. */
  | { readonly page: 'history'; readonly month: Month | null; readonly number: number }

/** What a page is about, beside the state that every page of an owner shows a part of. */
export type Subject =
  | {
      readonly page: 'overview'
      /** The pasts of those services that are monitored, by their ids. */
      readonly pasts: ReadonlyMap<string, ServicePast>
      readonly openIncidents: readonly IncidentStory[]
      readonly pastIncidents: readonly IncidentStory[]
      readonly maintenances: readonly MaintenanceStory[]
    }
  | { readonly page: 'incident'; readonly incident: IncidentStory; readonly hasOlder: boolean }
  | { readonly page: 'history'; readonly history: HistoryState }

/**
 * Reads a page of the organization with this id or slug, in one snapshot, so that it agrees with its cursor.
 * @throws NotFound when there is no such organization, incident, month or page of a month.
 */
export function readPage(
  db: PrismaClient,
  owner: string,
  asked: Asked,
  now: Date,
): Promise<{ readonly state: PageState; readonly subject: Subject }> {
  return db.$transaction(
    async (snapshot) => {
      const state = await readPageState(snapshot, owner, now)
      const { id, timeZone } = state.organization
      switch (asked.page) {
        case 'overview': {
          const { open, past, maintenances } = bounds.overview
          const stories = {
            openIncidents: await readIncidentStories(snapshot, state.incidents, open),
            pastIncidents: await readIncidentStories(snapshot, state.recentIncidents, past),
            maintenances: await readMaintenanceStories(snapshot, state.maintenances, maintenances),
          }
          const pasts = await readServicePasts(snapshot, id, now)
          return { state, subject: { page: asked.page, pasts, ...stories } }
        }
        case 'incident': {
          const incident = await readIncident(snapshot, id, asked.id, asked.before)
          return { state, subject: { page: asked.page, incident, hasOlder: await hasOlder(snapshot, incident) } }
        }
        case 'history': {
          const history = await readHistory(snapshot, id, asked, { now, zone: zoneOf(timeZone) })
          return { state, subject: { page: asked.page, history } }
        }
      }
    },
    { isolationLevel: 'RepeatableRead' },
  )
}
