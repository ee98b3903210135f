import type { Database } from '../core/context.ts'
import { MINUTE } from '../core/time.ts'
import { yieldAfterTimeSlice } from '../core/time-slice.ts'
import type { LatencyPoint } from '../monitoring/latency.ts'
import { readLatencies } from '../monitoring/latency.ts'
import type { Tally } from '../monitoring/uptime.ts'
import { coveragePercent, sumOf, uptimePercent } from '../monitoring/uptime.ts'
import type { DayUptime } from '../monitoring/uptime-days.ts'
import { readDays } from '../monitoring/uptime-days.ts'
import type { PageState } from '../status/page-state.ts'
import { bounds } from './bounds.ts'
import type { Zone } from './time-format.ts'
import { formatDuration } from './time-format.ts'

/** The uptime, response times and incidents of a monitored service. */
export interface ServiceHistory {
  /** The last day is today, up to now. */
  readonly days: readonly DayUptime[]
  /** Hourly response times of the last 24 hours; empty when none were measured. */
  readonly latencies: readonly LatencyPoint[]
  /** Incidents that affected the service within these days, newest first. */
  readonly incidents: readonly HistoryIncident[]
}

interface HistoryIncident {
  readonly id: string
  readonly title: string
  readonly startedAt: Date
  readonly resolvedAt: Date | null
}

/** Days that the page shows of a service; the tier may allow fewer. */
const MAX_DAYS = 90
/** Incidents of all services together that the days mention. */
const MAX_INCIDENTS = 500

/** The histories of services, as of one time. */
export interface ServiceHistories {
  /** Today's figures end here. */
  readonly readAt: Date
  /** The number of days of all histories together. */
  readonly days: number
  /** By service id. */
  readonly histories: ReadonlyMap<string, ServiceHistory>
}

/** Monitored services up to which the overview contains what happened on each day; above, it links to a page per service. */
const MAX_INLINE = 20

const monitoredIds = ({ services }: PageState) => services.flatMap(({ id, monitored }) => (monitored ? [id] : []))

/** Returns whether the overview contains what happened on each day of each service. */
export function hasInlineHistories(state: PageState): boolean {
  return monitoredIds(state).length <= MAX_INLINE
}

/**
 * Reads what the overview shows of the histories of all monitored services. Runs three statements for any number of services,
 * and two more when it contains what happened on each day.
 */
export async function readServiceHistories(db: Database, state: PageState, now: Date): Promise<ServiceHistories> {
  const ids = monitoredIds(state)
  const histories = await (hasInlineHistories(state) ? readWhole(db, state, ids, now) : readBars(db, state, ids, now))
  const days = [...histories.values()].reduce((sum, history) => sum + history.days.length, 0)
  return { readAt: now, days, histories }
}

/** Reads the whole history of a service; null: it has no monitors. Runs five statements. */
export async function readServiceHistory(
  db: Database,
  state: PageState,
  id: string,
  now: Date,
): Promise<ServiceHistory | null> {
  if (!monitoredIds(state).includes(id)) return null
  return (await readWhole(db, state, [id], now)).get(id) ?? null
}

async function readBars(db: Database, { organization: { timeZone }, tier }: PageState, ids: string[], now: Date) {
  if (ids.length === 0) return new Map<string, ServiceHistory>()
  const days = await readDays(db, { timeZone, tier }, ids, MAX_DAYS, now)
  return new Map(ids.map((id): [string, ServiceHistory] => [id, { days: days.get(id) ?? [], ...noDetails }]))
}

const noDetails = { latencies: [], incidents: [] } as const

async function readWhole(db: Database, state: PageState, ids: string[], now: Date) {
  const bars = await readBars(db, state, ids, now)
  const since = bars.values().next().value?.days[0]?.from
  if (since === undefined) return bars
  const { organization, tier } = state
  const last24Hours = { range: 'HOURS_24', resolution: 'HOUR' } as const
  const latencies = await readLatencies(db, { timeZone: organization.timeZone, tier }, ids, last24Hours, now)
  const incidents = await readIncidents(db, organization.id, ids, since)
  return new Map(
    [...bars].map(([id, { days }]): [string, ServiceHistory] => {
      const points = latencies.get(id) ?? []
      const measured = points.some(({ count }) => count > 0) ? points : []
      return [id, { days, latencies: measured, incidents: incidents.get(id) ?? [] }]
    }),
  )
}

/** Reads the newest incidents of services that were not resolved before a time, by service id, newest first. */
async function readIncidents(db: Database, organizationId: string, serviceIds: readonly string[], since: Date) {
  const rows = await db.$queryRaw<(HistoryIncident & { readonly serviceId: string })[]>`
    SELECT link."serviceId", incident.id, incident.title, incident."startedAt", incident."resolvedAt"
    FROM (
      SELECT id, title, "startedAt", "resolvedAt" FROM "Incident"
      WHERE "organizationId" = ${organizationId} AND ("resolvedAt" IS NULL OR "resolvedAt" > ${since})
    ) AS incident JOIN "IncidentService" AS link ON link."incidentId" = incident.id
    WHERE link."serviceId" = ANY (${[...serviceIds]}::text[])
    ORDER BY incident."startedAt" DESC, incident.id DESC LIMIT ${MAX_INCIDENTS}`
  const incidents = new Map<string, HistoryIncident[]>()
  for (const { serviceId, ...incident } of rows) {
    const list = incidents.get(serviceId)
    if (list) list.push(incident)
    else incidents.set(serviceId, [incident])
  }
  return incidents
}

/** The mark of a day: its worst state. `maintenance` marks a day without outages, `none` a day without data. */
export type DayMark = 'up' | 'degraded' | 'down' | 'maintenance' | 'none'

