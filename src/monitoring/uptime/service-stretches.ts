import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { ServiceIncident } from '../../status/incident/incident-effect-reader.ts'
import type { ImpairedStatus } from '../../status/service/service-status.ts'
import type { Condition, Declared, MonitorHistory, Span, Stretch, Tally } from './uptime.ts'
import { stretches, tallies } from './uptime.ts'
import type { DayUptime } from './uptime-days.ts'
import type { History } from './uptime-history.ts'

/** Returns the uptime source of a service: incidents if it has no monitors, else the configured one. */
export function uptimeSourceOf(isMonitored: boolean, chosen: UptimeSource): UptimeSource {
  return isMonitored ? chosen : 'INCIDENTS'
}

/** What incidents say about a service. */
export interface Said {
  readonly source: UptimeSource
  readonly incidents: readonly Pick<ServiceIncident, 'effects' | 'isDeclared'>[]
  /** When its figures begin; null: never. Earlier time is unknown to incidents, even if it has one. */
  readonly knownSince: Date | null
}

const conditionOf = {
  DEGRADED_PERFORMANCE: 'degraded',
  PARTIAL_OUTAGE: 'partial',
  MAJOR_OUTAGE: 'down',
} as const satisfies Record<ImpairedStatus, Condition>

/**
 * Returns the conditions that count in addition to monitors, up to a time. By incidents: their effects, and up
 * otherwise. By monitors and incidents: the effects of declared incidents; those that monitors opened repeat their
 * results.
 */
export function declaredOf({ source, incidents, knownSince }: Said, until: Date): Declared[] {
  if (source === 'MONITORS' || knownSince === null || knownSince >= until) return []
  const declared: Declared[] = source === 'INCIDENTS' ? [{ from: knownSince, to: until, condition: 'up' }] : []
  for (const { effects, isDeclared } of incidents) {
    if (source !== 'INCIDENTS' && !isDeclared) continue
    for (const { from, to, status } of effects) {
      const begin = from < knownSince ? knownSince : from
      if (begin < to) declared.push({ from: begin, to, condition: conditionOf[status] })
    }
  }
  return declared
}

/** All that is known about a service. */
export interface ServiceRecord extends Said {
  /** Unused by incidents alone. */
  readonly monitors: readonly MonitorHistory[]
  readonly maintenance: readonly Span[]
}

/**
 * Splits a span into the stretches of a service by its source: at each time, the worse of the monitors and the
 * incidents that count. Maintenance takes precedence. Time that neither knows is unknown. Everything that shows the
 * uptime of a service follows from this. `span.to` must not be in the future.
 */
export function serviceStretches(record: ServiceRecord, span: Span): Stretch[] {
  const monitors = record.source === 'INCIDENTS' ? [] : record.monitors
  return stretches(monitors, record.maintenance, span, declaredOf(record, span.to))
}

type Bar = Omit<DayUptime, 'tally'>

/** Tallies consecutive days based on incidents. */
export function reportedDays(record: Omit<ServiceRecord, 'monitors'>, days: readonly Bar[]): DayUptime[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const of = tallies(serviceStretches({ ...record, monitors: [] }, { from: first.from, to: last.to }), days)
  return days.flatMap((day, index) => {
    const tally = of[index]
    return tally === undefined ? [] : [{ ...day, tally }]
  })
}

/** Returns the parts of consecutive days that something declared touches, adjacent days as one. */
export function touchedParts(days: readonly Span[], declared: readonly Declared[]): Span[] {
  const parts: Span[] = []
  for (const { from, to } of days) {
    if (!declared.some((each) => each.from < to && each.to > from)) continue
    const last = parts.at(-1)
    if (last?.to.getTime() === from.getTime()) parts[parts.length - 1] = { from: last.from, to }
    else parts.push({ from, to })
  }
  return parts
}

/**
 * Adds what was declared to measured days. Only the days that it touches are tallied again, because the others are
 * stored.
 * @param history of the service in the touched parts of these days.
 */
export function withDeclared(
  days: readonly DayUptime[],
  declared: readonly Declared[],
  { monitors, maintenance }: History,
): readonly DayUptime[] {
  const parts = touchedParts(days, declared)
  if (parts.length === 0) return days
  const again = new Map<DayUptime, Tally>()
  for (const part of parts) {
    const touched = days.filter(({ from, to }) => from >= part.from && to <= part.to)
    const of = tallies(stretches(monitors, maintenance, part, declared), touched)
    for (const [index, day] of touched.entries()) again.set(day, of[index] ?? day.tally)
  }
  return days.map((day) => ({ ...day, tally: again.get(day) ?? day.tally }))
}
