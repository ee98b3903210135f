import type { Database } from '../../core/context.ts'
import type { StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import { htmlOf } from '../../core/markdown/markdown-rendering.ts'
import type { Incident, IncidentFile, Maintenance } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { IncidentStatus, MaintenanceStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { Language } from '../../language/catalogue.ts'
import type { PageScope } from '../page-scope.ts'
import { shownCondition } from '../page-scope.ts'
import { bodiesOf } from './translations.ts'

/** An update of a timeline, as read. */
export interface TimelineUpdate<S> {
  readonly id: string
  readonly status: S
  readonly createdAt: Date
  readonly editedAt: Date | null
  /** The message in the requested form; empty: none; null: beyond the limit of `TimelineBounds.bytes`. */
  readonly body: string | null
  /** The message in other languages; absent: none, or it was not read. */
  readonly bodies?: Readonly<Partial<Record<Language, string>>>
  /** Its files, oldest first; absent: none. */
  readonly files?: readonly TimelineFile[]
}

/** A file of an update. */
export type TimelineFile = Pick<IncidentFile, 'id' | 'name' | 'type' | 'size' | 'alt' | 'width' | 'height'>

/** The newest updates and the affected services, within the requested bounds, and the total counts. */
export interface Timeline<S> {
  /** Newest first. */
  readonly updates: readonly TimelineUpdate<S>[]
  readonly updateCount: number
  /** In page order. */
  readonly services: readonly { readonly serviceId: string; readonly status: ServiceStatus }[]
  readonly serviceCount: number
}

/** An incident with its services and its timeline. */
export type IncidentWithTimeline = Incident & Timeline<IncidentStatus>

/** A maintenance with its services and its timeline. */
export type MaintenanceWithTimeline = Maintenance & Timeline<MaintenanceStatus>

/** Limits on what is read. The newest update of each timeline is always read, but its body may be missing. */
export interface TimelineBounds {
  readonly form: 'HTML' | 'MARKDOWN'
  /** The maximum number of updates per timeline. */
  readonly updates: number
  /** The maximum size of all bodies together, filled with the newest update of each timeline first. */
  readonly bytes: number
  /** The maximum number of services per timeline. */
  readonly services: number
  /** Bytes that each update counts in addition to its body, per service of its timeline. */
  readonly bytesPerService?: number
  /** The id of an update: only older ones are read. */
  readonly before?: string | null
}

/** Reads the timelines of incidents on a page, in the order of the incidents, with one statement. */
export async function readIncidentTimelines(
  db: Database,
  incidents: readonly Incident[],
  bounds: TimelineBounds,
  scope: Pick<PageScope, 'serviceIds'>,
): Promise<IncidentWithTimeline[]> {
  const timelines = await readTimelines<IncidentStatus>(db, 'Incident', idsOf(incidents), bounds, scope)
  return incidents.map((incident, index) => ({ ...incident, ...(timelines[index] ?? emptyTimeline) }))
}

/** Reads the timelines of maintenances on a page, in the order of the maintenances, with one statement. */
export async function readMaintenanceTimelines(
  db: Database,
  maintenances: readonly Maintenance[],
  bounds: TimelineBounds,
  scope: Pick<PageScope, 'serviceIds'>,
): Promise<MaintenanceWithTimeline[]> {
  const timelines = await readTimelines<MaintenanceStatus>(db, 'Maintenance', idsOf(maintenances), bounds, scope)
  return maintenances.map((maintenance, index) => ({ ...maintenance, ...(timelines[index] ?? emptyTimeline) }))
}

const idsOf = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id)
const emptyTimeline = { updates: [], updateCount: 0, services: [], serviceCount: 0 }

/** The tables and columns of each kind of timeline. */
const tables = {
  Incident: {
    updates: Prisma.raw('"IncidentUpdate"'),
    services: Prisma.raw('"IncidentService"'),
    owner: Prisma.raw('"incidentId"'),
    editedAt: Prisma.raw('update."editedAt"'),
    files:
      Prisma.raw(`(SELECT json_agg(json_build_object('id', id, 'name', name, 'type', type, 'size', size, 'alt', alt,
      'width', width, 'height', height) ORDER BY "createdAt", id) FROM "IncidentFile" WHERE "updateId" = update.id)`),
    status: Prisma.raw('link.status::text'),
  },
  Maintenance: {
    updates: Prisma.raw('"MaintenanceUpdate"'),
    services: Prisma.raw('"MaintenanceService"'),
    owner: Prisma.raw('"maintenanceId"'),
    editedAt: Prisma.raw('NULL::timestamptz'),
    files: Prisma.raw('NULL::json'),
    status: Prisma.raw(`'UNDER_MAINTENANCE'`),
  },
} as const

type TimelineOwner = keyof typeof tables

async function readTimelines<S>(
  db: Database,
  kind: TimelineOwner,
  ids: readonly string[],
  bounds: TimelineBounds,
  scope: Pick<PageScope, 'serviceIds'>,
): Promise<Timeline<S>[]> {
  if (ids.length === 0) return []
  const owners = Prisma.sql`unnest(${[...ids]}::text[]) WITH ORDINALITY AS wanted (id, nth)`
  const [row] = await db.$queryRaw<{ timelines: string }[]>`
    SELECT ${timelinesJson(kind, owners, bounds, shownCondition(scope))}::text AS timelines`
  return timelinesOf<S>(JSON.parse(row?.timelines ?? '[]'), bounds)
}

/** A timeline in JSON. An update: id, status, creation, edit, message, HTML, both in other languages, and files. */
export interface TimelineJson {
  readonly updates: readonly (readonly [
    string,
    string,
    string,
    string | null,
    string | null,
    string | null,
    StoredMessages | null,
    readonly TimelineFile[] | null,
  ])[]
  readonly updateCount: number
  readonly services: readonly { readonly serviceId: string; readonly status: ServiceStatus }[]
  readonly serviceCount: number
}

/** Returns the timelines that `timelinesJson` has read. */
export function timelinesOf<S>(timelines: readonly TimelineJson[], { form }: TimelineBounds): Timeline<S>[] {
  return timelines.map(({ updates, ...timeline }) => ({
    ...timeline,
    updates: updates.map(([id, status, createdAt, editedAt, message, html, others, files]) => {
      const bodies = bodiesOf(others, form)
      return {
        id,
        status: status as S,
        createdAt: new Date(createdAt),
        editedAt: editedAt === null ? null : new Date(editedAt),
        body: message === null || form === 'MARKDOWN' ? message : htmlOf({ message, html }),
        ...(bodies && { bodies }),
        ...(files && { files }),
      }
    }),
  }))
}

/**
 * Returns an SQL expression: the timelines as a JSON array of `TimelineJson`, in order. It reads no more than the
 * bounds allow: neither rows nor bodies.
 * @param owners the incidents or maintenances: an item of a FROM clause with the columns `id` and `nth`, their order.
 * @param shown a condition on the "serviceId" of the services that are named and counted; null: all.
 */
export function timelinesJson(
  kind: TimelineOwner,
  owners: Prisma.Sql,
  { form, updates, bytes, services, bytesPerService = 0, before = null }: TimelineBounds,
  shown: Prisma.Sql | null,
): Prisma.Sql {
  const table = tables[kind]
  const size = form === 'HTML' ? Prisma.sql`coalesce(html, message)` : Prisma.sql`message`
  const extra =
    bytesPerService === 0
      ? Prisma.empty
      : Prisma.sql`+ ${bytesPerService}::int * least(${services}::int,
          (SELECT count(*) FROM ${table.services} WHERE ${table.owner} = parent.id))`
  const older =
    before === null
      ? Prisma.empty
      : Prisma.sql`AND ("createdAt", id) < (SELECT "createdAt", id FROM ${table.updates} WHERE id = ${before})`
  return Prisma.sql`(
    WITH parent AS MATERIALIZED (
      SELECT id, nth FROM ${owners}
    ), newest AS (
      SELECT parent.id AS owner, nth, update.id, size,
        row_number() OVER (PARTITION BY nth ORDER BY update."createdAt" DESC, update.id DESC) AS place
      FROM parent CROSS JOIN LATERAL (
        SELECT id, "createdAt", octet_length(${size}) ${extra}
          + CASE WHEN translations = '{}' THEN 0 ELSE octet_length(translations::text) END AS size FROM ${table.updates}
        WHERE ${table.owner} = parent.id ${older} ORDER BY "createdAt" DESC, id DESC LIMIT ${updates}::int
      ) AS update
    ), sized AS (
      SELECT *, sum(size) OVER (ORDER BY place, nth) <= ${bytes}::int AS fits FROM newest
    ), timeline AS (
      SELECT owner, json_agg(json_build_array(update.id, update.status, update."createdAt", ${table.editedAt},
        CASE WHEN fits THEN message END, CASE WHEN fits AND ${form} = 'HTML' THEN html END,
        CASE WHEN fits AND translations <> '{}' THEN translations END, ${table.files}) ORDER BY place) AS updates
      FROM sized JOIN ${table.updates} AS update ON update.id = sized.id
      WHERE fits OR place = 1 GROUP BY owner
    )
    SELECT coalesce(json_agg(json_build_object(
      'updates', coalesce(timeline.updates, '[]'),
      'updateCount', (SELECT count(*) FROM ${table.updates} WHERE ${table.owner} = parent.id),
      'services', coalesce(affected.services, '[]'), 'serviceCount', coalesce(affected.count, 0)) ORDER BY nth), '[]')
    FROM parent LEFT JOIN timeline ON timeline.owner = parent.id CROSS JOIN LATERAL (
      SELECT json_agg(json_build_object('serviceId', "serviceId", 'status', status) ORDER BY position) AS services,
        max(link.count) AS count
      FROM (
        SELECT "serviceId", ${table.status} AS status, position, count(*) OVER () AS count
        FROM ${table.services} AS link JOIN "Service" ON "Service".id = "serviceId"
        WHERE ${table.owner} = parent.id ${shown === null ? Prisma.empty : Prisma.sql`AND ${shown}`}
        ORDER BY position LIMIT ${services}::int
      ) AS link
    ) AS affected)`
}
