import type { Clock } from '../core/time.ts'
import { decodeCursor } from '../event-log/event.ts'
import { MAX_AGE_MS } from '../event-log/log-cache.ts'
import { readNewestEvents } from '../event-log/newest-events.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { RangeName } from '../monitoring/uptime/uptime-range.ts'
import { DEFAULT_RANGE, daysWithin } from '../monitoring/uptime/uptime-range.ts'
import type { IncidentHistory } from '../status/incident/incident-effect-reader.ts'
import { pagePosition } from '../status/page/page-position.ts'
import type { PageState } from '../status/page/page-state.ts'
import { readPageState } from '../status/page/page-state.ts'
import type { PageCache, SharedHistories } from './page-cache.ts'
import type { Measured, ServiceHistories } from './service-history.ts'
import { joinHistories, readMeasured } from './service-history.ts'
import { incidentHistorySince } from './service-range.ts'

/** The source of shared states. */
export interface StateSource {
  readonly db: PrismaClient
  readonly cache: Pick<PageCache, 'states' | 'histories'>
  readonly now: Clock
}

/**
 * Returns the state of the page with this id or slug. It is read once per change of the page: after any other event,
 * one statement finds that it is still current.
 * @throws NotFound when the organization does not exist.
 */
export async function sharedState(source: StateSource, owner: string): Promise<PageState> {
  const { db, cache, now } = source
  const { state } = await cache.states.get(owner, async (previous) => {
    if (previous !== null && isYoung(previous.state, now()) && (await isCurrent(db, previous.state))) return previous
    const state = await readPageState(db, owner, now(), previous?.state)
    return { organizationId: state.organization.id, state }
  })
  return state
}

/**
 * Returns the histories of the services of a page in a range. Measured data are read again when an event has changed
 * them or after a minute, incidents after any change of the page. Ranges of fewer days are cut from the default one.
 */
export async function sharedHistories(
  source: StateSource,
  state: PageState,
  range: RangeName = DEFAULT_RANGE,
): Promise<SharedHistories> {
  const count = daysWithin(range)
  if (count === null) return readShared(source, state, range)
  const histories = await readShared(source, state, DEFAULT_RANGE)
  return { ...histories, ...lastDays(histories, count) }
}

/** Cuts histories of days to the last ones. */
function lastDays({ histories, ...of }: ServiceHistories, count: number): ServiceHistories {
  const cut = Array.from(histories, ([id, history]) => {
    const imported = history.imported?.slice(-count)
    return [id, { ...history, days: history.days.slice(-count), ...(imported && { imported }) }] as const
  })
  return { ...of, histories: new Map(cut) }
}

function readShared({ db, cache, now }: StateSource, state: PageState, range: RangeName): Promise<SharedHistories> {
  const { id: organizationId, pageId } = state.organization
  const { position } = state
  const key = range === DEFAULT_RANGE ? pageId : `${pageId} ${range}`
  return cache.histories.get(key, async (previous) => {
    const at = now()
    const isKept = previous !== null && previous.position.days === position.days && isYoung(previous.measured, at)
    if (isKept && previous.position.page === position.page) return previous
    const measured = isKept ? previous.measured : await readMeasured(db, state, state.services, at, range)
    const incidentHistory =
      range === DEFAULT_RANGE ? state.incidentHistory : await incidentHistoryInRange(db, state, measured, at)
    return {
      organizationId,
      position,
      ...(await joinHistories(db, state, state.services, measured, { previous, incidentHistory })),
    }
  })
}

function incidentHistoryInRange(
  db: PrismaClient,
  state: PageState,
  { spans }: Measured,
  now: Date,
): Promise<IncidentHistory> {
  const ids = state.services.map(({ id }) => id)
  return incidentHistorySince(db, state, ids, spans[0]?.from ?? now, now)
}

/** The maximum number of attempts to read a document of a page that changes meanwhile. */
const MAX_ATTEMPTS = 3

/**
 * Reads data that belong to a page's state, as of the same position: reads both again if the page has changed
 * meanwhile. Instead of a transaction, one statement at the end proves that it has not.
 * @throws NotFound when the organization does not exist; and the errors of `read`.
 */
export async function readWithState<T>(
  source: StateSource,
  owner: string,
  read: (state: PageState) => Promise<T>,
): Promise<{ readonly state: PageState; readonly value: T }> {
  for (let attempt = 1; ; attempt++) {
    const state = await sharedState(source, owner)
    const value = await read(state)
    if (attempt === MAX_ATTEMPTS || (await isCurrent(source.db, state))) return { state, value }
    // The notification of the change may not have arrived yet.
    source.cache.states.invalidate(state.organization.id)
  }
}

/** Identifies a state among all states of the page. */
export function versionOf({ cursor, readAt }: PageState): string {
  return `${cursor} ${readAt.getTime()}`
}

/** Returns the newest position of the log for which a state is known to be current: not every event changes it. */
export function reachedBy(state: PageState): number {
  return reached.get(state) ?? decodeCursor(state.cursor) ?? 0
}

const reached = new WeakMap<PageState, number>()

async function isCurrent(db: PrismaClient, state: PageState): Promise<boolean> {
  const newest = await readNewestEvents(db, state.organization.id)
  if (pagePosition(newest).page !== state.position.page) return false
  reached.set(
    state,
    newest.reduce((last, [, seq]) => Math.max(last, seq), reachedBy(state)),
  )
  return true
}

const isYoung = ({ readAt }: { readonly readAt: Date }, now: Date) => now.getTime() - readAt.getTime() < MAX_AGE_MS
