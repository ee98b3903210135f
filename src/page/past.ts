import type { Database } from '../context.ts'
import type { DayUptime } from '../monitoring/day.ts'
import { readDays } from '../monitoring/day.ts'
import type { LatencyPoint } from '../monitoring/latency.ts'
import { readLatencies } from '../monitoring/latency.ts'
import type { Tally } from '../monitoring/uptime.ts'
import { coveragePercent, sumOf, uptimePercent } from '../monitoring/uptime.ts'
import { MINUTE } from '../time.ts'
import type { Zone } from './zone.ts'
import { durationWords } from './zone.ts'

/** What a service that is monitored was like. */
export interface ServicePast {
  /** The last one is today, so far. */
  readonly days: readonly DayUptime[]
  /** The last 24 hours, hour by hour; empty when nothing of it is timed. */
  readonly latencies: readonly LatencyPoint[]
  /** Those that concerned it within these days, newest first. */
  readonly incidents: readonly PastIncident[]
}

export interface PastIncident {
  readonly id: string
  readonly title: string
  readonly startedAt: Date
  readonly resolvedAt: Date | null
}

/** How many days the page shows of a service, when the tier has as many. */
const DAYS = 90
/** The most incidents of all services that the days tell of. */
const MOST_INCIDENTS = 1000

/** The past of those services of an organization that have monitors, by their ids: ten statements for any number. */
export async function readServicePasts(
  db: Database,
  organizationId: string,
  now: Date,
): Promise<Map<string, ServicePast>> {
  const watched = await db.monitor.findMany({
    where: { organizationId, serviceId: { not: null } },
    select: { serviceId: true },
    distinct: ['serviceId'],
  })
  const ids = watched.flatMap(({ serviceId }) => (serviceId === null ? [] : [serviceId]))
  if (ids.length === 0) return new Map()
  const select = { timeZone: true, tier: true } as const
  const organization = await db.organization.findUniqueOrThrow({ where: { id: organizationId }, select })
  const days = await readDays(db, organization, ids, DAYS, now)
  const latencies = await readLatencies(db, organization, ids, { range: 'HOURS_24', resolution: 'HOUR' }, now)
  const incidents = await readIncidents(db, ids, days.get(ids[0] ?? '')?.[0]?.from ?? now)
  return new Map(
    ids.map((id) => {
      const timed = latencies.get(id) ?? []
      return [
        id,
        {
          days: days.get(id) ?? [],
          latencies: timed.some(({ count }) => count > 0) ? timed : [],
          incidents: incidents.get(id) ?? [],
        },
      ]
    }),
  )
}

async function readIncidents(db: Database, serviceIds: readonly string[], since: Date) {
  const rows = await db.incidentService.findMany({
    where: {
      serviceId: { in: [...serviceIds] },
      incident: { OR: [{ resolvedAt: null }, { resolvedAt: { gt: since } }] },
    },
    select: { serviceId: true, incident: { select: { id: true, title: true, startedAt: true, resolvedAt: true } } },
    orderBy: { incident: { startedAt: 'desc' } },
    take: MOST_INCIDENTS,
  })
  const incidents = new Map<string, PastIncident[]>()
  for (const { serviceId, incident } of rows) {
    const known = incidents.get(serviceId)
    if (known) known.push(incident)
    else incidents.set(serviceId, [incident])
  }
  return incidents
}

/** What a day is marked as: the worst of it. Maintenance marks a day without trouble, and `none` one of which nothing is known. */
export type DayMark = 'up' | 'degraded' | 'down' | 'maintenance' | 'none'

/** A day as the page tells it. */
export interface ShownDay {
  /** `2026-11-20`. */
  readonly key: string
  /** `Friday, 20 November 2026`. */
  readonly name: string
  readonly mark: DayMark
  /** What happened, in words: `down for 12 min`. Empty when there is nothing to tell. */
  readonly happenings: readonly string[]
  /** Newest first. */
  readonly incidents: readonly PastIncident[]
}

/** The past of a service as the page tells it. */
export interface ShownPast {
  readonly days: readonly ShownDay[]
  /** Of all days: `99.982% uptime`, or that there is no data. */
  readonly uptime: string
  /** What that is of, in a sentence. */
  readonly basis: string
  readonly latencies: readonly LatencyPoint[]
}

/** Pasts in words of the page's time zone, by the ids of their services. */
export function shownPasts(pasts: ReadonlyMap<string, ServicePast>, zone: Zone): Map<string, ShownPast> {
  const names = new Map<number, Pick<ShownDay, 'key' | 'name'>>()
  // The days of all services are the same, and their names cost more than all else about them.
  const nameOf = (from: Date) => {
    const known = names.get(from.getTime())
    const name = known ?? { key: zone.dayKey(from), name: zone.day(from) }
    if (!known) names.set(from.getTime(), name)
    return name
  }
  return new Map([...pasts].map(([id, past]) => [id, shownPast(past, nameOf)]))
}

function shownPast(
  { days, latencies, incidents }: ServicePast,
  nameOf: (from: Date) => Pick<ShownDay, 'key' | 'name'>,
): ShownPast {
  const whole = sumOf(days.map(({ tally }) => tally))
  const percent = uptimePercent(whole)
  return {
    days: days.map(({ from, to, tally }) => ({
      ...nameOf(from),
      mark: markOf(tally),
      happenings: happeningsOf(tally),
      incidents: incidents.filter(({ startedAt, resolvedAt }) => startedAt < to && (!resolvedAt || resolvedAt > from)),
    })),
    uptime: percent === null ? 'No data' : `${percent}% uptime${partly(whole)}`,
    basis: basisOf(whole),
    latencies,
  }
}

/** Below this much of the time, in percent, the figure says itself that it is of a part. */
const MOSTLY = 95

function partly(whole: Tally): string {
  const coverage = coveragePercent(whole)
  return coverage === null || coverage >= MOSTLY ? '' : ` in ${durationWords(knownOf(whole))} of data`
}

const knownOf = ({ up, degraded, down }: Tally) => up + degraded + down

function markOf({ up, degraded, down, maintenance }: Tally): DayMark {
  if (down > 0) return 'down'
  if (degraded > 0) return 'degraded'
  if (maintenance > 0) return 'maintenance'
  return up > 0 ? 'up' : 'none'
}

function happeningsOf({ up, degraded, down, unknown, maintenance }: Tally): string[] {
  const nothingKnown = up + degraded + down + maintenance === 0
  return [
    down > 0 && `down for ${durationWords(down)}`,
    degraded > 0 && `degraded for ${durationWords(degraded)}`,
    maintenance > 0 && `maintenance for ${durationWords(maintenance)}`,
    unknown >= MINUTE && !nothingKnown && `no data for ${durationWords(unknown)}`,
  ].filter((words) => words !== false)
}

function basisOf(whole: Tally): string {
  const { degraded, down, unknown, maintenance } = whole
  const known = knownOf(whole)
  if (known === 0) return 'Nothing is known of this time.'
  const troubles = [
    down > 0 ? `${durationWords(down)} of outages` : 'No outage',
    degraded > 0 && `${durationWords(degraded)} of degraded performance`,
  ]
  const leftOut = [
    unknown >= MINUTE && `${durationWords(unknown)} without data`,
    maintenance > 0 && `${durationWords(maintenance)} of maintenance`,
  ]
  const list = (words: readonly (string | false)[]) => words.filter(Boolean).join(' and ')
  const sentence = `${list(troubles)} in the ${durationWords(known)} that are known.`
  return leftOut.some(Boolean) ? `${sentence} Left out: ${list(leftOut)}.` : sentence
}
