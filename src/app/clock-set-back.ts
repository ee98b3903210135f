import { accountDueTimes } from '../account/due-times.ts'
import { correctErasureTimes } from '../account/organization/erasure.ts'
import { alertingDueTimes } from '../alerting/due-times.ts'
import { correctFollowUpTimes } from '../alerting/follow-up.ts'
import { billingDueTimes } from '../billing/due-times.ts'
import type { Context } from '../core/context.ts'
import type { DueTimes } from '../database/lease/set-back.ts'
import { moveDueTimes, RECORD_MS, recordTime } from '../database/lease/set-back.ts'
import { integrationDueTimes } from '../integration/due-times.ts'
import { monitoringDueTimes } from '../monitoring/due-times.ts'
import { correctRegions } from '../monitoring/watch/live-region.ts'
import { notificationDueTimes } from '../notification/due-times.ts'
import { statusDueTimes } from '../status/due-times.ts'

/** The due times of all rooms that move with the clock. */
export const movedDueTimes: readonly DueTimes[] = [
  ...monitoringDueTimes,
  ...notificationDueTimes,
  ...alertingDueTimes,
  ...integrationDueTimes,
  ...statusDueTimes,
  ...accountDueTimes,
  ...billingDueTimes,
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
