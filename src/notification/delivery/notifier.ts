import type { Quota } from '../../account/quota.ts'
import type { LoopState } from '../../core/concurrency/poll-loop.ts'
import { worseState } from '../../core/concurrency/poll-loop.ts'
import type { Context } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import type { DatabaseHandle } from '../../database/client.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { listenToLogs } from '../../event-log/event.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import type { SendTools } from '../channel/channel.ts'
import { createPushWorker } from '../push/push-worker.ts'
import { PUSH_DELIVERY_NOTIFICATION } from '../push/queue.ts'
import { DELIVERY_NOTIFICATION } from '../queue/wake-up.ts'
import { createDeliveryWorker } from './delivery-worker.ts'
import type { EventHandler } from './dispatch.ts'
import { createDispatcher } from './dispatcher.ts'

/** The running dispatcher and delivery worker. */
export interface Notifier {
  /** Returns the worse state of the two. */
  state(): LoopState
  /** Looks for due deliveries now, so that `state` is current. */
  check(): Promise<void>
  /** Finishes current work and stops. */
  close(): Promise<void>
}

/**
 * Starts the dispatcher, which creates deliveries from events, and the workers that send them to subscribers and to the
 * browsers of members.
 * @throws if `LISTEN` fails.
 */
export async function startNotifier(parts: {
  /** The context of the system actor. */
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: SecretBox
  readonly usage: Quota
  readonly tools: SendTools
  readonly rate: ThirdPartyRate
  /** The public URL of this service, without a trailing slash; set before the first message is sent. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Metrics
  readonly agenda: Agenda
  /** A further handler of the dispatched events. */
  readonly handleEvents?: EventHandler
}): Promise<Notifier> {
  const { ctx, database, seal, usage, tools, rate, site, metrics, agenda, handleEvents } = parts
  const { pool } = database
  const worker = createDeliveryWorker({ ctx, pool, seal, usage, tools, rate, site, metrics, agenda })
  const pushTools = { outbound: tools.outbound, now: ctx.now, seal, config: ctx.config, site }
  const pushes = createPushWorker({ ctx, pool, rate, tools: pushTools, agenda })
  const dispatcher = createDispatcher(ctx, pool, handleEvents)
  const unlistenLog = await listenToLogs(database, dispatcher.wake)
  const unlistenDeliveries = await database.listen(DELIVERY_NOTIFICATION, worker.wake)
  const unlistenPushes = await database.listen(PUSH_DELIVERY_NOTIFICATION, pushes.wake)
  dispatcher.start(agenda)
  worker.start()
  pushes.start()
  return {
    check: async () => void (await Promise.all([dispatcher.check(), worker.check()])),
    state: () => worseState(dispatcher.state(), worker.state()),
    async close() {
      await unlistenLog()
      await unlistenDeliveries()
      await unlistenPushes()
      await dispatcher.close()
      await worker.close()
      await pushes.close()
    },
  }
}
