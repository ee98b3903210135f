import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import { DAY } from '../core/time.ts'

/** How long finished deliveries and ended alerts are kept. Reports count the alerts of the last two months. */
const DELIVERY_RETENTION = 30 * DAY
const ALERT_RETENTION = 100 * DAY

/** Deletes a batch of old alerts and deliveries. Returns whether there may be more. */
export async function deleteOldAlerts(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const before = (retention: number) => new Date(now().getTime() - retention)
  const deliveries = await db.$executeRaw`
    DELETE FROM "AlertDelivery" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "AlertDelivery" WHERE "endedAt" < ${before(DELIVERY_RETENTION)} LIMIT ${DELETE_BATCH}))`
  const alerts = await db.$executeRaw`
    DELETE FROM "Alert" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Alert" WHERE "endedAt" < ${before(ALERT_RETENTION)} AND "dueAt" IS NULL LIMIT ${DELETE_BATCH}))`
  count('AlertDelivery', deliveries)
  count('Alert', alerts)
  return Math.max(deliveries, alerts) >= DELETE_BATCH
}
