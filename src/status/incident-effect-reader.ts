import type { Database } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { ServiceStatus } from '../generated/prisma/enums.ts'
import type { IncidentEffect, ServiceUpdate } from './incident-effects.ts'
import { effectsOf } from './incident-effects.ts'

/** An incident that affects a service, and what it said of it over time. */
export interface ServiceIncident {
  readonly id: string
  readonly title: string
  readonly startedAt: Date
  /** Null: it is open. */
  readonly resolvedAt: Date | null
  /** Oldest first; empty when it never said that the service was impaired. */
  readonly effects: readonly IncidentEffect[]
}

/** What incidents said of services. */
export interface IncidentPast {
  /** By service id, newest start first. */
  readonly incidents: ReadonlyMap<string, readonly ServiceIncident[]>
  /** When it was read: effects of open incidents end here. */
  readonly readAt: Date
  /** Since when it is complete: there may be more incidents than are read. */
  readonly completeSince: Date
}

/** The incidents, and the rows of all their updates, that are read at most: those that ended last. */
const MAX_INCIDENTS = 1000
const MAX_ROWS = 20_000

/** An incident in JSON; times are in epoch milliseconds. */
type IncidentJson = readonly [id: string, title: string, startedAt: number, resolvedAt: number | null]
/** What an update of an incident says of a service, or (null) of none; both by their index. Oldest first within an incident. */
type UpdateJson = readonly [
  incident: number,
  at: number,
  isResolved: boolean,
  service: number | null,
  ServiceStatus | null,
]
/** The current status that an incident gives a service. */
type CurrentJson = readonly [incident: number, service: number, ServiceStatus]

/** What `incidentPastJson` gives. */
export interface IncidentPastJson {
  readonly incidents: readonly IncidentJson[]
  readonly updates: readonly UpdateJson[]
  readonly current: readonly CurrentJson[]
}

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
  const past = row === undefined ? { incidents: [], updates: [], current: [] } : JSON.parse(row.past)
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
      SELECT id, title, "startedAt", "resolvedAt" FROM "Incident" AS incident
      WHERE "organizationId" = ${organizationId} AND ("resolvedAt" IS NULL OR "resolvedAt" > ${since}::timestamptz)
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
    )
    SELECT json_build_object(
      'incidents', (SELECT coalesce(json_agg(json_build_array(id, title, ${time('"startedAt"')}, ${time('"resolvedAt"')})
        ORDER BY nth), '[]') FROM incident),
      'updates', (SELECT coalesce(json_agg(json_build_array(nth, ${time('at')}, resolved, service, status)), '[]') FROM said),
      'current', (SELECT coalesce(json_agg(json_build_array(nth, service, status)), '[]') FROM current)))`
}

/** Returns what incidents said of services. @param serviceIds by their index in the JSON. */
export function incidentPastOf(
  json: IncidentPastJson,
  serviceIds: readonly string[],
  since: Date,
  now: Date,
): IncidentPast {
  const cut = Math.min(
    json.incidents.length > MAX_INCIDENTS ? MAX_INCIDENTS : Number.POSITIVE_INFINITY,
    ...[json.updates, json.current].map((rows) => rows[MAX_ROWS]?.[0] ?? Number.POSITIVE_INFINITY),
  )
  const timelines = timelinesOf(json.updates)
  const incidents = new Map<string, ServiceIncident[]>()
  for (const [nth, service, current] of json.current) {
    const [found, serviceId] = [json.incidents[nth], serviceIds[service]]
    if (nth >= cut || found === undefined || serviceId === undefined) continue
    const [id, title, started, resolved] = found
    const times = { startedAt: new Date(started), resolvedAt: resolved === null ? null : new Date(resolved) }
    const updates = (timelines.get(nth) ?? []).map(({ statuses, ...update }) => {
      return { ...update, status: statuses.get(service) ?? null }
    })
    const incident = { id, title, ...times, effects: effectsOf({ ...times, current }, updates, now) }
    const list = incidents.get(serviceId)
    if (list) list.push(incident)
    else incidents.set(serviceId, [incident])
  }
  for (const list of incidents.values()) list.sort((one, other) => +other.startedAt - +one.startedAt)
  const firstLeftOut = json.incidents[cut]
  const completeSince = firstLeftOut === undefined ? since : new Date(firstLeftOut[3] ?? now)
  return { incidents, readAt: now, completeSince }
}

/** An update with the statuses that it gives services, by their index. */
interface Update extends Pick<ServiceUpdate, 'at' | 'isResolved'> {
  readonly statuses: Map<number, ServiceStatus>
}

/** Returns the updates of each incident, oldest first, by the index of the incident. */
function timelinesOf(rows: readonly UpdateJson[]): Map<number, Update[]> {
  const timelines = new Map<number, Update[]>()
  for (const [nth, at, isResolved, service, status] of rows) {
    const timeline = timelines.get(nth) ?? []
    timelines.set(nth, timeline)
    const last = timeline.at(-1)
    // The rows of an update are next to each other, and no two updates of an incident have the same time.
    const update = last?.at.getTime() === at ? last : { at: new Date(at), isResolved, statuses: new Map() }
    if (update !== last) timeline.push(update)
    if (service !== null && status !== null) update.statuses.set(service, status)
  }
  return timelines
}
