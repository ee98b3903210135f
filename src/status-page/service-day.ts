import type { Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { dayIn, startOfDay } from '../core/time-zone.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type { UptimeSource } from '../generated/prisma/enums.ts'
import type { ImportedDay } from '../monitoring/uptime/imported-history.ts'
import { readImportedDays, sumImported } from '../monitoring/uptime/imported-history.ts'
import { declaredOf, touchedParts } from '../monitoring/uptime/service-stretches.ts'
import { saidOf } from '../monitoring/uptime/service-uptime.ts'
import type { Condition, Span, Stretch, Tally } from '../monitoring/uptime/uptime.ts'
import { sumOf, tally } from '../monitoring/uptime/uptime.ts'
import { historyStart, readDays } from '../monitoring/uptime/uptime-days.ts'
import type { IncidentHistory, ServiceIncident } from '../status/incident/incident-effect-reader.ts'
import { worstEffect } from '../status/incident/incident-effects.ts'
import type { PageState, ServiceState } from '../status/page/page-state.ts'
import type { ImpairedStatus } from '../status/service/service-status.ts'
import { maintenanceServices, maintenances } from '../status/views.ts'
import { sourceOf } from './service-history.ts'
import { incidentHistorySince, readStretches } from './service-range.ts'

/** The calendar days in an address: one day, or a week. */
export interface DayRequest {
  /** The first, as midnight UTC. */
  readonly day: Date
  readonly days: 1 | 7
}

/** A time with a problem or without data, within the requested days. */
export interface DayStretch extends Span {
  readonly condition: Exclude<Condition, 'up'>
  /** Whether it began before the days, and whether it continues. */
  readonly isCutAtStart: boolean
  readonly isOngoing: boolean
}

/** An incident of the days, with the time in which it concerned the service. */
export interface IncidentOfDay extends Pick<ServiceIncident, 'id' | 'title' | 'titles' | 'begunAt' | 'endedAt'> {
  /** The worst status that it gave the service within the days; null: it did not impair the service. */
  readonly status: ImpairedStatus | null
}

/** A maintenance of the days. */
interface MaintenanceOfDay {
  readonly id: string
  readonly title: string
  readonly titles: Prisma.JsonValue
  readonly startedAt: Date
  /** Null: it is running. */
  readonly endedAt: Date | null
}

/** A service's day or week. */
export interface ServiceDay extends Span {
  readonly days: 1 | 7
  readonly source: UptimeSource
  readonly tally: Tally
  /** The figures of another tool, which are not included elsewhere; null: none. */
  readonly imported: ImportedDay | null
  /** Oldest first; the first `MAX_ITEMS` of each. */
  readonly stretches: readonly DayStretch[]
  readonly incidents: readonly IncidentOfDay[]
  readonly maintenances: readonly MaintenanceOfDay[]
  /** The number of further stretches, incidents and maintenances. */
  readonly more: number
  /** The first day before and after, as midnight UTC; null: outside the history. */
  readonly earlier: Date | null
  readonly later: Date | null
}

/** The maximum number of stretches, incidents and maintenances of a day in each list. */
const MAX_ITEMS = 50

/** Parses a day such as `2026-11-20` and a number of days; null: invalid. */
export function parseDay(day: string, days = '1'): DayRequest | null {
  if (!/^2\d{3}-\d\d-\d\d$/.test(day) || (days !== '1' && days !== '7')) return null
  const parsed = new Date(`${day}T00:00:00Z`)
  // `2026-02-30` counts as 2 March.
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== day) return null
  return { day: parsed, days: days === '7' ? 7 : 1 }
}

/**
 * Reads a service's day or week, in the page's time zone, up to now. Runs at most eight statements.
 * @throws NotFound for a time in the future, or before the history of the tier.
 */
