import type { Database } from '../context.ts'
import type { Incident, Maintenance } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import { htmlOf } from '../rendering.ts'

/** An entry of a timeline as it is read. */
export interface Entry<S> {
  readonly id: string
  readonly status: S
  readonly createdAt: Date
  readonly editedAt: Date | null
  /** What it says, in the form that was asked for; empty: nothing. null: it is beyond what is read at once. */
  readonly said: string | null
}

/** The newest of what was said, and the services it is about: as much as was asked for, and how much there is. */
export interface Story<S> {
  /** Newest first. */
  readonly updates: readonly Entry<S>[]
  readonly updateCount: number
  /** In the page's order. */
  readonly services: readonly { readonly serviceId: string; readonly status: ServiceStatus }[]
  readonly serviceCount: number
}

/** An incident with its services and its timeline. */
export type IncidentStory = Incident & Story<IncidentStatus>

/** A maintenance with its services and its timeline. */
export type MaintenanceStory = Maintenance & Story<MaintenanceStatus>

/** How much of stories is read. The newest entry of each is always there, though it may not say anything. */
export interface StoryBounds {
  readonly form: 'HTML' | 'MARKDOWN'
  /** Entries of each. */
  readonly updates: number
  /** What the entries of all say together, the newest of each first. */
  readonly bytes: number
  /** Services of each. */
  readonly services: number
  /** What an entry costs beside what it says, for each service of its story. */
  readonly bytesPerService?: number
  /** The id of an entry: only those before it are read. */
  readonly before?: string | null
}

/** The stories of incidents, in their order: three statements for any number. */
export async function readIncidentStories(
  db: Database,
  incidents: readonly Incident[],
  bounds: StoryBounds,
): Promise<IncidentStory[]> {
  const stories = await readStories<IncidentStatus>(db, 'Incident', idsOf(incidents), bounds)
  return incidents.map((incident, index) => ({ ...incident, ...(stories[index] ?? nothing) }))
}

/** The stories of maintenances, in their order: three statements for any number. */
export async function readMaintenanceStories(
  db: Database,
  maintenances: readonly Maintenance[],
  bounds: StoryBounds,
): Promise<MaintenanceStory[]> {
  const stories = await readStories<MaintenanceStatus>(db, 'Maintenance', idsOf(maintenances), bounds)
  return maintenances.map((maintenance, index) => ({ ...maintenance, ...(stories[index] ?? nothing) }))
}

const idsOf = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id)
const nothing = { updates: [], updateCount: 0, services: [], serviceCount: 0 }

/** The tables and columns of what has a story. */
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

type Kind = keyof typeof tables

async function readStories<S>(
  db: Database,
  kind: Kind,
  ids: readonly string[],
  bounds: StoryBounds,
): Promise<Story<S>[]> {
  if (ids.length === 0) return []
  const entries = byOwner(await readEntries<S>(db, kind, ids, bounds))
  const counts = new Map((await countEntries(db, kind, ids)).map(({ owner, count }) => [owner, count]))
  const services = byOwner(await readServices(db, kind, ids, bounds.services))
  return ids.map((id) => ({
    updates: (entries.get(id) ?? []).map(({ owner: _, message, html, ...entry }) => ({
      ...entry,
      said: message === null || bounds.form === 'MARKDOWN' ? message : htmlOf({ message, html }),
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

interface EntryRow<S> extends Omit<Entry<S>, 'said'> {
  readonly owner: string
  readonly message: string | null
  readonly html: string | null
}

/** What does not fit is not read: neither an entry of many, nor what it says. */
function readEntries<S>(
  db: Database,
  kind: Kind,
  ids: readonly string[],
  { form, updates, bytes, services, bytesPerService = 0, before = null }: StoryBounds,
): Promise<EntryRow<S>[]> {
  const table = tables[kind]
  const size = form === 'HTML' ? Prisma.sql`coalesce(html, message)` : Prisma.sql`message`
  const extra =
    bytesPerService === 0
      ? Prisma.empty
      : Prisma.sql`+ ${bytesPerService}::int * least(${services}::int,
          (SELECT count(*) FROM ${table.services} WHERE ${table.owner} = thing.id))`
  const older =
    before === null
      ? Prisma.empty
      : Prisma.sql`AND ("createdAt", id) < (SELECT "createdAt", id FROM ${table.updates} WHERE id = ${before})`
  return db.$queryRaw<EntryRow<S>[]>`
    WITH newest AS (
      SELECT thing.id AS owner, nth, entry.id, size,
        row_number() OVER (PARTITION BY nth ORDER BY entry."createdAt" DESC, entry.id DESC) AS place
      FROM unnest(${[...ids]}::text[]) WITH ORDINALITY AS thing(id, nth) CROSS JOIN LATERAL (
        SELECT id, "createdAt", octet_length(${size}) ${extra} AS size FROM ${table.updates}
        WHERE ${table.owner} = thing.id ${older} ORDER BY "createdAt" DESC, id DESC LIMIT ${updates}::int
      ) AS entry
    ), weighed AS (
      SELECT *, sum(size) OVER (ORDER BY place, nth) <= ${bytes}::int AS fits FROM newest
    )
    SELECT owner, entry.id, entry.status::text, entry."createdAt", ${table.editedAt} AS "editedAt",
      CASE WHEN fits THEN message END AS message, CASE WHEN fits AND ${form} = 'HTML' THEN html END AS html
    FROM weighed JOIN ${table.updates} AS entry ON entry.id = weighed.id
    WHERE fits OR place = 1 ORDER BY nth, place`
}

function countEntries(db: Database, kind: Kind, ids: readonly string[]) {
  const { updates, owner } = tables[kind]
  return db.$queryRaw<{ owner: string; count: number }[]>`
    SELECT ${owner} AS owner, count(*)::int AS count FROM ${updates} WHERE ${owner} = ANY(${[...ids]}::text[]) GROUP BY 1`
}

function readServices(db: Database, kind: Kind, ids: readonly string[], most: number) {
  const table = tables[kind]
  return db.$queryRaw<{ owner: string; serviceId: string; status: ServiceStatus; count: number }[]>`
    SELECT thing.id AS owner, touched."serviceId", touched.status, touched.count
    FROM unnest(${[...ids]}::text[]) AS thing(id) CROSS JOIN LATERAL (
      SELECT "serviceId", ${table.status} AS status, position, (count(*) OVER ())::int AS count
      FROM ${table.services} AS link JOIN "Service" ON "Service".id = "serviceId"
      WHERE ${table.owner} = thing.id ORDER BY position LIMIT ${most}::int
    ) AS touched ORDER BY touched.position`
}