/** A day as the page shows it. */
export interface DayView {
  /** `2026-11-20`. */
  readonly key: string
  /** `Friday, 20 November 2026`. */
  readonly name: string
  readonly mark: DayMark
  /** Outages, maintenance and gaps, such as `down for 12 min`. Empty for a day without any. */
  readonly notes: readonly string[]
  /** The newest, newest first. */
  readonly incidents: readonly HistoryIncident[]
  /** How many more there are. */
  readonly moreIncidents: number
}

/** The bar of a service as the page shows it. */
export interface BarView {
  /** One per day, oldest first. */
  readonly marks: readonly DayMark[]
  /** Uptime over all days, `99.982% uptime`, or `No data`. */
  readonly uptime: string
}

/** The history of a service as the page shows it. */
export interface ServiceHistoryView extends BarView {
  readonly days: readonly DayView[]
  /** The newest days with notes or incidents, newest first. */
  readonly eventful: readonly DayView[]
  /** Whether older days have notes or incidents too. */
  readonly hasOlder: boolean
  /** A sentence with the downtime and the monitored time behind `uptime`. */
  readonly summary: string
  readonly latencies: readonly LatencyPoint[]
}

/**
 * Formats histories in the page's time zone, by service id. Yields the event loop between services: the histories of a large
 * organization take longer than a time slice.
 */
export async function serviceHistoryViews(
  pasts: ReadonlyMap<string, ServiceHistory>,
  zone: Zone,
): Promise<Map<string, ServiceHistoryView>> {
  const names = new Map<number, Pick<DayView, 'key' | 'name'>>()
  // All services share the same days, and formatting day names is the most expensive part.
  const nameOf = (from: Date) => {
    const cached = names.get(from.getTime())
    const name = cached ?? { key: zone.dayKey(from), name: zone.day(from) }
    if (!cached) names.set(from.getTime(), name)
    return name
  }
  const { days, daysPerService } = bounds.eventful
  const most = Math.max(daysPerService, Math.floor(days / pasts.size))
  const owner = {}
  const views = new Map<string, ServiceHistoryView>()
  for (const [id, past] of pasts) {
    await yieldAfterTimeSlice(owner)
    views.set(id, serviceHistoryView(past, nameOf, most))
  }
  return views
}

/** Formats the bar of a history. */
export function barView({ days }: Pick<ServiceHistory, 'days'>): BarView {
  const total = sumOf(days.map(({ tally }) => tally))
  const percent = uptimePercent(total)
  const uptime = percent === null ? 'No data' : `${percent}% uptime${coverageNote(total)}`
  return { marks: days.map(({ tally }) => dayMark(tally)), uptime }
}

function serviceHistoryView(
  { days, latencies, incidents }: ServiceHistory,
  nameOf: (from: Date) => Pick<DayView, 'key' | 'name'>,
  most: number,
): ServiceHistoryView {
  const total = sumOf(days.map(({ tally }) => tally))
  const views = days.map(({ from, to, tally }): DayView => {
    const open = incidents.filter(({ startedAt, resolvedAt }) => startedAt < to && (!resolvedAt || resolvedAt > from))
    const shown = open.slice(0, bounds.eventful.incidents)
    const more = { incidents: shown, moreIncidents: open.length - shown.length }
    return { ...nameOf(from), mark: dayMark(tally), notes: dayNotes(tally), ...more }
  })
  const eventful = views.filter((day) => day.notes.length > 0 || day.incidents.length > 0).toReversed()
  return {
    ...barView({ days }),
    days: views,
    eventful: eventful.slice(0, most),
    hasOlder: eventful.length > most,
    summary: historySummary(total),
    latencies,
  }
}

/** Coverage in percent below which the uptime names the time that it is based on. */
const FULL_COVERAGE_PERCENT = 95

function coverageNote(total: Tally): string {
  const coverage = coveragePercent(total)
  return coverage === null || coverage >= FULL_COVERAGE_PERCENT
    ? ''
    : ` in ${formatDuration(monitoredTime(total))} of data`
}

const monitoredTime = ({ up, degraded, down }: Tally) => up + degraded + down

function dayMark({ up, degraded, down, maintenance }: Tally): DayMark {
  if (down > 0) return 'down'
  if (degraded > 0) return 'degraded'
  if (maintenance > 0) return 'maintenance'
  return up > 0 ? 'up' : 'none'
}

function dayNotes({ up, degraded, down, unknown, maintenance }: Tally): string[] {
  const hasNoData = up + degraded + down + maintenance === 0
  return [
    down > 0 && `down for ${formatDuration(down)}`,
    degraded > 0 && `degraded for ${formatDuration(degraded)}`,
    maintenance > 0 && `maintenance for ${formatDuration(maintenance)}`,
    unknown >= MINUTE && !hasNoData && `no data for ${formatDuration(unknown)}`,
  ].filter((words) => words !== false)
}

function historySummary(total: Tally): string {
  const { degraded, down, unknown, maintenance } = total
  const monitored = monitoredTime(total)
  if (monitored === 0) return 'No data for this time.'
  const impaired = [
    down > 0 ? `Down ${formatDuration(down)}` : 'No outages',
    degraded > 0 && `degraded ${formatDuration(degraded)}`,
  ]
  const excluded = [
    unknown >= MINUTE && `${formatDuration(unknown)} without data`,
    maintenance > 0 && `${formatDuration(maintenance)} of maintenance`,
  ]
  const list = (words: readonly (string | false)[]) => words.filter(Boolean).join(' and ')
  const sentence = `${list(impaired)} in ${formatDuration(monitored)} monitored.`
  return excluded.some(Boolean) ? `${sentence} Not counted: ${list(excluded)}.` : sentence
}