export async function readServiceDay(
  db: Database,
  state: PageState,
  service: ServiceState,
  { day, days }: DayRequest,
  now: Date,
): Promise<ServiceDay> {
  const { organization, tier } = state
  const { id: organizationId, timeZone } = organization
  const [first, today] = [dayIn(timeZone, historyStart({ timeZone, tier }, now)), dayIn(timeZone, now)]
  const last = new Date(Math.min(day.getTime() + (days - 1) * DAY, today.getTime()))
  if (day > today || last < first) throw new NotFound('The page does not show this day.')
  const begin = new Date(Math.max(+day, +first))
  const end = startOfDay(timeZone, new Date(last.getTime() + DAY))
  const span = { from: startOfDay(timeZone, begin), to: end < now ? end : now }
  const incidentHistory = await incidentHistorySince(db, state, [service.id], span.from, now)
  // Reading starts a moment earlier, to include what had begun then.
  const before = new Date(span.from.getTime() - 1)
  const found = await readStretches(db, state, service, { from: before, to: span.to }, incidentHistory, now)
  const stretches = stretchesOf(found, span, now)
  const incidents = incidentsOf(incidentHistory.incidents.get(service.id) ?? [], span)
  const maintenances = await readMaintenances(db, organizationId, service.id, span)
  const lists = [stretches, incidents, maintenances]
  const neighbours = { earlier: new Date(+day - days * DAY), later: new Date(+day + days * DAY) }
  return {
    ...span,
    days,
    source: sourceOf(state, service),
    tally: await readTally(db, state, service, { begin, last, span, today, incidentHistory }, found, now),
    imported: sumImported([
      ...((await readImportedDays(db, [service.id], begin, last)).get(service.id)?.values() ?? []),
    ]),
    stretches: stretches.slice(0, MAX_ITEMS),
    incidents: incidents.slice(0, MAX_ITEMS),
    maintenances: maintenances.slice(0, MAX_ITEMS),
    more: lists.reduce((sum, { length }) => sum + Math.max(0, length - MAX_ITEMS), 0),
    earlier: +neighbours.earlier + (days - 1) * DAY < +first ? null : neighbours.earlier,
    later: neighbours.later > today ? null : neighbours.later,
  }
}

interface Days {
  readonly begin: Date
  readonly last: Date
  readonly span: Span
  readonly today: Date
  readonly incidentHistory: IncidentHistory
}

/** Returns the same figures as the bar, which come from closed days except where something was declared. */
async function readTally(
  db: Database,
  state: PageState,
  service: ServiceState,
  { begin, last, span, today, incidentHistory }: Days,
  found: readonly Stretch[],
  now: Date,
): Promise<Tally> {
  const source = sourceOf(state, service)
  if (source === 'INCIDENTS') return tally(found, span)
  const { organization, tier } = state
  const count = (today.getTime() - begin.getTime()) / DAY + 1
  const days = await readDays(db, { timeZone: organization.timeZone, tier }, [service.id], count, now)
  const own = (days.get(service.id) ?? []).filter(({ day }) => day >= begin && day <= last)
  const declared = declaredOf(saidOf({ ...service, source }, incidentHistory), now)
  return sumOf(own.map((day) => (touchedParts([day], declared).length === 0 ? day.tally : tally(found, day))))
}

/**
 * Returns the stretches worth listing, which begin a moment before a span: all except operational time and short gaps.
 */
export function stretchesOf(found: readonly Stretch[], span: Span, now: Date): DayStretch[] {
  return found.flatMap(({ from, to, condition }): DayStretch[] => {
    if (condition === 'up' || to <= span.from) return []
    const begin = new Date(Math.max(+from, +span.from))
    if (condition === 'unknown' && to.getTime() - begin.getTime() < MINUTE) return []
    const isOngoing = to.getTime() === now.getTime()
    return [{ condition, from: begin, to, isCutAtStart: from < span.from, isOngoing }]
  })
}

/** Returns the incidents that concerned the service within a span, oldest first. */
export function incidentsOf(incidents: readonly ServiceIncident[], span: Span): IncidentOfDay[] {
  return incidents
    .filter(({ begunAt, endedAt }) => begunAt < span.to && (endedAt === null || endedAt > span.from))
    .map(({ id, title, titles, begunAt, endedAt, effects }) => ({
      ...{ id, title, ...(titles && { titles }), begunAt, endedAt, status: worstEffect(effects, span) },
    }))
    .reverse()
}

/**
 * Reads the maintenances that ran within a span, oldest first: one more than the page lists, so that it knows whether
 * there are more.
 */
function readMaintenances(
  db: Database,
  organizationId: string,
  serviceId: string,
  { from, to }: Span,
): Promise<MaintenanceOfDay[]> {
  return db.$queryRaw<MaintenanceOfDay[]>`
    SELECT m.id, m.title, m.titles, m."startedAt", m."endedAt"
    FROM ${maintenanceServices} AS s JOIN ${maintenances} AS m ON m.id = s."maintenanceId"
    WHERE s."serviceId" = ${serviceId} AND m."organizationId" = ${organizationId}
      AND m."startedAt" < ${to} AND (m."endedAt" IS NULL OR m."endedAt" > ${from})
    ORDER BY m."startedAt", m.id LIMIT ${MAX_ITEMS + 1}`
}
