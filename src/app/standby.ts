import type { Quota } from '../account/quota.ts'
import { alertDeliveries } from '../alerting/alert-deliveries.ts'
import { dispatchAlerts } from '../alerting/dispatch-alerts.ts'
import { standInForWorkers } from '../alerting/standby.ts'
import { startPollLoop } from '../core/concurrency/poll-loop.ts'
import type { Context } from '../core/context.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Metrics } from '../core/telemetry/metrics.ts'
import { SECOND } from '../core/time.ts'
import type { DatabaseHandle } from '../database/client.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import type { ThirdPartyRate } from '../network/third-party-rate.ts'
import type { Mailer } from '../notification/channel/mailer.ts'
import { createDispatcher } from '../notification/delivery/dispatcher.ts'
import { createMemberPush } from '../notification/push/member-push.ts'
import { pushDeliveries } from '../notification/push/push-deliveries.ts'
import { createDeliveryWorker } from '../notification/queue/worker.ts'

/** The pause after work that failed. */
const RETRY_INTERVAL = 5 * SECOND

/**
 * Lets an instance with the role `web` send alerts while no worker is running; does nothing for other roles.
 * @returns a function that stops it.
 */
export function startStandby(parts: {
  /** The system's context. */
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: SecretBox
  readonly usage: Quota
  readonly rate: ThirdPartyRate
  readonly outbound: Outbound
  readonly mailer: Mailer | null
  readonly site: { readonly baseUrl: string }
  readonly metrics: Metrics
}): () => Promise<void> {
  const { ctx, database, seal, usage, rate, outbound, mailer, site, metrics } = parts
  const { config, now, log } = ctx
  if (config.ROLE !== 'web') return async () => {}
  const { pool } = database
  const push = createMemberPush({ db: ctx.db, seal, now, config, site })
  const alerts = alertDeliveries({ ctx, pool, seal, tools: { outbound, mailer, now, push }, site })
  const pushes = pushDeliveries({ ctx, pool, tools: { outbound, now, seal, config, site } })
  const sending = { ctx, pool, seal, usage, rate, metrics }
  const workers = [createDeliveryWorker(sending, alerts), createDeliveryWorker(sending, pushes)]
  const dispatcher = createDispatcher(ctx, pool, (tx, id, events) => dispatchAlerts({ ...tx, seal }, id, events))
  const loop = startPollLoop(() => standInForWorkers({ ctx: { ...ctx, seal }, dispatcher, workers }), {
    retryMs: RETRY_INTERVAL,
    log,
    failureMessage: 'alerting: could not stand in for the workers; retrying',
  })
  return async () => {
    await loop.stop()
    await dispatcher.close()
    await Promise.all(workers.map((worker) => worker.close()))
  }
}
