import { tierOf } from '../../account/tier.ts'
import type { Context } from '../../core/context.ts'
import { insertRows } from '../../database/insert-rows.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { readOnce } from '../../event-log/change.ts'
import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import { ANYWHERE, liveRegions } from '../watch/live-region.ts'
import { enoughKnownAt, freshUntil, scheduleOf } from '../watch/staleness.ts'
import { isAnywhere } from './probe-kinds.ts'

/**
 * Replaces the watches of a monitor with new ones in every region with workers. Earlier results no longer count.
 * @param dueAt when the watches are first due; null: not until a due time is set, absent: now.
 */
export async function resetWatches(
  ctx: ChangeContext,
  monitor: Pick<Monitor, 'id' | 'kind'>,
  dueAt: Date | null = ctx.now(),
): Promise<void> {
  await deleteWatches(ctx, monitor)
  await ctx.db.watch.createMany({ data: await watchesOf(ctx, monitor, dueAt) })
}

/** Creates the watches of new monitors in every region with workers. A heartbeat is not due before its first report. */
export async function createFirstWatches(
  ctx: ChangeContext,
  monitors: readonly Pick<Monitor, 'id' | 'kind'>[],
): Promise<void> {
  const due = ctx.now()
  const data = await Promise.all(
    monitors.map((monitor) => watchesOf(ctx, monitor, monitor.kind === 'HEARTBEAT' ? null : due)),
  )
  await insertRows(ctx.db, 'Watch', data.flat())
}

/** Returns the new watches of a monitor. A group has none. */
async function watchesOf(
  ctx: ChangeContext,
  { id: monitorId, kind }: Pick<Monitor, 'id' | 'kind'>,
  dueAt: Date | null,
) {
  if (kind === 'GROUP') return []
  const stateSince = ctx.now()
  const regions = isAnywhere(kind) ? [ANYWHERE] : await readOnce(ctx, 'regions', () => liveRegions(ctx))
  return regions.map((region) => ({ id: watchId(monitorId, region), monitorId, region, dueAt, stateSince }))
}

/** Deletes the watches of a monitor, which discards running probes. */
export async function deleteWatches(ctx: ChangeContext, { id }: Pick<Monitor, 'id'>): Promise<void> {
  await endUnknown(ctx, id)
  await ctx.db.watch.deleteMany({ where: { monitorId: id } })
}

/** Writes a gap until now if the monitor is stale, because that information is lost when its watches are deleted. */
async function endUnknown(ctx: ChangeContext, monitorId: string): Promise<void> {
  const { db, now } = ctx
  const endedAt = now()
  const monitor = await db.monitor.findUniqueOrThrow({ where: { id: monitorId }, include: { watches: true } })
  const startedAt = monitor.kind === 'GROUP' ? monitor.unknownSince : await staleSinceOf(ctx, monitor, endedAt)
  if (startedAt === null || startedAt >= endedAt) return
  await db.monitorGap.createMany({ data: { monitorId, startedAt, endedAt }, skipDuplicates: true })
}

/** Returns when a monitor with watches became stale; null: it is not stale, or its state was never known. */
async function staleSinceOf(ctx: ChangeContext, monitor: Monitor & { readonly watches: readonly Watch[] }, at: Date) {
  const watches = monitor.watches.filter(({ lastKnownAt }) => lastKnownAt !== null)
  if (enoughKnownAt(watches, monitor.agreement) === null) return null
  const schedule = scheduleOf(monitor, await tierOf(ctx, monitor.organizationId))
  return monitor.unknownSince ?? freshUntil(watches, { ...monitor, schedule }, at)
}

/** Returns the id of a monitor's watch in a region. */
export function watchId(monitorId: string, region: string): string {
  return `${monitorId}@${region}`
}

/** Returns the watches of a monitor, ordered by region. */
export function readWatches({ db }: Pick<Context, 'db'>, monitorId: string): Promise<Watch[]> {
  return db.watch.findMany({ where: { monitorId }, orderBy: { region: 'asc' } })
}
