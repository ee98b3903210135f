import type { Context } from '../core/context.ts'
import { validIdOrEmpty } from '../core/id.ts'
import { invalid } from '../core/validation.ts'
import type { Monitor, Prisma } from '../generated/prisma/client.ts'
import { notFound, requireDistinct } from '../status/ownership.ts'
import { heartbeatLateAt } from './heartbeat.ts'
import type { NamedParent } from './staleness-change.ts'

/** The Prisma selection of the monitors on which one depends, as `judgeDependency` needs them. */
export const parentsSelect = {
  select: {
    parent: {
      select: {
        id: true,
        name: true,
        kind: true,
        state: true,
        stateSince: true,
        blockedSince: true,
        watches: { select: { lastKnownAt: true, lastOutcome: true } },
      },
    },
  },
  orderBy: { parentId: 'asc' },
} satisfies Prisma.Monitor$dependenciesArgs

/** Reads the name of a monitor's service (null: it has none), on which monitors it depends, and how many depend on it. */
export async function readRelations(
  { db }: Pick<Context, 'db'>,
  { id: monitorId, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
): Promise<{ service: string | null; parents: NamedParent[]; dependents: number }> {
  // A row per parent, or one of nulls.
  const rows = await db.$queryRaw<(NamedParent & { service: string | null; dependents: number })[]>`
    SELECT parent.id, parent.name, parent.state, parent."stateSince", parent."blockedSince",
      (SELECT name FROM "Service" WHERE id = ${serviceId}) AS service,
      (SELECT count(*)::int FROM "MonitorDependency" WHERE "parentId" = ${monitorId}) AS dependents
    FROM (VALUES (${monitorId})) AS child (id)
    LEFT JOIN "MonitorDependency" AS dependency ON dependency."monitorId" = child.id
    LEFT JOIN "Monitor" AS parent ON parent.id = dependency."parentId"
    ORDER BY parent.id`
  const parents = rows.filter(({ id }) => id !== null).map(({ service: _, dependents: __, ...parent }) => parent)
  return { service: rows[0]?.service ?? null, parents, dependents: rows[0]?.dependents ?? 0 }
}

/**
 * Sets on which monitors one depends, in the transaction of a change. Returns whether that changed.
 * @throws NotFound when the organization has no such monitor, and Invalid for repetitions and cycles.
 */
export async function setParents(
  { db }: Context,
  { id, organizationId }: Pick<Monitor, 'id' | 'organizationId'>,
  parentIds: readonly string[],
): Promise<boolean> {
  requireDistinct(parentIds, (index) => ['dependsOnIds', index])
  const before = await db.monitorDependency.findMany({ where: { monitorId: id }, select: { parentId: true } })
  const known = new Set(before.map(({ parentId }) => parentId))
  if (known.size === parentIds.length && parentIds.every((each) => known.has(each))) return false
  const own = await db.monitor.count({ where: { organizationId, id: { in: parentIds.map(validIdOrEmpty) } } })
  if (own !== parentIds.length) throw notFound('Monitor')
  await requireNoCycle({ db }, id, parentIds)
  await db.monitorDependency.deleteMany({ where: { monitorId: id } })
  await db.monitorDependency.createMany({ data: parentIds.map((parentId) => ({ monitorId: id, parentId })) })
  return true
}

/** @throws Invalid when a monitor would depend on itself, through others or at once. */
async function requireNoCycle({ db }: Pick<Context, 'db'>, id: string, parentIds: readonly string[]): Promise<void> {
  const found = await db.$queryRaw<{ start: string }[]>`
    WITH RECURSIVE above AS (
      SELECT each AS start, each AS id FROM unnest(${[...parentIds]}::text[]) AS each
      UNION SELECT above.start, dependency."parentId" FROM above
        JOIN "MonitorDependency" AS dependency ON dependency."monitorId" = above.id
    ) SELECT start FROM above WHERE id = ${id}`
  const starts = new Set(found.map(({ start }) => start))
  const message = 'must not depend on this monitor'
  const issues = parentIds.flatMap((each, index) =>
    starts.has(each) ? [{ path: ['dependsOnIds', String(index)], message }] : [],
  )
  if (issues.length > 0) throw invalid(issues)
}

/**
 * Forgets what the watches of a monitor found while a parent was down, and probes it now: its state is unknown until they have
 * judged anew.
 */
export async function unblock(tx: Context, monitor: Monitor): Promise<void> {
  const { db } = tx
  const now = tx.now()
  await db.monitor.update({ where: { id: monitor.id }, data: { blockedSince: null, heldSince: null } })
  const where = { monitorId: monitor.id }
  await db.watch.updateMany({ where, data: { state: 'PENDING', stateSince: now, recent: [], stability: {} } })
  // A job gets another interval; one that has never reported is not awaited.
  const dueAt = monitor.kind === 'HEARTBEAT' ? await heartbeatLateAt(tx, monitor, now) : now
  await db.watch.updateMany({ where: { ...where, dueAt: { not: null } }, data: { dueAt } })
}

/** Makes monitors due now. Leaves alone a watch whose result is being written: it has been probed just now. */
export async function probeNow({ db, now }: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<void> {
  await db.$executeRaw`
    UPDATE "Watch" SET "dueAt" = ${now()} WHERE id IN (
      SELECT id FROM "Watch" WHERE "monitorId" = ANY(${[...ids]}::text[]) AND "dueAt" > ${now()} FOR UPDATE SKIP LOCKED)`
}
