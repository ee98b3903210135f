import type { Database } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { ServiceStatus } from '../generated/prisma/enums.ts'
import type { IncidentEffect, ServiceUpdate } from './incident-effects.ts'
import { effectsOf } from './incident-effects.ts'
import { isPublicIncident } from './page-scope.ts'

/** An incident that affects a service, and what it said of it over time. */
export interface ServiceIncident {
  readonly id: string
  readonly title: string
  /** The title in other languages; absent: there is none. */
  readonly titles?: Prisma.JsonValue
  readonly startedAt: Date
  /** Null: it is open. */
  readonly resolvedAt: Date | null
  /** Oldest first; empty when it never said that the service was impaired. */
  readonly effects: readonly IncidentEffect[]
}

/** What incidents said of services. */
export interface IncidentPast {
  /** By service id, newest start first. A list that has not changed since an earlier reading is the same array. */
  readonly incidents: ReadonlyMap<string, readonly ServiceIncident[]>
  /** When it was read: effects of open incidents end here. */
  readonly readAt: Date
  /** Since when it is complete: there may be more incidents than are read. */
  readonly completeSince: Date
  readonly known: KnownIncidents
}

/** Resolved incidents as they were read, so that the next reading need not work out again what has not changed. */
interface KnownIncidents {
  readonly serviceIds: readonly string[]
  /** By their JSON. */
  readonly byJson: ReadonlyMap<string, readonly EffectOnService[]>
}

type EffectOnService = readonly [serviceId: string, ServiceIncident]

/** The incidents, and the rows of all their updates, that are read at most: those that ended last. */
const MAX_INCIDENTS = 1000
const MAX_ROWS = 20_000

/** What `incidentPastJson` gives. */
export interface IncidentPastJson {
  /** Each an `IncidentJson`, so that one that is known need not be parsed. Those that ended last come first. */
  readonly incidents: readonly string[]
  /** The index of the first incident of which not all rows were read; null: none. */
  readonly cut: number | null
}

/** An incident; times are in epoch milliseconds, services are given by their index. */
type IncidentJson = readonly [
  id: string,
  title: string,
  startedAt: number,
  resolvedAt: number | null,
  updates: readonly UpdateJson[] | null,
  /** The status that it gives each service now. */
  current: readonly (readonly [service: number, ServiceStatus])[] | null,
  /** Null: there are none. */
  titles: Prisma.JsonValue,
]
/** What an update says of a service, or (null) of none. Oldest first. */
type UpdateJson = readonly [at: number, isResolved: boolean, service: number | null, ServiceStatus | null]

/** Reads what incidents that were not resolved before a time said of services of an organization. Runs one statement. */
export async function readIncidentPast(
  db: Database,
  organizationId: string,
  serviceIds: readonly string[],
  since: Date,
  now: Date,
): Promise<IncidentPast> {
  const wanted = Prisma.sql`SELECT id, nth - 1 AS nth FROM unnest(${[...serviceIds]}::text[]) WITH ORDINALITY AS each (id, nth)`
  const [row] =
    serviceIds.length === 0
      ? []
      : await db.$queryRaw<{ past: string }[]>`
          SELECT ${incidentPastJson(Prisma.sql`${organizationId}`, wanted, since)}::text AS past`
  const past = row === undefined ? { incidents: [], cut: null } : JSON.parse(row.past)
  return incidentPastOf(past, serviceIds, since, now)
}

/**
 * Returns an SQL expression: what incidents that were not resolved before a time said of services, as `IncidentPastJson`. Its time
 * does not grow with older incidents.
 * @param organizationId an SQL expression. @param wanted selects the `id` of each service and its index `nth`, from 0.
 */
