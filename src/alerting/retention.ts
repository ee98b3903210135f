import type { Context } from '../core/context.ts'
import { DAY } from '../core/time.ts'

/** How long alerts that are over and deliveries that have ended are kept. */
const RETENTION = 30 * DAY
const BATCH = 5000

/** Deletes a batch of old alerts and deliveries. Returns whether there may be more. */
export async function deleteOldAlerts({ db, now }: Pick<Context, 'db' | 'now'>): Promise<boolean> {
  const before = new Date(now().getTime() - RETENTION)
  const deliveries = await db.$executeRaw`
    DELETE FROM "AlertDelivery" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "AlertDelivery" WHERE "endedAt" < ${before} LIMIT ${BATCH}))`
  const alerts = await db.$executeRaw`
    DELETE FROM "Alert" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Alert" WHERE "endedAt" < ${before} AND "dueAt" IS NULL LIMIT ${BATCH}))`
  return Math.max(deliveries, alerts) >= BATCH
}
