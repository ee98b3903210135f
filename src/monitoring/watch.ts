import type { Context } from '../context.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import { MINUTE } from '../time.ts'
import { rhythmOf, silentSince } from './vouching.ts'

/** The region of kinds that look the same from everywhere: any worker may probe them. No worker can be in it. */
export const ANYWHERE = '*'

/** A region whose workers have not been seen for so long has none. */
export const REGION_GONE = MINUTE

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
  const now = ctx.now()
  const regions = anywhere
    ? [ANYWHERE]
    : (await ctx.db.region.findMany({ where: { lastSeenAt: { gt: new Date(now.getTime() - REGION_GONE) } } })).map(
        ({ name }) => name,
      )
  await closeWatches(ctx, monitor)
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

/** Has a monitor watched no longer; a probe that is under way then counts for nothing. */
export async function closeWatches(ctx: Context, { id }: Pick<Monitor, 'id'>): Promise<void> {
  await keepSilence(ctx, id)
  await ctx.db.watch.deleteMany({ where: { monitorId: id } })
}

/** Writes it down when nothing has been known of a monitor lately: once its watches are gone, nothing tells. */
async function keepSilence({ db, now }: Context, monitorId: string): Promise<void> {
  const endedAt = now()
  const monitor = await db.monitor.findUnique({
    where: { id: monitorId },
    select: {
      intervalSeconds: true,
      timeoutMs: true,
      options: true,
      organization: { select: { tier: true } },
      watches: { where: { lastKnownAt: { not: null } }, orderBy: { lastKnownAt: 'desc' }, take: 1 },
    },
  })
  const lastKnownAt = monitor?.watches[0]?.lastKnownAt
  if (!monitor || !lastKnownAt) return
  const startedAt = silentSince(rhythmOf(monitor, monitor.organization.tier), lastKnownAt, endedAt)
  if (startedAt) await db.monitorGap.createMany({ data: { monitorId, startedAt, endedAt }, skipDuplicates: true })
}

/** The id of the watch of a monitor from a region. */
export function watchId(monitorId: string, region: string): string {
  return `${monitorId}@${region}`
}
