import type { Database } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { Incident } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { typeOfId } from '../id.ts'
import type { IncidentStory, MaintenanceStory } from '../status/story.ts'
import { readIncidentStories, readMaintenanceStories } from '../status/story.ts'
import { bounds } from './bounds.ts'
import type { Month, Zone } from './zone.ts'
import { addMonths, monthOf, startOfMonth } from './zone.ts'

/** An incident or a maintenance, by when it began. */
export type Happening<I = IncidentStory, M = MaintenanceStory> = { readonly at: Date } & (
  | { readonly incident: I }
  | { readonly maintenance: M }
)

/** What began in one month, or one page of it. */
export interface HistoryState {
  readonly month: Month
  /** Newest first. */
  readonly happenings: readonly Happening[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  /** The nearest months in which something began on either side, or the present one; null: there is none. */
  readonly earlier: Month | null
  readonly later: Month | null
}

/** How many incidents and maintenances one page of the history shows. */
const PER_PAGE = 50

/**
 * An organization's incidents and maintenances of a month of its time zone; `month` null: the present one; `number` from 1:
 * which page of it. What is only planned is no history yet.
 * @throws NotFound for a month to come, and for a page that the month does not have.
 */
export async function readHistory(
  db: Database,
  organizationId: string,
  asked: { readonly month: Month | null; readonly number: number },
  at: { readonly now: Date; readonly zone: Zone },
): Promise<HistoryState> {
  const present = monthOf(at.now, at.zone)
  const month = asked.month ?? present
  const begin = startOfMonth(month, at.zone.name)
  const end = startOfMonth(addMonths(month, 1), at.zone.name)
  if (begin > at.now) throw new NotFound('There is no history of times to come.')
  const inMonth = { gte: begin, lt: end, lte: at.now }
  const pages = Math.max(1, Math.ceil((await countHappenings(db, organizationId, inMonth)) / PER_PAGE))
  if (asked.number > pages) throw new NotFound('There is no such page.')
  const before = await nearest(db, organizationId, { lt: begin }, 'desc')
  const after = await nearest(db, organizationId, { gte: end, lte: at.now }, 'asc')
  return {
    month,
    happenings: await readHappenings(db, organizationId, inMonth, asked.number),
    page: asked.number,
    pages,
    earlier: before && monthOf(before, at.zone),
    later: after ? monthOf(after, at.zone) : end <= at.now ? present : null,
  }
}

const incidentsBegun = (organizationId: string, startedAt: Prisma.DateTimeFilter) => ({ organizationId, startedAt })
const maintenancesBegun = (organizationId: string, startsAt: Prisma.DateTimeFilter) =>
  ({ organizationId, startsAt, status: { not: 'SCHEDULED' } }) satisfies Prisma.MaintenanceWhereInput

async function countHappenings(db: Database, organizationId: string, time: Prisma.DateTimeFilter): Promise<number> {
  const incidents = await db.incident.count({ where: incidentsBegun(organizationId, time) })
  return incidents + (await db.maintenance.count({ where: maintenancesBegun(organizationId, time) }))
}

/** When something began that is the first of a time in an order; null: nothing did. */
async function nearest(
  db: Database,
  organizationId: string,
  time: Prisma.DateTimeFilter,
  order: 'asc' | 'desc',
): Promise<Date | null> {
  const incident = await db.incident.findFirst({
    where: incidentsBegun(organizationId, time),
    select: { startedAt: true },
    orderBy: { startedAt: order },
  })
  const maintenance = await db.maintenance.findFirst({
    where: maintenancesBegun(organizationId, time),
    select: { startsAt: true },
    orderBy: { startsAt: order },
  })
  const times = [incident?.startedAt, maintenance?.startsAt].flatMap((each) => each ?? [])
  const sorted = times.sort((one, other) => one.getTime() - other.getTime())
  return sorted.at(order === 'asc' ? 0 : -1) ?? null
}

/** One page of what began in a time, newest first. Which ones it has takes both tables at once, and so SQL. */
async function readHappenings(
  db: Database,
  organizationId: string,
  { gte, lt, lte }: { readonly gte: Date; readonly lt: Date; readonly lte: Date },
  number: number,
): Promise<Happening[]> {
  const within = (column: string) => {
    const time = Prisma.raw(`"${column}"`)
    return Prisma.sql`"organizationId" = ${organizationId} AND ${time} >= ${gte} AND ${time} < ${lt} AND ${time} <= ${lte}`
  }
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id, "startedAt" AS at FROM "Incident" WHERE ${within('startedAt')}
    UNION ALL
    SELECT id, "startsAt" FROM "Maintenance" WHERE ${within('startsAt')} AND status <> 'SCHEDULED'
    ORDER BY at DESC, id DESC LIMIT ${PER_PAGE} OFFSET ${(number - 1) * PER_PAGE}`
  const ids = rows.map(({ id }) => id)
  const of = { where: { id: { in: ids } } }
  const incidents = await readIncidentStories(db, await db.incident.findMany(of), bounds.history.incidents)
  const maintenances = await readMaintenanceStories(db, await db.maintenance.findMany(of), bounds.history.maintenances)
  const read = new Map<string, Happening>([
    ...incidents.map((incident) => [incident.id, { at: incident.startedAt, incident }] as const),
    ...maintenances.map((maintenance) => [maintenance.id, { at: maintenance.startsAt, maintenance }] as const),
  ])
  return ids.flatMap((id) => read.get(id) ?? [])
}

/** An incident of an organization, without its story. @throws NotFound when the organization has no such incident. */
export async function findIncident(db: Database, organizationId: string, id: string): Promise<Incident> {
  const found = typeOfId(id) === 'Incident' ? await db.incident.findUnique({ where: { id, organizationId } }) : null
  if (!found) throw new NotFound('There is no such incident.')
  return found
}

/**
 * An incident of an organization with one page of its timeline: the newest of what was said, or of what was said before the
 * entry with the id `before`.
 * @throws NotFound when the organization has no such incident, or nothing was said before.
 */
export async function readIncident(
  db: Database,
  organizationId: string,
  id: string,
  before: string | null,
): Promise<IncidentStory> {
  const incident = await findIncident(db, organizationId, id)
  const possible = before === null || typeOfId(before) === 'IncidentUpdate'
  const [story] = possible ? await readIncidentStories(db, [incident], { ...bounds.incident, before }) : []
  if (!story || (before !== null && story.updates.length === 0)) throw new NotFound('There is no such page.')
  return story
}

/** Whether something was said before the oldest entry that a story has. */
export async function hasOlder(db: Database, { id, updates }: IncidentStory): Promise<boolean> {
  const oldest = updates.at(-1)
  if (oldest === undefined) return false
  const { createdAt } = oldest
  const older = { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: oldest.id } }] }
  return (await db.incidentUpdate.findFirst({ where: { incidentId: id, ...older }, select: { id: true } })) !== null
}
