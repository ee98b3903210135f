import type { PrismaClient } from '../generated/prisma/client.ts'
import type { IncidentState, PageState } from '../status/page-state.ts'
import { readPageState } from '../status/page-state.ts'
import type { HistoryState } from './history.ts'
import { readHistory, readIncident } from './history.ts'
import type { ServicePast } from './past.ts'
import { readServicePasts } from './past.ts'
import type { Month } from './zone.ts'
import { zoneOf } from './zone.ts'

/** Which of an owner's pages is asked for. */
export type Asked =
  | { readonly page: 'overview' }
  | { readonly page: 'incident'; readonly id: string }
  /** `month` null: the present one. Pages are numbered from 1. */
  | { readonly page: 'history'; readonly month: Month | null; readonly number: number }

/** What a page is about, beside the state that every page of an owner shows a part of. */
export type Subject =
  /** The pasts of those services that are monitored, by their ids. */
  | { readonly page: 'overview'; readonly pasts: ReadonlyMap<string, ServicePast> }
  | { readonly page: 'incident'; readonly incident: IncidentState }
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
        case 'overview':
          return { state, subject: { page: asked.page, pasts: await readServicePasts(snapshot, id, now) } }
        case 'incident':
          return { state, subject: { page: asked.page, incident: await readIncident(snapshot, id, asked.id) } }
        case 'history': {
          const history = await readHistory(snapshot, id, asked, { now, zone: zoneOf(timeZone) })
          return { state, subject: { page: asked.page, history } }
        }
      }
    },
    { isolationLevel: 'RepeatableRead' },
  )
}