export function incidentPastJson(organizationId: Prisma.Sql, wanted: Prisma.Sql, since: Date): Prisma.Sql {
  const time = (column: string) => Prisma.raw(`(extract(epoch FROM ${column}) * 1000)::float8`)
  return Prisma.sql`(
    WITH wanted AS MATERIALIZED (${wanted}), found AS MATERIALIZED (
      SELECT id, title, nullif(titles, '{}')::text AS titles, "startedAt", "resolvedAt" FROM "Incident" AS incident
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
    ), said AS MATERIALIZED (
      SELECT incident.nth, posted."createdAt" AS at, posted.status = 'RESOLVED' AS resolved, link.nth AS service, link.status
      FROM incident JOIN "IncidentUpdate" AS posted ON posted."incidentId" = incident.id
      LEFT JOIN LATERAL (
        SELECT wanted.nth, link.status FROM "IncidentUpdateService" AS link JOIN wanted ON wanted.id = link."serviceId"
        WHERE link."updateId" = posted.id
      ) AS link ON true ORDER BY 1, 2, posted.id LIMIT ${MAX_ROWS + 1}
    ), part AS (
      SELECT nth, 'incident' AS of, id, title, titles, "startedAt", "resolvedAt",
        NULL::timestamptz AS at, NULL::boolean AS resolved, NULL::bigint AS service, NULL::"ServiceStatus" AS status
      FROM incident
      UNION ALL SELECT nth, 'said', NULL, NULL, NULL, NULL, NULL, at, resolved, service, status FROM said
      UNION ALL SELECT nth, 'current', NULL, NULL, NULL, NULL, NULL, NULL, NULL, service, status FROM current
    ), whole AS (
      -- Grouped rather than joined: nothing tells the planner how many rows there are.
      SELECT nth, json_build_array(max(id), max(title), ${time('max("startedAt")')}, ${time('max("resolvedAt")')},
        json_agg(json_build_array(${time('at')}, resolved, service, status) ORDER BY at, service) FILTER (WHERE of = 'said'),
        json_agg(json_build_array(service, status) ORDER BY service) FILTER (WHERE of = 'current'),
        max(titles)::json)::text AS incident
      FROM part GROUP BY nth
    )
    SELECT json_build_object(
      'incidents', (SELECT coalesce(json_agg(incident ORDER BY nth), '[]') FROM whole),
      'cut', least((SELECT max(nth) FROM said HAVING count(*) > ${MAX_ROWS}),
        (SELECT max(nth) FROM current HAVING count(*) > ${MAX_ROWS}))))`
}

/**
 * Returns what incidents said of services.
 * @param serviceIds by their index in the JSON. @param known of an earlier reading: what has not changed is taken from there.
 */
export function incidentPastOf(
  json: IncidentPastJson,
  serviceIds: readonly string[],
  since: Date,
  now: Date,
  known: IncidentPast | null = null,
): IncidentPast {
  const cut = Math.min(MAX_INCIDENTS, json.cut ?? MAX_INCIDENTS)
  const before = known !== null && isSame(known.known.serviceIds, serviceIds) ? known : null
  const byJson = new Map<string, readonly EffectOnService[]>()
  const incidents = new Map<string, ServiceIncident[]>()
  for (const text of json.incidents.slice(0, cut)) {
    const effects = before?.known.byJson.get(text) ?? effectsIn(JSON.parse(text), serviceIds, now)
    // What an open incident says goes on.
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

/** Returns what an incident said of each service. */
function effectsIn(
  [id, title, started, resolved, rows, given, titles]: IncidentJson,
  serviceIds: readonly string[],
  now: Date,
): EffectOnService[] {
  const times = { startedAt: new Date(started), resolvedAt: resolved === null ? null : new Date(resolved) }
  const effects: EffectOnService[] = []
  for (const [service, current] of given ?? []) {
    const serviceId = serviceIds[service]
    if (serviceId === undefined) continue
    const said = effectsOf({ ...times, current }, updatesFor(service, rows ?? []), now)
    effects.push([serviceId, { id, title, ...(titles !== null && { titles }), ...times, effects: said }])
  }
  return effects
}

/** Returns the updates of an incident as far as they concern a service, oldest first. */
function updatesFor(service: number, rows: readonly UpdateJson[]): ServiceUpdate[] {
  const updates: ServiceUpdate[] = []
  let last: number | null = null
  for (const [time, isResolved, named, said] of rows) {
    const status = named === service ? said : null
    // The rows of an update are next to each other, and no two updates of an incident have the same time.
    if (time !== last) updates.push({ at: new Date(time), isResolved, status })
    else if (status !== null) updates[updates.length - 1] = { at: new Date(time), isResolved, status }
    last = time
  }
  return updates
}
