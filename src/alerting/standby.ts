import { SECOND } from '../core/time.ts'
import type { LeasedWorker } from '../database/lease/leased-worker.ts'
import { hasLiveRegion } from '../monitoring/watch/live-region.ts'
import type { Dispatcher } from '../notification/delivery/dispatcher.ts'
import type { AlertWorkContext } from './context.ts'
import { followUpAlerts } from './follow-up.ts'

/** How often an instance without the worker role checks for a running worker, and how often it stands in while there is none. */
const CHECK_INTERVAL = 30 * SECOND
const WORK_INTERVAL = 5 * SECOND

interface StandbyParts {
  readonly ctx: AlertWorkContext
  /** A dispatcher that was not started, and whose events become alerts. */
  readonly dispatcher: Pick<Dispatcher, 'wake' | 'idle'>
  /** Workers that were not started; this function polls them. */
  readonly workers: readonly Pick<LeasedWorker, 'poll' | 'idle'>[]
}

/**
 * Dispatches, follows up and sends alerts while no worker is running, so that the alert about the missing worker (WORKER_SILENT)
 * reaches the team. The staleness job, which every instance runs, detects that no worker is running. Leases and the dispatcher's
 * lock keep several instances and a returning worker from sending twice. Notifications to subscribers are created, but wait for a
 * worker.
 * @returns the milliseconds until the next run.
 */
export async function standInForWorkers({ ctx, dispatcher, workers }: StandbyParts): Promise<number> {
  if (await hasLiveRegion(ctx.db, ctx.now())) return CHECK_INTERVAL
  dispatcher.wake(null)
  await dispatcher.idle()
  await followUpAlerts(ctx)
  for (const worker of workers) {
    await worker.poll()
    await worker.idle()
  }
  return WORK_INTERVAL
}
