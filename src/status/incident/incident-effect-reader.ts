import type { Database } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import { isPublicIncident } from '../page-scope.ts'
import type { IncidentEffect, ServiceUpdate } from './incident-effects.ts'
import { effectsOf, endOfPart } from './incident-effects.ts'

/** An incident that affects a service, and the statuses that it gave the service over time. */
export interface ServiceIncident {
  readonly id: string
  readonly title: string
  /** The title in other languages; absent if there is none. */
  readonly titles?: Prisma.JsonValue
  readonly startedAt: Date
  /** Null while it is open. */
  readonly resolvedAt: Date | null
  /** When it started to concern the service: when it first impaired it, else its start. */
  readonly begunAt: Date
  /** When it stopped to concern the service: its resolution, or before it the recovery of the service; null: it does. */
  readonly endedAt: Date | null
  /** Whether a person declared it, or took it over from a monitor. */
  readonly isDeclared: boolean
  /** Oldest first; empty if it never impaired the service. */
  readonly effects: readonly IncidentEffect[]
}

/** How incidents affected services. */
export interface IncidentHistory {
  /** By service id, latest start first. A list that has not changed since an earlier read is the same array. */
  readonly incidents: ReadonlyMap<string, readonly ServiceIncident[]>
  /** When it was read. Effects of open incidents end here. */
  readonly readAt: Date
  /** The time from which it is complete. Earlier incidents may be missing. */
  readonly completeSince: Date
  readonly known: KnownIncidents
}

/** Resolved incidents of an earlier read, so that the next read can reuse unchanged ones. */
interface KnownIncidents {
  readonly serviceIds: readonly string[]
  /** By their JSON text. */
  readonly byJson: ReadonlyMap<string, readonly EffectOnService[]>
}

type EffectOnService = readonly [serviceId: string, ServiceIncident]

/** The maximum number of incidents, those that ended last first, and of rows of their updates. */
const MAX_INCIDENTS = 1000
const MAX_ROWS = 20_000

/** The result of `incidentHistoryJson`. */
export interface IncidentHistoryJson {
  /** Texts of `IncidentJson`, so that known ones need not be parsed; those that ended last come first. */
  readonly incidents: readonly string[]
  /** The index of the first incident whose rows are incomplete, or null. */
  readonly cut: number | null
}

/** An incident. Times are in epoch milliseconds; services are indexes. */
type IncidentJson = readonly [
  id: string,
  title: string,
  startedAt: number,
  resolvedAt: number | null,
  updates: readonly UpdateJson[] | null,
  /** The current status of each service. */
  current: readonly (readonly [service: number, ServiceStatus])[] | null,
  /** Null if there are none. */
  titles: Prisma.JsonValue,
  isDeclared: boolean,
]
/** The status that an update gives a service, or null if it names none. Oldest first. */
type UpdateJson = readonly [at: number, isResolved: boolean, service: number | null, ServiceStatus | null]

/**
 * Reads how incidents that were not resolved before `since` affected services of an organization. Runs one statement.
 */
export async function readIncidentHistory(
  db: Database,
  organizationId: string,
  serviceIds: readonly string[],
  since: Date,
  now: Date,
): Promise<IncidentHistory> {
  const wanted = Prisma.sql`SELECT id, nth - 1 AS nth FROM unnest(${[...serviceIds]}::text[]) WITH ORDINALITY AS each (id, nth)`
  const [row] =
    serviceIds.length === 0
      ? []
      : await db.$queryRaw<{ history: string }[]>`
          SELECT ${incidentHistoryJson(Prisma.sql`${organizationId}`, wanted, since)}::text AS history`
  const history = row === undefined ? { incidents: [], cut: null } : JSON.parse(row.history)
  return incidentHistoryOf(history, serviceIds, since, now)
}

/**
 * Returns an SQL expression for `IncidentHistoryJson`: how incidents that were not resolved before `since` affected
 * services. Its cost does not grow with older incidents.
 * @param organizationId an SQL expression.
 * @param wanted selects the `id` of each service and its index `nth`, from 0.
 */
