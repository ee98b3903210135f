import type { Database } from '../core/context.ts'
import { htmlOf } from '../core/markdown-rendering.ts'
import type { Incident, Maintenance } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'

/** An update of a timeline, as read. */
export interface TimelineUpdate<S> {
  readonly id: string
  readonly status: S
  readonly createdAt: Date
  readonly editedAt: Date | null
  /** The message in the requested form; empty: none; null: beyond the limit of `TimelineBounds.bytes`. */
  readonly body: string | null
}

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

/** Reads the timelines of incidents, in the order of the incidents, with three statements. */
export async function readIncidentTimelines(
  db: Database,
  incidents: readonly Incident[],
  bounds: TimelineBounds,
): Promise<IncidentWithTimeline[]> {
  const timelines = await readTimelines<IncidentStatus>(db, 'Incident', idsOf(incidents), bounds)
  return incidents.map((incident, index) => ({ ...incident, ...(timelines[index] ?? emptyTimeline) }))
}

/** Reads the timelines of maintenances, in the order of the maintenances, with three statements. */
export async function readMaintenanceTimelines(
  db: Database,
  maintenances: readonly Maintenance[],
  bounds: TimelineBounds,
): Promise<MaintenanceWithTimeline[]> {
  const timelines = await readTimelines<MaintenanceStatus>(db, 'Maintenance', idsOf(maintenances), bounds)
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
    editedAt: Prisma.raw('entry."editedAt"'),
    status: Prisma.raw('link.status::text'),
  },
  Maintenance: {
    updates: Prisma.raw('"MaintenanceUpdate"'),
    services: Prisma.raw('"MaintenanceService"'),
    owner: Prisma.raw('"maintenanceId"'),
    editedAt: Prisma.raw('NULL::timestamptz'),
    status: Prisma.raw(`'UNDER_MAINTENANCE'`),
  },
} as const

type TimelineOwner = keyof typeof tables

async function readTimelines<S>(
  db: Database,
  kind: TimelineOwner,
  ids: readonly string[],
  bounds: TimelineBounds,
): Promise<Timeline<S>[]> {
  if (ids.length === 0) return []
  const entries = byOwner(await readUpdates<S>(db, kind, ids, bounds))
  const counts = new Map((await countUpdates(db, kind, ids)).map(({ owner, count }) => [owner, count]))
  const services = byOwner(await readServices(db, kind, ids, bounds.services))
  return ids.map((id) => ({
    updates: (entries.get(id) ?? []).map(({ owner: _, message, html, ...entry }) => ({
      ...entry,
      body: message === null || bounds.form === 'MARKDOWN' ? message : htmlOf({ message, html }),
    })),
    updateCount: counts.get(id) ?? 0,
    services: (services.get(id) ?? []).map(({ serviceId, status }) => ({ serviceId, status })),
    serviceCount: services.get(id)?.[0]?.count ?? 0,
  }))
}

function byOwner<T extends { readonly owner: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const known = groups.get(row.owner)
    if (known) known.push(row)
    else groups.set(row.owner, [row])
  }
  return groups
}

interface UpdateRow<S> extends Omit<TimelineUpdate<S>, 'body'> {
  readonly owner: string
  readonly message: string | null
  readonly html: string | null
}

/** Reads no more than the bounds allow: neither rows nor bodies. */
function readUpdates<S>(
  db: Database,
  kind: TimelineOwner,
  ids: readonly string[],
  { form, updates, bytes, services, bytesPerService = 0, before = null }: TimelineBounds,
): Promise<UpdateRow<S>[]> {
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
  return db.$queryRaw<UpdateRow<S>[]>`
    WITH newest AS (
      SELECT parent.id AS owner, nth, entry.id, size,
        row_number() OVER (PARTITION BY nth ORDER BY entry."createdAt" DESC, entry.id DESC) AS place
      FROM unnest(${[...ids]}::text[]) WITH ORDINALITY AS parent(id, nth) CROSS JOIN LATERAL (
        SELECT id, "createdAt", octet_length(${size}) ${extra} AS size FROM ${table.updates}
        WHERE ${table.owner} = parent.id ${older} ORDER BY "createdAt" DESC, id DESC LIMIT ${updates}::int
      ) AS entry
    ), sized AS (
      SELECT *, sum(size) OVER (ORDER BY place, nth) <= ${bytes}::int AS fits FROM newest
    )
    SELECT owner, entry.id, entry.status::text, entry."createdAt", ${table.editedAt} AS "editedAt",
      CASE WHEN fits THEN message END AS message, CASE WHEN fits AND ${form} = 'HTML' THEN html END AS html
    FROM sized JOIN ${table.updates} AS entry ON entry.id = sized.id
    WHERE fits OR place = 1 ORDER BY nth, place`
}

function countUpdates(db: Database, kind: TimelineOwner, ids: readonly string[]) {
  const { updates, owner } = tables[kind]
  return db.$queryRaw<{ owner: string; count: number }[]>`
    SELECT ${owner} AS owner, count(*)::int AS count FROM ${updates} WHERE ${owner} = ANY(${[...ids]}::text[]) GROUP BY 1`
}

function readServices(db: Database, kind: TimelineOwner, ids: readonly string[], limit: number) {
  const table = tables[kind]
  return db.$queryRaw<{ owner: string; serviceId: string; status: ServiceStatus; count: number }[]>`
    SELECT parent.id AS owner, affected."serviceId", affected.status, affected.count
    FROM unnest(${[...ids]}::text[]) AS parent(id) CROSS JOIN LATERAL (
      SELECT "serviceId", ${table.status} AS status, position, (count(*) OVER ())::int AS count
      FROM ${table.services} AS link JOIN "Service" ON "Service".id = "serviceId"
      WHERE ${table.owner} = parent.id ORDER BY position LIMIT ${limit}::int
    ) AS affected ORDER BY affected.position`
}
