import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { IncidentHistory, ServiceIncident } from '../../status/incident/incident-effect-reader.ts'
import { readIncidentHistory } from '../../status/incident/incident-effect-reader.ts'
import { worstEffects } from '../../status/incident/incident-effects.ts'
import type { ImpairedStatus } from '../../status/service/service-status.ts'
import type { Span, Stretch } from './uptime.ts'
import { coveragePercent, stretches, tallies, tally, uptimePercent } from './uptime.ts'
import type { DayUptime } from './uptime-days.ts'
import { daySpans, readDays } from './uptime-days.ts'
import type { HistoryQuery, SpanQuery, Uptime } from './uptime-history.ts'
import { readHistories, readMaintenance, readUptimes, upTo } from './uptime-history.ts'
import type { RangeName } from './uptime-range.ts'
import { barSpans, readBars } from './uptime-range.ts'

/** Returns the uptime source of a service: incidents if it has no monitors, else the configured one. */
export function uptimeSourceOf(isMonitored: boolean, chosen: UptimeSource): UptimeSource {
  return isMonitored ? chosen : 'INCIDENTS'
}

/** The history of a service based on incidents. */
export interface ReportedHistory {
  readonly incidents: readonly Pick<ServiceIncident, 'effects'>[]
  readonly maintenance: readonly Span[]
  /**
   * When incidents started to reflect the state of the service. Earlier time is unknown, even if it has an incident.
   */
  readonly knownSince: Date
}

/**
 * Splits a span into stretches based on incidents: down during a partial or major outage, degraded during degraded
 * performance, else up. Maintenance takes precedence, as with monitors. `span.to` must not be in the future.
 */
export function reportedStretches({ incidents, maintenance, knownSince }: ReportedHistory, span: Span): Stretch[] {
  const up = { startedAt: knownSince, endedAt: null, state: 'UP', cause: '' } as const
  const impaired = incidents
    .flatMap(({ effects }) => effects)
    .map(({ from, to, status }) => {
      const state = status === 'DEGRADED_PERFORMANCE' ? ('DEGRADED' as const) : ('DOWN' as const)
      return { startedAt: from, endedAt: to, state, cause: '' }
    })
  const gaps = [{ from: new Date(Math.min(+span.from, +knownSince)), to: knownSince }]
  return stretches([{ intervals: [up, ...impaired], gaps, staleSince: null }], maintenance, span)
}

/** Tallies the conditions of consecutive days based on incidents. */
export function reportedDays(history: ReportedHistory, days: readonly Omit<DayUptime, 'tally'>[]): DayUptime[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const of = tallies(reportedStretches(history, { from: first.from, to: last.to }), days)
  return days.flatMap((day, index) => {
    const tally = of[index]
    return tally === undefined ? [] : [{ ...day, tally }]
  })
}

/** The settings of an organization that affect the uptime of services. */
export type UptimeSettings = Pick<Organization, 'id' | 'timeZone' | 'tier' | 'uptimeSource'>

/** Reads the settings of organizations, by id. */
export async function readUptimeSettings(
  { db }: { readonly db: Database },
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, UptimeSettings>> {
  const found = await db.organization.findMany({
    where: { id: { in: [...new Set(organizationIds)] } },
    select: { id: true, timeZone: true, tier: true, uptimeSource: true },
  })
  return new Map(found.map((organization) => [organization.id, organization]))
}

/** A day of a service. */
export interface ServiceDay extends DayUptime {
  /** The source of its uptime. */
  readonly source: UptimeSource
  /** The worst status that incidents set on this day; null: none. */
  readonly incidentStatus: ImpairedStatus | null
}

/**
 * Reads the last `count` days of services of an organization, within the history of its tier, by service id. Runs at
 * most six statements for any number of services.
 */
export async function readServiceDays(
  db: Database,
  settings: UptimeSettings,
  ids: readonly string[],
  count: number,
  now: Date,
): Promise<Map<string, ServiceDay[]>> {
  const services = await readServices(db, settings, ids)
  const measured = measuredIn(services)
  const days =
    measured.length === 0 ? new Map<string, DayUptime[]>() : await readDays(db, settings, measured, count, now)
  return withReported(db, settings, services, { days, spans: daySpans(settings, count, now) }, now)
}

/**
 * Reads the bars of services of an organization in a range, within the history of its tier, by service id. Runs at most
 * six statements; for a year, three more per additional hundred services.
 */
export async function readServiceBars(
  db: Database,
  settings: UptimeSettings,
  ids: readonly string[],
  range: RangeName,
  now: Date,
): Promise<Map<string, ServiceDay[]>> {
  const services = await readServices(db, settings, ids)
  const days = await readBars(db, settings, measuredIn(services), range, now)
  return withReported(db, settings, services, { days, spans: barSpans(settings, range, now) }, now)
}

const measuredIn = (services: readonly KnownService[]) =>
  services.filter(({ source }) => source === 'MONITORS').map(({ id }) => id)

/** Adds incident statuses to measured days, and computes the days of services that are not measured. */
async function withReported(
  db: Database,
  settings: UptimeSettings,
  services: readonly KnownService[],
  {
    days,
    spans,
  }: { readonly days: ReadonlyMap<string, DayUptime[]>; readonly spans: readonly Omit<DayUptime, 'tally'>[] },
  now: Date,
): Promise<Map<string, ServiceDay[]>> {
  const records = await readReported(db, settings, services, spans[0]?.from ?? now, now)
  const owner = {}
  const found = new Map<string, ServiceDay[]>()
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const { id, source } = service
    const history = reportedHistory(service, records)
    const effects = history.incidents.flatMap((incident) => incident.effects)
    const own = days.get(id) ?? reportedDays(history, spans)
    const worst = worstEffects(effects, own)
    found.set(
      id,
      own.map((day, index) => ({ ...day, source, incidentStatus: worst[index] ?? null })),
    )
  }
  return found
}