export function incidentHistoryJson(organizationId: Prisma.Sql, wanted: Prisma.Sql, since: Date): Prisma.Sql {
  const time = (column: string) => Prisma.raw(`(extract(epoch FROM ${column}) * 1000)::float8`)
  return Prisma.sql`(
    WITH wanted AS MATERIALIZED (${wanted}), found AS MATERIALIZED (
      SELECT id, title, nullif(titles, '{}')::text AS titles, "startedAt", "resolvedAt", automatic FROM "Incident" AS incident
      WHERE "organizationId" = ${organizationId} AND ${isPublicIncident} AND ("resolvedAt" IS NULL OR "resolvedAt" > ${since}::timestamptz)
        AND EXISTS (
          SELECT 1 FROM "IncidentService" AS link JOIN wanted ON wanted.id = link."serviceId"
          WHERE link."incidentId" = incident.id)
      ORDER BY "resolvedAt" DESC, id DESC LIMIT ${MAX_INCIDENTS + 1}
    ), incident AS MATERIALIZED (
      SELECT *, row_number() OVER (ORDER BY "resolvedAt" DESC, id DESC) - 1 AS nth FROM found
    ), current AS MATERIALIZED (
      SELECT incident.nth, wanted.nth AS service, link.status
      FROM incident JOIN "IncidentService" AS link ON link."incidentId" = incident.id
      JOIN wanted ON wanted.id = link."serviceId" ORDER BY 1, 2 LIMIT ${MAX_ROWS + 1}
    ), stated AS MATERIALIZED (
      SELECT incident.nth, posted."createdAt" AS at, posted.status = 'RESOLVED' AS resolved, link.nth AS service, link.status
      FROM incident JOIN "IncidentUpdate" AS posted ON posted."incidentId" = incident.id
      LEFT JOIN LATERAL (
        SELECT wanted.nth, link.status FROM "IncidentUpdateService" AS link JOIN wanted ON wanted.id = link."serviceId"
        WHERE link."updateId" = posted.id
      ) AS link ON true ORDER BY 1, 2, posted.id LIMIT ${MAX_ROWS + 1}
    ), part AS (
      SELECT nth, 'incident' AS of, id, title, titles, "startedAt", "resolvedAt", automatic,
        NULL::timestamptz AS at, NULL::boolean AS resolved, NULL::bigint AS service, NULL::"ServiceStatus" AS status
      FROM incident
      UNION ALL SELECT nth, 'stated', NULL, NULL, NULL, NULL, NULL, NULL, at, resolved, service, status FROM stated
      UNION ALL SELECT nth, 'current', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, service, status FROM current
    ), whole AS (
      -- Grouped rather than joined: the planner cannot estimate the number of rows.
      SELECT nth, json_build_array(max(id), max(title), ${time('max("startedAt")')}, ${time('max("resolvedAt")')},
        json_agg(json_build_array(${time('at')}, resolved, service, status) ORDER BY at, service) FILTER (WHERE of = 'stated'),
        json_agg(json_build_array(service, status) ORDER BY service) FILTER (WHERE of = 'current'),
        max(titles)::json, NOT bool_or(automatic))::text AS incident
      FROM part GROUP BY nth
    )
    SELECT json_build_object(
      'incidents', (SELECT coalesce(json_agg(incident ORDER BY nth), '[]') FROM whole),
      'cut', least((SELECT max(nth) FROM stated HAVING count(*) > ${MAX_ROWS}),
        (SELECT max(nth) FROM current HAVING count(*) > ${MAX_ROWS}))))`
}

/**
 * Returns how incidents affected services.
 * @param serviceIds by their index in the JSON.
 * @param known the result of an earlier read, whose unchanged parts are reused.
 */
export function incidentHistoryOf(
  json: IncidentHistoryJson,
  serviceIds: readonly string[],
  since: Date,
  now: Date,
  known: IncidentHistory | null = null,
): IncidentHistory {
  const cut = Math.min(MAX_INCIDENTS, json.cut ?? MAX_INCIDENTS)
  const before = known !== null && isSame(known.known.serviceIds, serviceIds) ? known : null
  const byJson = new Map<string, readonly EffectOnService[]>()
  const incidents = new Map<string, ServiceIncident[]>()
  for (const text of json.incidents.slice(0, cut)) {
    const effects = before?.known.byJson.get(text) ?? effectsIn(JSON.parse(text), serviceIds, now)
    // The effects of an open incident continue, so they cannot be reused.
    if (effects.every(([, { resolvedAt }]) => resolvedAt !== null)) byJson.set(text, effects)
    for (const [serviceId, incident] of effects) {
      const list = incidents.get(serviceId)
      if (list) list.push(incident)
      else incidents.set(serviceId, [incident])
    }
  }
  const firstLeftOut = json.incidents[cut]
  return {
    incidents: new Map(
      Array.from(incidents, ([id, list]) => {
        list.sort((one, other) => other.startedAt.getTime() - one.startedAt.getTime())
        const earlier = before?.incidents.get(id)
        return [id, earlier && isSame(earlier, list) ? earlier : list]
      }),
    ),
    readAt: now,
    completeSince: firstLeftOut === undefined ? since : endOf(JSON.parse(firstLeftOut), now),
    known: { serviceIds, byJson },
  }
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}

function endOf([, , , resolved]: IncidentJson, now: Date): Date {
  return resolved === null ? now : new Date(resolved)
}

/** Returns the effects of an incident on each service. */
function effectsIn(
  [id, title, started, resolved, rows, given, titles, isDeclared]: IncidentJson,
  serviceIds: readonly string[],
  now: Date,
): EffectOnService[] {
  const times = { startedAt: new Date(started), resolvedAt: resolved === null ? null : new Date(resolved) }
  const effects: EffectOnService[] = []
  for (const [service, current] of given ?? []) {
    const serviceId = serviceIds[service]
    if (serviceId === undefined) continue
    const found = effectsOf({ ...times, current }, updatesFor(service, rows ?? []), now)
    const begunAt = found[0]?.from ?? times.startedAt
    const part = { begunAt, endedAt: endOfPart(times.resolvedAt, found, now), isDeclared, effects: found }
    effects.push([serviceId, { id, title, ...(titles !== null && { titles }), ...times, ...part }])
  }
  return effects
}

/** Returns the updates of an incident with the status that each gives the service, oldest first. */
function updatesFor(service: number, rows: readonly UpdateJson[]): ServiceUpdate[] {
  const updates: ServiceUpdate[] = []
  let last: number | null = null
  for (const [time, isResolved, named, given] of rows) {
    const status = named === service ? given : null
    // The rows of an update are adjacent, and the updates of an incident have distinct times.
    if (time !== last) updates.push({ at: new Date(time), isResolved, status })
    else if (status !== null) updates[updates.length - 1] = { at: new Date(time), isResolved, status }
    last = time
  }
  return updates
}
