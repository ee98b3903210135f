import type { Context, Database } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'

/**
 * The pseudo-region of kinds that have the same result everywhere. Any worker may probe them, and no region can have
 * this name.
 */
export const ANYWHERE = '*'

/** The time after which a region that has not reported counts as having no workers, in milliseconds. */
const REGION_TIMEOUT_MS = MINUTE

/** Returns whether a region has workers, from the time at which they last reported; null: never. */
export const isLive = (lastSeenAt: Date | null, now: Date): boolean =>
  lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < REGION_TIMEOUT_MS

/** Returns whether any region has workers. */
export async function hasLiveRegion(db: Database, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - REGION_TIMEOUT_MS)
  return (await db.region.count({ where: { lastSeenAt: { gt: since } } })) > 0
}

/** Corrects reports of a time that is still to come, as after the clock was set back: they say nothing about now. */
export async function correctRegions({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await db.region.updateMany({ where: { lastSeenAt: { gt: now() } }, data: { lastSeenAt: now() } })
}

/** Returns the regions that have workers. */
export async function liveRegions({ db, now }: Context): Promise<string[]> {
  const since = new Date(now().getTime() - REGION_TIMEOUT_MS)
  const regions = await db.region.findMany({ where: { lastSeenAt: { gt: since } } })
  return regions.map(({ name }) => name)
}
