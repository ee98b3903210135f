import type { Database } from '../core/context.ts'
import { NotFound } from '../core/errors.ts'
import { typeOfId } from '../core/id.ts'
import type { Incident, Maintenance } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { PageScope } from '../status/page-scope.ts'
import { concerns, incidentsOnPage, isPublicIncident, onPage, shownCondition } from '../status/page-scope.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline } from '../status/timeline/timeline-reader.ts'
import { readIncidentTimelines, readMaintenanceTimelines } from '../status/timeline/timeline-reader.ts'
import { bounds } from './bounds.ts'
import type { Month, Zone } from './time-format.ts'
import { addMonths, monthOf, startOfMonth } from './time-format.ts'

/** An incident or a maintenance with its start. */
export type HistoryItem<I = IncidentWithTimeline, M = MaintenanceWithTimeline> = { readonly at: Date } & (
  | { readonly incident: I }
  | { readonly maintenance: M }
)

/** One page of the incidents and maintenances that started in a month. */
export interface HistoryState {
  readonly month: Month
  /** Newest first. */
  readonly items: readonly HistoryItem[]
  /** From 1. */
  readonly page: number
  readonly pages: number
  /** The nearest earlier month with an item; null: nothing is older. */
  readonly earlier: Month | null
  /** The nearest later month with an item, or the current month; null for the current month. */
  readonly later: Month | null
}

/** Incidents and maintenances per page of the history. */
const PAGE_SIZE = 50

/**
 * Reads the incidents and maintenances of a page that started in a month of the organization's time zone. Excludes
 * scheduled maintenances. `month` null: the current month; `number`: the page, from 1.
 * @throws NotFound for a future month, and for a page that the month does not have.
 */
export async function readHistory(
  db: Database,
  scope: PageScope,
  request: { readonly month: Month | null; readonly number: number },
  at: { readonly now: Date; readonly zone: Zone },
): Promise<HistoryState> {
  const current = monthOf(at.now, at.zone)
  const month = request.month ?? current
  const begin = startOfMonth(month, at.zone.name)
  const end = startOfMonth(addMonths(month, 1), at.zone.name)
  if (begin > at.now) throw new NotFound('This month is in the future.')
  const { items, before, after } = await readOverview(db, scope, { begin, end, now: at.now })
  const pages = Math.max(1, Math.ceil(items / PAGE_SIZE))
  if (request.number > pages) throw new NotFound('Page not found.')
  return {
    month,
    items: await readItems(db, scope, { gte: begin, lt: end, lte: at.now }, request.number),
    page: request.number,
    pages,
    earlier: before && monthOf(before, at.zone),
    later: after ? monthOf(after, at.zone) : end <= at.now ? current : null,
  }
}

interface HistoryOverview {
  /** The number of items in the span. */
  readonly items: number
  /** The latest start of an item before the span, and the earliest after it up to now, or null. */
  readonly before: Date | null
  readonly after: Date | null
}

/** Counts the items of a span and finds those next to it. Runs one statement. */
async function readOverview(
  db: Database,
  scope: PageScope,
  { begin, end, now }: { readonly begin: Date; readonly end: Date; readonly now: Date },
): Promise<HistoryOverview> {
  const counts = (from: Prisma.Sql, at: Prisma.Sql) =>
    Prisma.sql`(SELECT count(*) FROM ${from} AND ${at} >= ${begin} AND ${at} < ${end} AND ${at} <= ${now})`
  const before = (from: Prisma.Sql, at: Prisma.Sql) => Prisma.sql`(SELECT max(${at}) FROM ${from} AND ${at} < ${begin})`
  const after = (from: Prisma.Sql, at: Prisma.Sql) =>
    Prisma.sql`(SELECT min(${at}) FROM ${from} AND ${at} >= ${end} AND ${at} <= ${now})`
  const incidents = [Prisma.sql`"Incident" WHERE ${belongs('Incident', scope)}`, Prisma.sql`"startedAt"`] as const
  const maintenances = [
    Prisma.sql`"Maintenance" WHERE ${belongs('Maintenance', scope)} AND status <> 'SCHEDULED'`,
    Prisma.sql`"startsAt"`,
  ] as const
  const [found] = await db.$queryRaw<HistoryOverview[]>`
    SELECT (${counts(...incidents)} + ${counts(...maintenances)})::int AS items,
      greatest(${before(...incidents)}, ${before(...maintenances)}) AS before,
      least(${after(...incidents)}, ${after(...maintenances)}) AS after`
  return found ?? { items: 0, before: null, after: null }
}

