import type pg from 'pg'
import { SECOND } from '../core/time.ts'
import type { LeasedWorker } from '../database/lease/leased-worker.ts'
import { hasLiveRegion } from '../monitoring/watch/live-region.ts'
import { dispatch, findUndispatched } from '../notification/delivery/dispatch.ts'
import type { AlertWorkContext } from './context.ts'
import { dispatchAlerts } from './dispatch-alerts.ts'
import { followUpAlerts } from './follow-up.ts'

/** How often an instance without the worker role checks for a running worker, and how often it stands in while there is none. */
const CHECK_INTERVAL = 30 * SECOND
const WORK_INTERVAL = 5 * SECOND

interface StandbyParts {
  readonly ctx: AlertWorkContext
  readonly pool: Pick<pg.Pool, 'query'>
  /** Workers that were not started; this function polls them. */
  readonly workers: readonly Pick<LeasedWorker, 'poll' | 'idle'>[]
}

/**
 * Dispatches, follows up and sends alerts while no worker is running, so that the alert about exactly that (WORKER_SILENT) reaches
 * the team. The staleness job, which every instance runs, detects it. Leases and the dispatcher's lock keep several instances and a
 * returning worker from sending twice. Notifications to subscribers are created, but wait for a worker.
 * @returns the milliseconds until the next run.
 */
export async function standInForWorkers({ ctx, pool, workers }: StandbyParts): Promise<number> {
  if (await hasLiveRegion(ctx.db, ctx.now())) return CHECK_INTERVAL
  for (const organizationId of await findUndispatched(pool, null)) {
    while (
      await dispatch(ctx, organizationId, (tx, id, events) => dispatchAlerts({ ...tx, seal: ctx.seal }, id, events))
    ) {}
  }
  await followUpAlerts(ctx)
  for (const worker of workers) {
    await worker.poll()
    await worker.idle()
  }
  return WORK_INTERVAL
}
