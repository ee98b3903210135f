import { correctErasureTimes } from '../account/organization/erasure.ts'
import { correctFollowUpTimes } from '../alerting/follow-up.ts'
import type { Context } from '../core/context.ts'
import type { DueTimes } from '../database/lease/set-back.ts'
import { moveDueTimes, RECORD_MS, recordTime } from '../database/lease/set-back.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { correctRegions } from '../monitoring/watch/live-region.ts'

/**
 * The due times that can be moved: whoever does the work finds out again whether it is due. Not those of heartbeats,
 * which would count as missed; `monitoring/schedule/reconcile-watches.ts` corrects them.
 */
export const movedDueTimes: readonly DueTimes[] = [
  {
    table: 'Watch',
    dueColumn: 'dueAt',
    where: Prisma.sql`"monitorId" NOT IN (SELECT id FROM "Monitor" WHERE kind = 'HEARTBEAT')`,
  },
  { table: 'Delivery', dueColumn: 'dueAt' },
  { table: 'PushDelivery', dueColumn: 'dueAt' },
  { table: 'Alert', dueColumn: 'dueAt' },
  { table: 'AlertDelivery', dueColumn: 'dueAt' },
  { table: 'Integration', dueColumn: 'dueAt' },
  { table: 'IncomingBody', dueColumn: 'retryAt' },
  { table: 'Objective', dueColumn: 'dueAt' },
  { table: 'Maintenance', dueColumn: 'dueAt' },
  { table: 'MaintenanceSeries', dueColumn: 'dueAt' },
  { table: 'CustomDomain', dueColumn: 'dueAt' },
  { table: 'CheckPlanInvoice', dueColumn: 'dueAt' },
  { table: 'Organization', dueColumn: 'checkPlanReminderAt' },
]

/**
 * Records the time. If the clock was set back since the last record, corrects the due times and leases that were written
 * before: no work waits for the wrong time. Returns the milliseconds until the next record.
 */
export async function watchClock(ctx: Context): Promise<number> {
  const setBackMs = await recordTime(ctx, async (tx, ms) => {
    for (const dueTimes of movedDueTimes) await moveDueTimes(tx, dueTimes, ms)
    await correctErasureTimes(tx)
    await correctFollowUpTimes(tx)
    await correctRegions(tx)
  })
  if (setBackMs !== null) {
    const seconds = Math.round(setBackMs / 1000)
    ctx.log.warn({ seconds }, 'background: the clock was set back; work that was due by the wrong time is due sooner')
  }
  return RECORD_MS
}