/** Reads one page of the items of a time span, newest first. Uses SQL because the page is cut across two tables. */
async function readItems(
  db: Database,
  scope: PageScope,
  { gte, lt, lte }: { readonly gte: Date; readonly lt: Date; readonly lte: Date },
  number: number,
): Promise<HistoryItem[]> {
  const within = (of: 'Incident' | 'Maintenance', column: string) => {
    const time = Prisma.raw(`"${column}"`)
    return Prisma.sql`${belongs(of, scope)} AND ${time} >= ${gte} AND ${time} < ${lt} AND ${time} <= ${lte}`
  }
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT id, "startedAt" AS at FROM "Incident" WHERE ${within('Incident', 'startedAt')}
    UNION ALL
    SELECT id, "startsAt" FROM "Maintenance" WHERE ${within('Maintenance', 'startsAt')} AND status <> 'SCHEDULED'
    ORDER BY at DESC, id DESC LIMIT ${PAGE_SIZE} OFFSET ${(number - 1) * PAGE_SIZE}`
  const ids = rows.map(({ id }) => id)
  const of = { where: { id: { in: ids } } }
  const incidents = await readIncidentTimelines(db, await db.incident.findMany(of), bounds.history.incidents, scope)
  const maintenances = await readMaintenanceTimelines(
    db,
    await db.maintenance.findMany(of),
    bounds.history.maintenances,
    scope,
  )
  const read = new Map<string, HistoryItem>([
    ...incidents.map((incident) => [incident.id, { at: incident.startedAt, incident }] as const),
    ...maintenances.map((maintenance) => [maintenance.id, { at: maintenance.startsAt, maintenance }] as const),
  ])
  return ids.flatMap((id) => read.get(id) ?? [])
}

/** Returns an SQL condition for the rows of a table that are on a page. */
function belongs(of: 'Incident' | 'Maintenance', scope: PageScope): Prisma.Sql {
  const isPublic = of === 'Incident' ? Prisma.sql`AND ${isPublicIncident}` : Prisma.empty
  const own = Prisma.sql`"organizationId" = ${scope.organizationId} ${isPublic}`
  const shown = shownCondition(scope)
  return shown === null ? own : Prisma.sql`${own} AND ${concerns(of, Prisma.raw(`"${of}".id`), shown)}`
}

/**
 * Reads an incident of a page without its updates.
 * @throws NotFound.
 */
export async function findIncident(db: Database, scope: PageScope, id: string): Promise<Incident> {
  const found =
    typeOfId(id) === 'Incident' ? await db.incident.findUnique({ where: { id, ...incidentsOnPage(scope) } }) : null
  if (!found) throw new NotFound('Incident not found.')
  return found
}

/** Returns a maintenance of a page, also one that was cancelled. @throws NotFound when the page has no such maintenance. */
export async function findMaintenance(db: Database, scope: PageScope, id: string): Promise<Maintenance> {
  const isId = typeOfId(id) === 'Maintenance'
  const found = isId ? await db.maintenance.findFirst({ where: { id, ...onPage(scope) } }) : null
  if (found === null) throw new NotFound('Maintenance not found.')
  return found
}

/** Returns the id of the incident of a page that another one was merged into, or null. */
export async function readJointIncident(db: Database, scope: PageScope, id: string): Promise<string | null> {
  if (typeOfId(id) !== 'Incident') return null
  const merged = { some: { id, organizationId: scope.organizationId } }
  const found = await db.incident.findFirst({ where: { ...incidentsOnPage(scope), merged }, select: { id: true } })
  return found?.id ?? null
}

/**
 * Reads an incident of a page with one page of its timeline: the newest updates, or the newest before the update with
 * the id `before`.
 * @throws NotFound when the page has no such incident, or no update before `before` exists.
 */
export async function readIncidentPage(
  db: Database,
  scope: PageScope,
  id: string,
  before: string | null,
): Promise<IncidentWithTimeline> {
  const incident = await findIncident(db, scope, id)
  const possible = before === null || typeOfId(before) === 'IncidentUpdate'
  const [timeline] = possible ? await readIncidentTimelines(db, [incident], { ...bounds.incident, before }, scope) : []
  if (!timeline || (before !== null && timeline.updates.length === 0)) throw new NotFound('Page not found.')
  return timeline
}

/**
 * Reads a maintenance of a page with one page of its timeline, as `readIncidentPage` does: also one that was cancelled
 * before it began, because calendars and messages link to it.
 * @throws NotFound when the page has no such maintenance, or no update before `before` exists.
 */
export async function readMaintenancePage(
  db: Database,
  scope: PageScope,
  id: string,
  before: string | null,
): Promise<MaintenanceWithTimeline> {
  const maintenance = await findMaintenance(db, scope, id)
  const possible = before === null || typeOfId(before) === 'MaintenanceUpdate'
  const [timeline] = possible
    ? await readMaintenanceTimelines(db, [maintenance], { ...bounds.maintenance, before }, scope)
    : []
  if (!timeline || (before !== null && timeline.updates.length === 0)) throw new NotFound('Page not found.')
  return timeline
}

/** Returns whether an incident or a maintenance has updates older than those that were read. */
export async function hasOlderUpdates(
  db: Database,
  of: 'Incident' | 'Maintenance',
  { id, updates }: IncidentWithTimeline | MaintenanceWithTimeline,
): Promise<boolean> {
  const oldest = updates.at(-1)
  if (oldest === undefined) return false
  const { createdAt } = oldest
  const older = { OR: [{ createdAt: { lt: createdAt } }, { createdAt, id: { lt: oldest.id } }] }
  const select = { id: true } as const
  const found =
    of === 'Incident'
      ? await db.incidentUpdate.findFirst({ where: { incidentId: id, ...older }, select })
      : await db.maintenanceUpdate.findFirst({ where: { maintenanceId: id, ...older }, select })
  return found !== null
}
