import { readOrganizations } from '../../account/organization/organization-queries.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { UptimeSource } from '../../generated/prisma/enums.ts'
import type { IncidentHistory } from '../../status/incident/incident-effect-reader.ts'
import { readIncidentHistory } from '../../status/incident/incident-effect-reader.ts'
import { worstEffects } from '../../status/incident/incident-effects.ts'
import type { ImpairedStatus } from '../../status/service/service-status.ts'
import { services } from '../../status/views.ts'
import type { Said, ServiceRecord } from './service-stretches.ts'
import {
  declaredOf,
  reportedDays,
  serviceStretches,
  touchedParts,
  uptimeSourceOf,
  withDeclared,
} from './service-stretches.ts'
import type { Declared, Span, Stretch } from './uptime.ts'
import { coveragePercent, tally, uptimePercent } from './uptime.ts'
import type { DayUptime } from './uptime-days.ts'
import { daySpans, readDays } from './uptime-days.ts'
import type { History, HistoryQuery, SpanQuery, Uptime } from './uptime-history.ts'
import { noHistory, readHistories, readMaintenance, upTo } from './uptime-history.ts'
import type { RangeName } from './uptime-range.ts'
import { barSpans, readBars } from './uptime-range.ts'

/** The settings of an organization that affect the uptime of services. */
export type UptimeSettings = Pick<Organization, 'id' | 'timeZone' | 'tier' | 'uptimeSource'>

/** Reads the settings of organizations, by id. */
export async function readUptimeSettings(
  { db }: { readonly db: Database },
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, UptimeSettings>> {
  const found = await readOrganizations({ db }, organizationIds)
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
 * most eight statements for any number of services.
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
  services.filter(({ source }) => source !== 'INCIDENTS').map(({ id }) => id)

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
  const declared = new Map(services.map((service) => [service.id, declaredOf(said(service, records), now)]))
  const touched = await readTouched(db, declared, days, now)
  const owner = {}
  const found = new Map<string, ServiceDay[]>()
  for (const service of services) {
    await yieldAfterTimeSlice(owner)
    const { id, source } = service
    const own =
      source === 'INCIDENTS'
        ? reportedDays({ ...said(service, records), maintenance: records.maintenance.get(id) ?? [] }, spans)
        : withDeclared(days.get(id) ?? [], declared.get(id) ?? [], touched.get(id) ?? noHistory)
    const effects = said(service, records).incidents.flatMap((incident) => incident.effects)
    const worst = worstEffects(effects, own)
    found.set(
      id,
      own.map((day, index) => ({ ...day, source, incidentStatus: worst[index] ?? null })),
    )
  }
  return found
}

/**
 * Reads the histories of the measured services whose days something declared touches, by id: what `withDeclared` needs.
 * Runs two statements, or none.
 * @param declared and @param days by service id.
 */
export async function readTouched(
  db: Database,
  declared: ReadonlyMap<string, readonly Declared[]>,
  days: ReadonlyMap<string, readonly DayUptime[]>,
  now: Date,
): Promise<Map<string, History>> {
  const owner = {}
  const queries: HistoryQuery[] = []
  for (const [id, own] of declared) {
    await yieldAfterTimeSlice(owner)
    const parts = touchedParts(days.get(id) ?? [], own)
    if (parts[0] !== undefined) queries.push({ id, since: parts[0].from, parts })
  }
  return queries.length === 0 ? new Map() : readHistories(db, queries, now)
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
  const since = asked.map(({ id, from }) => ({ id, since: from < now ? from : now }))
  const records = await readRecords(db, settings, since, now)
  const owner = {}
  const found: ServiceUptime[] = []
  for (const query of asked) {
    await yieldAfterTimeSlice(owner)
    const record = records.get(query.id) ?? nothingKnown
    const span = upTo(now, query)
    const of = tally(serviceStretches(record, span), span)
    found.push({
      ...span,
      tally: of,
      percent: uptimePercent(of),
      coverage: coveragePercent(of),
      source: record.source,
    })
  }
  return found
}

const nothingKnown: ServiceRecord = {
  ...{ source: 'MONITORS', monitors: [], maintenance: [], incidents: [], knownSince: null },
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
  const records = await readRecords(db, settings, asked, now)
  const owner = {}
  const found = new Map<string, ServiceStretches>()
  for (const [id, record] of records) {
    await yieldAfterTimeSlice(owner)
    const { source, maintenance, knownSince, since } = record
    const begunAt = knownSince ?? now
    found.set(id, { source, begunAt, maintenance, stretches: serviceStretches(record, { from: since, to: now }) })
  }
  return found
}

/**
 * Reads all that is known about services of an organization, each from the earliest given time until now, by id. Runs at
 * most five statements.
 */
async function readRecords(
  db: Database,
  settings: UptimeSettings,
  asked: readonly HistoryQuery[],
  now: Date,
): Promise<Map<string, ServiceRecord & { readonly since: Date }>> {
  const since = new Map<string, Date>()
  for (const { id, since: at } of asked) since.set(id, new Date(Math.min(+at, +(since.get(id) ?? at))))
  const services = await readServices(db, settings, [...since.keys()])
  const measured = measuredIn(services).map((id) => ({ id, since: since.get(id) ?? now }))
  const histories = await readHistories(db, measured, now)
  const told = services.filter(({ source }) => source !== 'MONITORS')
  const first = new Date(Math.min(+now, ...[...since.values()].map(Number)))
  const reported = await readReported(db, settings, told, first, now)
  return new Map(
    services.map((service) => {
      const { id } = service
      const { monitors, maintenance } = histories.get(id) ?? noHistory
      const own = service.source === 'INCIDENTS' ? (reported.maintenance.get(id) ?? []) : maintenance
      return [id, { ...said(service, reported), monitors, maintenance: own, since: since.get(id) ?? now }]
    }),
  )
}

interface KnownService {
  readonly id: string
  readonly createdAt: Date
  /** Since when people have stated its status; null: never. */
  readonly statedAt: Date | null
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
    SELECT id, "createdAt", "statedAt", (SELECT min("createdAt") FROM "Monitor" WHERE "serviceId" = service.id) AS "watchedSince"
    FROM ${services} AS service WHERE "organizationId" = ${organizationId} AND id = ANY (${[...new Set(ids)]}::text[])`
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

const said = (service: KnownService, { incidentHistory }: Reported) => saidOf(service, incidentHistory)

/**
 * Returns what incidents say about a service. Incidents alone know nothing before their history is complete, nor before
 * someone stated a status or monitors watched it.
 */
export function saidOf(
  { id, source, createdAt, statedAt, watchedSince }: KnownService,
  { incidents, completeSince }: IncidentHistory,
): Said {
  const shownSince = [statedAt, watchedSince].flatMap((since) => (since === null ? [] : [+since]))
  const reportedSince = new Date(Math.max(+createdAt, +completeSince, Math.min(...shownSince)))
  const knownSince = source !== 'INCIDENTS' ? watchedSince : shownSince.length === 0 ? null : reportedSince
  return { source, incidents: incidents.get(id) ?? [], knownSince }
}
