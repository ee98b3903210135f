import { tierLimits } from '../account/plan.ts'
import type { Database } from '../core/context.ts'
import { DAY, HOUR } from '../core/time.ts'
import { dayIn, startOfDay } from '../core/time-zone.ts'
import type { LatencyPoint } from '../monitoring/latency.ts'
import { readLatencies } from '../monitoring/latency.ts'
import { reportedStretches } from '../monitoring/service-uptime.ts'
import type { Span } from '../monitoring/uptime.ts'
import { stretches, sumOf, tallies } from '../monitoring/uptime.ts'
import type { DayUptime } from '../monitoring/uptime-days.ts'
import { daySpans, readDays } from '../monitoring/uptime-days.ts'
import { readHistories, readMaintenance } from '../monitoring/uptime-history.ts'
import type { IncidentPast } from '../status/incident-effect-reader.ts'
import { readIncidentPast } from '../status/incident-effect-reader.ts'
import type { PageState, ServiceState } from '../status/page-state.ts'
import type { ServiceHistory } from './service-history.ts'
import { reportedDaysOf, sourceOf } from './service-history.ts'

/** The ranges of a service's bar: days, how many of them a bar covers (0: an hour), and what response times are shown. */
const ranges = {
  '24h': { days: 1, perBar: 0, latency: { range: 'HOURS_24', resolution: 'HOUR' } },
  '7d': { days: 7, perBar: 1, latency: { range: 'DAYS_7', resolution: 'HOUR' } },
  '30d': { days: 30, perBar: 1, latency: { range: 'DAYS_30', resolution: 'DAY' } },
  '90d': { days: 90, perBar: 1, latency: { range: 'DAYS_90', resolution: 'DAY' } },
  year: { days: 365, perBar: 7, latency: { range: 'DAYS_90', resolution: 'DAY' } },
} as const

export type RangeName = keyof typeof ranges
/** What a bar stands for. */
export type BarUnit = 'hour' | 'day' | 'week'

export const rangeNames = Object.keys(ranges) as readonly RangeName[]
/** What a page shows unless it is asked for another range. */
export const DEFAULT_RANGE = '90d' satisfies RangeName

/** The history of a service in a range. */
export interface ServiceRange extends ServiceHistory {
  /** Response times; empty when none were measured. */
  readonly latencies: readonly LatencyPoint[]
}

/** Returns what a bar of a range stands for. */
export function unitOf(range: RangeName): BarUnit {
  const { perBar } = ranges[range]
  return perBar === 0 ? 'hour' : perBar === 1 ? 'day' : 'week'
}

/** Returns the ranges that a tier shows: the shortest that has its whole history, and all shorter ones. */
export function rangesOf(tier: PageState['tier']): readonly RangeName[] {
  const { historyDays } = tierLimits[tier]
  const longest = rangeNames.findIndex((name) => ranges[name].days >= historyDays)
  return longest === -1 ? rangeNames : rangeNames.slice(0, longest + 1)
}

/** Splits the last 24 hours at each full hour of a time zone: 25 spans, or 24 at a full hour. */
export function hourSpans(timeZone: string, now: Date): Span[] {
  const first = now.getTime() - DAY
  // Days begin at full hours, which are not those of UTC everywhere.
  const phase = startOfDay(timeZone, dayIn(timeZone, now)).getTime() % HOUR
  const starts = [first]
  for (let at = Math.floor((first - phase) / HOUR + 1) * HOUR + phase; at < now.getTime(); at += HOUR) starts.push(at)
  return starts.map((from, index) => ({ from: new Date(from), to: new Date(starts[index + 1] ?? now.getTime()) }))
}

/** Sums days up to bars of `count` days. The last one ends with the last day; the first may have fewer. */
export function inBars(days: readonly DayUptime[], count: number): DayUptime[] {
  const bars: DayUptime[] = []
  for (let end = days.length; end > 0; end -= count) {
    const of = days.slice(Math.max(0, end - count), end)
    const [first, last] = [of[0], of.at(-1)]
    if (first && last) bars.unshift({ ...first, to: last.to, tally: sumOf(of.map(({ tally }) => tally)) })
  }
  return bars
}

/** Reads the history of a service in a range, cut to what its tier shows. Runs at most six statements. */
export async function readServiceRange(
  db: Database,
  state: PageState,
  service: ServiceState,
  range: RangeName,
  now: Date,
): Promise<ServiceRange> {
  const { organization, tier } = state
  const zone = { timeZone: organization.timeZone, tier }
  const { days: count, perBar, latency } = ranges[range]
  const spans = daySpans(zone, count, now)
  const first = perBar === 0 ? new Date(now.getTime() - DAY) : (spans[0]?.from ?? now)
  const past = await readPast(db, state, service.id, first, now)
  const incidents = (past.incidents.get(service.id) ?? []).filter(
    ({ resolvedAt }) => resolvedAt === null || resolvedAt > first,
  )
  const source = sourceOf(state, service)
  const points = service.monitored
    ? ((await readLatencies(db, zone, [service.id], latency, now)).get(service.id) ?? [])
    : []
  const latencies = points.some(({ count }) => count > 0) ? points : []
  if (perBar === 0) {
    const hours = hourSpans(zone.timeZone, now)
    const of = tallies(await readStretches(db, state, service, { from: first, to: now }, past, now), hours)
    const days = hours.flatMap((span, index): DayUptime[] => {
      const tally = of[index]
      return tally ? [{ ...span, day: dayIn(zone.timeZone, span.from), tally }] : []
    })
    return { source, days, latencies, incidents }
  }
  const days =
    source === 'MONITORS'
      ? ((await readDays(db, zone, [service.id], count, now)).get(service.id) ?? [])
      : reportedDaysOf(service, past, (await readMaintenance(db, [service.id], first, now)).get(service.id), spans)
  return { source, days: inBars(days, perBar), latencies, incidents }
}

/** Returns what incidents said of a service since a time; the state of the page has the newest. */
export function readPast(db: Database, state: PageState, id: string, since: Date, now: Date): Promise<IncidentPast> {
  const { incidentPast } = state
  const isKnown = since >= incidentPast.completeSince
  return isKnown ? Promise.resolve(incidentPast) : readIncidentPast(db, state.organization.id, [id], since, now)
}

/** Reads the stretches of a service in a span, by its monitors or by its incidents. Runs at most two statements. */
export async function readStretches(
  db: Database,
  state: PageState,
  service: ServiceState,
  span: Span,
  past: IncidentPast,
  now: Date,
) {
  if (sourceOf(state, service) === 'MONITORS') {
    const histories = await readHistories(db, [{ id: service.id, since: span.from }], now)
    const { monitors, maintenance } = histories.get(service.id) ?? { monitors: [], maintenance: [] }
    return stretches(monitors, maintenance, span)
  }
  const maintenance = (await readMaintenance(db, [service.id], span.from, now)).get(service.id) ?? []
  const knownSince = new Date(Math.max(+service.createdAt, +past.completeSince))
  return reportedStretches({ incidents: past.incidents.get(service.id) ?? [], maintenance, knownSince }, span)
}