/** The uptime of a service in a span. */
export interface ServiceUptime extends Uptime {
  readonly source: UptimeSource
}

/**
 * Reads the uptime of services of an organization over spans, in the order of the queries. Runs at most five
 * statements.
 */
export async function readServiceUptimes(
  db: Database,
  settings: UptimeSettings,
  asked: readonly SpanQuery[],
  now: Date,
): Promise<ServiceUptime[]> {
  const services = await readServices(
    db,
    settings,
    asked.map(({ id }) => id),
  )
  const byId = new Map(services.map((service) => [service.id, service]))
  const isMeasured = ({ id }: SpanQuery) => byId.get(id)?.source !== 'INCIDENTS'
  const measured = asked.filter(isMeasured)
  const uptimes = measured.length === 0 ? [] : await readUptimes(db, measured, now)
  const reported = services.filter(({ source }) => source === 'INCIDENTS')
  const since = new Date(Math.min(+now, ...asked.map(({ from }) => +from)))
  const records = await readReported(db, settings, reported, since, now)
  const owner = {}
  const found: ServiceUptime[] = []
  for (const query of asked) {
    await yieldAfterTimeSlice(owner)
    const service = byId.get(query.id)
    const uptime = isMeasured(query) || service === undefined ? uptimes[measured.indexOf(query)] : null
    if (uptime) found.push({ ...uptime, source: 'MONITORS' })
    else if (service) found.push({ ...uptimeOf(reportedHistory(service, records), query, now), source: 'INCIDENTS' })
  }
  return found
}

function uptimeOf(history: ReportedHistory, query: Span, now: Date): Uptime {
  const span = upTo(now, query)
  const of = tally(reportedStretches(history, span), span)
  return { ...span, tally: of, percent: uptimePercent(of), coverage: coveragePercent(of) }
}

/** The history of a service in a span. */
export interface ServiceStretches {
  readonly source: UptimeSource
  /** When the recording of its state started. */
  readonly begunAt: Date
  readonly maintenance: readonly Span[]
  readonly stretches: readonly Stretch[]
}

/**
 * Reads the history of services of an organization from given times until now, by service id. Runs at most five
 * statements.
 */
export async function readServiceStretches(
  db: Database,
  settings: UptimeSettings,
  asked: readonly HistoryQuery[],
  now: Date,
): Promise<Map<string, ServiceStretches>> {
  const since = new Map<string, Date>()
  for (const { id, since: at } of asked) since.set(id, new Date(Math.min(+at, +(since.get(id) ?? at))))
  const services = await readServices(db, settings, [...since.keys()])
  const measured = services.flatMap(({ id, source }) =>
    source === 'MONITORS' ? [{ id, since: since.get(id) ?? now }] : [],
  )
  const histories = await readHistories(db, measured, now)
  const reported = services.filter(({ source }) => source === 'INCIDENTS')
  const records = await readReported(
    db,
    settings,
    reported,
    new Date(Math.min(+now, ...[...since.values()].map(Number))),
    now,
  )
  const owner = {}
  const found = new Map<string, ServiceStretches>()
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const { id, source, watchedSince, createdAt } = service
    const span = { from: since.get(id) ?? now, to: now }
    if (source === 'MONITORS') {
      const { monitors, maintenance } = histories.get(id) ?? { monitors: [], maintenance: [] }
      const begunAt = watchedSince ?? createdAt
      found.set(id, { source, begunAt, maintenance, stretches: stretches(monitors, maintenance, span) })
    } else {
      const history = reportedHistory(service, records)
      const { maintenance, knownSince } = history
      found.set(id, { source, begunAt: knownSince, maintenance, stretches: reportedStretches(history, span) })
    }
  }
  return found
}

interface KnownService {
  readonly id: string
  readonly createdAt: Date
  /** When its first monitor was created; null: it has no monitors. */
  readonly watchedSince: Date | null
  readonly source: UptimeSource
}

async function readServices(
  db: Database,
  { id: organizationId, uptimeSource }: UptimeSettings,
  ids: readonly string[],
) {
  const rows = await db.$queryRaw<Omit<KnownService, 'source'>[]>`
    SELECT id, "createdAt", (SELECT min("createdAt") FROM "Monitor" WHERE "serviceId" = "Service".id) AS "watchedSince"
    FROM "Service" WHERE "organizationId" = ${organizationId} AND id = ANY (${[...new Set(ids)]}::text[])`
  return rows.map((row): KnownService => ({ ...row, source: uptimeSourceOf(row.watchedSince !== null, uptimeSource) }))
}

interface Reported {
  readonly incidentHistory: IncidentHistory
  readonly maintenance: ReadonlyMap<string, readonly Span[]>
}

async function readReported(
  db: Database,
  { id }: UptimeSettings,
  services: readonly KnownService[],
  since: Date,
  now: Date,
): Promise<Reported> {
  const idsOf = (of: readonly KnownService[]) => of.map((service) => service.id)
  const incidentHistory = await readIncidentHistory(db, id, idsOf(services), since, now)
  const reported = services.filter(({ source }) => source === 'INCIDENTS')
  return { incidentHistory, maintenance: await readMaintenance(db, idsOf(reported), since, now) }
}

function reportedHistory({ id, createdAt }: KnownService, { incidentHistory, maintenance }: Reported): ReportedHistory {
  const knownSince = new Date(Math.max(+createdAt, +incidentHistory.completeSince))
  return { incidents: incidentHistory.incidents.get(id) ?? [], maintenance: maintenance.get(id) ?? [], knownSince }
}
