import { tierOf } from '../account/tier.ts'
import type { Context, Database } from '../core/context.ts'
import { MINUTE } from '../core/time.ts'
import { insertRows } from '../database/insert-rows.ts'
import { readOnce } from '../event-log/change.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import { isAnywhere } from './probe-kinds.ts'
import { enoughKnownAt, freshUntil, scheduleOf } from './staleness.ts'

/**
 * The pseudo-region of kinds that give the same result everywhere: any worker may probe them, and no worker can have
 * this name.
 */
export const ANYWHERE = '*'

/** A region without a sign of life for this long, in milliseconds, has no workers. */
const REGION_TIMEOUT_MS = MINUTE

/** Returns whether any region has workers. */
export async function hasLiveRegion(db: Database, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - REGION_TIMEOUT_MS)
  return (await db.region.count({ where: { lastSeenAt: { gt: since } } })) > 0
}

/**
 * Replaces the watches of a monitor by new ones in every region with workers; earlier results no longer count.
 * @param dueAt when they are first due: now, or (null) not until something sets it.
 */
export async function resetWatches(
  ctx: Context,
  monitor: Pick<Monitor, 'id'>,
  anywhere: boolean,
  dueAt: Date | null = ctx.now(),
): Promise<void> {
  await deleteWatches(ctx, monitor)
  await ctx.db.watch.createMany({ data: await watchesOf(ctx, monitor, anywhere, dueAt) })
}

/** Creates the watches of new monitors, in every region with workers. A job can be late only after its first report. */
export async function createFirstWatches(
  ctx: Context,
  monitors: readonly Pick<Monitor, 'id' | 'kind'>[],
): Promise<void> {
  const due = ctx.now()
  const data = await Promise.all(
    monitors.map(({ id, kind }) => watchesOf(ctx, { id }, isAnywhere(kind), kind === 'HEARTBEAT' ? null : due)),
  )
  await insertRows(ctx.db, 'Watch', data.flat())
}

async function watchesOf(ctx: Context, { id: monitorId }: Pick<Monitor, 'id'>, anywhere: boolean, dueAt: Date | null) {
  const stateSince = ctx.now()
  const regions = anywhere ? [ANYWHERE] : await readOnce(ctx, 'regions', () => liveRegions(ctx))
  return regions.map((region) => ({ id: watchId(monitorId, region), monitorId, region, dueAt, stateSince }))
}

async function liveRegions({ db, now }: Context): Promise<string[]> {
  const since = new Date(now().getTime() - REGION_TIMEOUT_MS)
  const regions = await db.region.findMany({ where: { lastSeenAt: { gt: since } } })
  return regions.map(({ name }) => name)
}

/** Deletes the watches of a monitor; a running probe is discarded. */
export async function deleteWatches(ctx: Context, { id }: Pick<Monitor, 'id'>): Promise<void> {
  await writeFinalGap(ctx, id)
  await ctx.db.watch.deleteMany({ where: { monitorId: id } })
}

/** Writes a gap when the monitor is stale: its watches, which say so, are about to be deleted. */
async function writeFinalGap(ctx: Context, monitorId: string): Promise<void> {
  const { db, now } = ctx
  const endedAt = now()
  const watches = await db.watch.findMany({ where: { monitorId, lastKnownAt: { not: null } } })
  if (watches.length === 0) return
  const monitor = await db.monitor.findUniqueOrThrow({ where: { id: monitorId } })
  if (enoughKnownAt(watches, monitor.agreement) === null) return
  const schedule = scheduleOf(monitor, await tierOf(ctx, monitor.organizationId))
  const startedAt = monitor.unknownSince ?? freshUntil(watches, { ...monitor, schedule }, endedAt)
  if (startedAt === null || startedAt >= endedAt) return
  await db.monitorGap.createMany({ data: { monitorId, startedAt, endedAt }, skipDuplicates: true })
}

/** Returns the id of a monitor's watch in a region. */
export function watchId(monitorId: string, region: string): string {
  return `${monitorId}@${region}`
}
