import type { UsageCounters } from '../account/usage.ts'
import type { Context } from '../context.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { LOG_CHANNEL } from '../eventlog/event.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { Metrics } from '../metrics.ts'
import type { LoopState } from '../repeat.ts'
import type { Seal } from '../seal.ts'
import type { SendTools } from './channel/channel.ts'
import { DELIVERY_CHANNEL } from './delivery.ts'
import { createDeliveryRound } from './delivery-round.ts'
import { createDispatcher } from './dispatcher.ts'

/** What tells subscribers of events, running. */
export interface Notifying {
  /** How delivering does. */
  state(): LoopState
  /** Ends after what is under way. */
  close(): Promise<void>
}

/**
 * Starts what turns events into deliveries, and what sends those.
 * @throws when the database cannot be asked to listen.
 */
export async function startNotifying(parts: {
  /** The system's. */
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly database: DatabaseHandle
  readonly seal: Seal
  readonly usage: UsageCounters
  readonly tools: SendTools
  /** Our public address, without a slash at its end; known by the time that something is sent. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Metrics
}): Promise<Notifying> {
  const { ctx, database, seal, usage, tools, site, metrics } = parts
  const { pool } = database
  const round = createDeliveryRound({ ctx, pool, seal, usage, tools, site, metrics })
  const dispatcher = createDispatcher(ctx, pool)
  const stopHearingLog = await database.listen(LOG_CHANNEL, dispatcher.wake)
  const stopHearingDeliveries = await database.listen(DELIVERY_CHANNEL, round.wake)
  dispatcher.start()
  round.start()
  return {
    state() {
      const state = dispatcher.state()
      return state === 'ok' ? round.state() : state
    },
    async close() {
      await stopHearingLog()
      await stopHearingDeliveries()
      await dispatcher.close()
      await round.close()
    },
  }
}
