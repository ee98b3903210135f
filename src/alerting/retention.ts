import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH, uncounted } from '../core/deleted-rows.ts'
import { DAY } from '../core/time.ts'
import { deleteEnded } from '../notification/queue/retention.ts'

/** How long ended alerts are kept. Reports count those of the last two months. */
const ALERT_RETENTION = 100 * DAY

/** Deletes a batch of old alerts and deliveries. Returns whether there may be more. */
export async function deleteOldAlerts(
  { db, now }: Pick<Context, 'db' | 'now'>,
  count: CountDeleted = uncounted,
): Promise<boolean> {
  const deliveries = await deleteEnded({ db, now }, 'AlertDelivery')
  const alerts = await db.$executeRaw`
    DELETE FROM "Alert" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Alert" WHERE "endedAt" < ${new Date(now().getTime() - ALERT_RETENTION)} AND "dueAt" IS NULL LIMIT ${DELETE_BATCH}))`
  count('AlertDelivery', deliveries)
  count('Alert', alerts)
  return Math.max(deliveries, alerts) >= DELETE_BATCH
}
