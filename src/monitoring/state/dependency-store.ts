import type { Context } from '../../core/context.ts'
import { validIdOrEmpty } from '../../core/id.ts'
import type { Monitor, Prisma } from '../../generated/prisma/client.ts'
import { notFound, requireDistinct } from '../../status/ownership.ts'
import { services } from '../../status/views.ts'
import { leavesOf } from '../group/group-graph.ts'
import { readGroups } from '../group/group-store.ts'
import { requireNoCycle } from '../group/monitor-cycle.ts'
import { heartbeatLateAt } from '../heartbeat/heartbeat.ts'
import type { Dependency, Parent } from './dependency.ts'
import type { NamedParent } from './staleness-change.ts'

/** The Prisma selection of a monitor's parents that `judgeDependency` needs. */
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

/**
 * Returns the parents of monitors of one organization, by monitor id, with the probed members of parents that are
 * groups. Runs no statement if no parent is a group.
 */
export async function readParents(
  { db }: Pick<Context, 'db'>,
  monitors: readonly (Pick<Monitor, 'id' | 'organizationId'> & {
    readonly parents: readonly (Parent & NamedParent)[]
  })[],
): Promise<Map<string, readonly (Parent & NamedParent)[]>> {
  const [first] = monitors
  const groupIds = monitors.flatMap(({ parents }) => parents.flatMap(({ id, kind }) => (kind === 'GROUP' ? [id] : [])))
  if (first === undefined || groupIds.length === 0) return new Map(monitors.map(({ id, parents }) => [id, parents]))
  const { organizationId } = first
  const groups = await readGroups({ db }, organizationId)
  const leafIds = new Map(groupIds.map((id) => [id, leavesOf(groups, id)]))
  const where = { organizationId, id: { in: [...leafIds.values()].flat() } }
  const leaves = await db.monitor.findMany({ where, select: parentsSelect.select.parent.select })
  const byId = new Map(leaves.map((leaf) => [leaf.id, leaf]))
  const withLeaves = <P extends Parent>(parent: P): P => {
    const own = leafIds.get(parent.id)
    return own ? { ...parent, leaves: own.flatMap((id) => byId.get(id) ?? []) } : parent
  }
  return new Map(monitors.map(({ id, parents }) => [id, parents.map(withLeaves)]))
}

/** Returns the ids of the monitors that a monitor depends on. */
export async function readParentIds({ db }: Pick<Context, 'db'>, monitorId: string): Promise<string[]> {
  const found = await db.monitorDependency.findMany({ where: { monitorId }, orderBy: { parentId: 'asc' } })
  return found.map(({ parentId }) => parentId)
}

/**
 * Reads the name of a monitor's service (null: it has none), its parents, and the number of monitors that depend on it.
 */
export async function readRelations(
  { db }: Pick<Context, 'db'>,
  { id: monitorId, serviceId }: Pick<Monitor, 'id' | 'serviceId'>,
): Promise<{ service: string | null; parents: NamedParent[]; dependents: number }> {
  // One row per parent, or a single row of nulls.
  const rows = await db.$queryRaw<(NamedParent & { service: string | null; dependents: number })[]>`
    SELECT parent.id, parent.name, parent.state, parent."stateSince", parent."blockedSince",
      (SELECT name FROM ${services} AS services WHERE id = ${serviceId}) AS service,
      (SELECT count(*)::int FROM "MonitorDependency" WHERE "parentId" = ${monitorId}) AS dependents
    FROM (VALUES (${monitorId})) AS child (id)
    LEFT JOIN "MonitorDependency" AS dependency ON dependency."monitorId" = child.id
    LEFT JOIN "Monitor" AS parent ON parent.id = dependency."parentId"
    ORDER BY parent.id`
  const parents = rows.filter(({ id }) => id !== null).map(({ service: _, dependents: __, ...parent }) => parent)
  return { service: rows[0]?.service ?? null, parents, dependents: rows[0]?.dependents ?? 0 }
}

/**
 * Sets the parents of a monitor within the transaction of a change. Returns whether they changed.
 * @throws NotFound for unknown monitors, and Invalid for duplicates and cycles.
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
  await requireNoCycle({ db }, { id, organizationId }, parentIds, ['dependsOnIds'])
  await db.monitorDependency.deleteMany({ where: { monitorId: id } })
  await db.monitorDependency.createMany({ data: parentIds.map((parentId) => ({ monitorId: id, parentId })) })
  return true
}

/**
 * Clears the watch results of a monitor and makes it due now, after its parents recovered. Its state stays unknown
 * until its watches have a new state.
 */
async function unblock(tx: Context, monitor: Monitor): Promise<void> {
  const { db } = tx
  const now = tx.now()
  await db.monitor.update({ where: { id: monitor.id }, data: { blockedSince: null, heldSince: null } })
  const where = { monitorId: monitor.id }
  await db.watch.updateMany({ where, data: { state: 'PENDING', stateSince: now, recent: [], stability: {} } })
  // A heartbeat gets another interval, unless its job has never sent a heartbeat.
  const dueAt = monitor.kind === 'HEARTBEAT' ? await heartbeatLateAt(tx, monitor, now) : now
  await db.watch.updateMany({ where: { ...where, dueAt: { not: null } }, data: { dueAt } })
}

/** Makes monitors due now. Skips watches whose results are being written, because those were just probed. */
export async function probeNow({ db, now }: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<void> {
  await db.$executeRaw`
    UPDATE "Watch" SET "dueAt" = ${now()} WHERE id IN (
      SELECT id FROM "Watch" WHERE "monitorId" = ANY(${[...ids]}::text[]) AND "dueAt" > ${now()} FOR UPDATE SKIP LOCKED)`
}

/** Writes the new effect of the parents on a monitor, within the transaction of a change. */
export async function writeDependency(tx: Context, monitor: Monitor, dependency: Dependency): Promise<void> {
  if (dependency.kind === 'FREE' && monitor.blockedSince !== null) return unblock(tx, monitor)
  const since = dependency.kind === 'FREE' ? null : dependency.since
  const isBlocked = dependency.kind === 'BLOCKED'
  const data = { blockedSince: isBlocked ? since : null, heldSince: isBlocked ? null : since }
  await tx.db.monitor.update({ where: { id: monitor.id }, data })
}
