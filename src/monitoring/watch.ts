import { tierOf } from '../account/tier.ts'
import type { Context, Database } from '../context.ts'
import { readOnce } from '../eventlog/change.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import { MINUTE } from '../time.ts'
import { enoughKnownAt, rhythmOf, unvouchedSince } from './vouching.ts'

/** The region of kinds that look the same from everywhere: any worker may probe them. No worker can be in it. */
export const ANYWHERE = '*'

/** A region whose workers have not been seen for so long has none. */
export const REGION_GONE = MINUTE

/** Whether any worker is there, in whatever region. */
export async function isAnyoneWatching(db: Database, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - REGION_GONE)
  return (await db.region.count({ where: { lastSeenAt: { gt: since } } })) > 0
}

/**
 * Has a monitor watched from every region that has workers; what was found before is forgotten.
 * @param dueAt when it is first due: now, or (null) not before something else says so.
 */
export async function openWatches(
  ctx: Context,
  monitor: Pick<Monitor, 'id'>,
  anywhere: boolean,
  dueAt: Date | null = ctx.now(),
): Promise<void> {
  await closeWatches(ctx, monitor)
  await addWatches(ctx, monitor, anywhere, dueAt)
}

/** Has a monitor that has no watches watched from every region that has workers. */
export async function addWatches(
  ctx: Context,
  monitor: Pick<Monitor, 'id'>,
  anywhere: boolean,
  dueAt: Date | null,
): Promise<void> {
  const now = ctx.now()
  const regions = anywhere ? [ANYWHERE] : await readOnce(ctx, 'regions', () => liveRegions(ctx))
  await ctx.db.watch.createMany({
    data: regions.map((region) => ({
      id: watchId(monitor.id, region),
      monitorId: monitor.id,
      region,
      dueAt,
      stateSince: now,
    })),
  })
}

async function liveRegions({ db, now }: Context): Promise<string[]> {
  const since = new Date(now().getTime() - REGION_GONE)
  const regions = await db.region.findMany({ where: { lastSeenAt: { gt: since } } })
  return regions.map(({ name }) => name)
}

/** Has a monitor watched no longer; a probe that is under way then counts for nothing. */
export async function closeWatches(ctx: Context, { id }: Pick<Monitor, 'id'>): Promise<void> {
  await keepSilence(ctx, id)
  await ctx.db.watch.deleteMany({ where: { monitorId: id } })
}

/** Writes it down when nothing has been known of a monitor lately: once its watches are gone, nothing tells. */
async function keepSilence(ctx: Context, monitorId: string): Promise<void> {
  const { db, now } = ctx
  const endedAt = now()
  const watches = await db.watch.findMany({ where: { monitorId, lastKnownAt: { not: null } } })
  if (watches.length === 0) return
  const monitor = await db.monitor.findUniqueOrThrow({ where: { id: monitorId } })
  if (enoughKnownAt(watches, monitor.agreement) === null) return
  const rhythm = rhythmOf(monitor, await tierOf(ctx, monitor.organizationId))
  const startedAt = monitor.unknownSince ?? unvouchedSince(watches, { ...monitor, rhythm }, endedAt)
  if (startedAt === null || startedAt >= endedAt) return
  await db.monitorGap.createMany({ data: { monitorId, startedAt, endedAt }, skipDuplicates: true })
}

/** The id of the watch of a monitor from a region. */
export function watchId(monitorId: string, region: string): string {
  return `${monitorId}@${region}`
}
