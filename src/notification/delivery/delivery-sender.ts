import type pg from 'pg'
import type { Quota } from '../../account/quota.ts'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import type { Context } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import { chosenByOthers, requestsOf } from '../../network/outbound/outbound.ts'
import type { SendOutcome, SendResult, SendTools } from '../channel/channel.ts'
import { internalFailure } from '../channel/channel.ts'
import { MAIL } from '../channel/email.ts'
import { channels } from '../channels.ts'
import type { Attempt } from '../queue/attempt.ts'
import { progressAfter } from '../queue/attempt.ts'
import { postponedUntil } from '../queue/backoff.ts'
import { SEND_DEADLINE } from '../queue/lease.ts'
import { deferralOf } from './deferral.ts'
import type { DueDelivery } from './delivery.ts'
import { readDeliveries } from './delivery.ts'
import { buildMessage } from './delivery-message.ts'
import { createDeliveryStore } from './delivery-store.ts'

/** A delivery that a worker has claimed. */
export interface ClaimedDelivery {
  readonly delivery: DueDelivery
  /** Until when the row counts as current, in milliseconds of the monotonic clock. */
  freshUntil: number
}

/** What sending a delivery and storing its result needs. */
export interface DeliveryTools {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly pool: Pick<pg.Pool, 'query'>
  readonly seal: SecretBox
  /** Counts emails per mailbox and organization. */
  readonly usage: Quota
  readonly tools: SendTools
  /** The public URL of this service, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}

/**
 * Returns a function that tries once to send a delivery and stores the result. Before it stores the result, it calls
 * `sent`, when the destination (but not the subscriber) is free for another delivery.
 */
export function createDeliverySender(
  parts: DeliveryTools,
): (taken: ClaimedDelivery, sent: () => void) => Promise<void> {
  const { ctx, pool, seal, usage, metrics, random = Math.random } = parts
  const { now } = ctx
  const store = createDeliveryStore({ ...ctx, seal }, pool)

  return async (taken, sent) => {
    const delivery = await refreshed(pool, taken)
    const at = now()
    const later = delivery && (await deferralOf({ usage, seal }, delivery, at))
    if (delivery && later) {
      sent()
      const deferred = { attempt: null, outcome: null, progress: { status: 'PENDING', dueAt: later } } as const
      return store.record({ delivery, ...deferred })
    }
    const begun = performance.now()
    const outcome = delivery && (await attempt(parts, delivery, at))
    // An email counts as running until its result is stored, which bounds the duplicates after a crash.
    if (taken.delivery.destination !== MAIL) sent()
    if (delivery === null) return
    const { channel } = delivery.subscriber
    metrics.deliveries.inc({ channel, outcome: outcome?.kind ?? 'cancelled' })
    if (outcome === null) {
      return store.record({ delivery, attempt: null, outcome, progress: { status: 'CANCELLED', dueAt: null } })
    }
    if (outcome.kind === 'postponed') {
      const postponed = { status: 'PENDING', dueAt: postponedUntil(now(), random()) } as const
      return store.record({ delivery, attempt: null, outcome: null, progress: postponed })
    }
    const durationMs = Math.round(performance.now() - begun)
    await store.record({
      delivery,
      attempt: attemptOf(outcome, at, durationMs),
      outcome,
      progress: progressAfter(outcome, delivery, now(), random()),
    })
  }
}

function attemptOf(outcome: SendOutcome, at: Date, durationMs: number): Attempt {
  const { kind, status, message } = outcome
  const isOurs = kind === 'failed' && outcome.isOurs === true
  return { at, delivered: kind === 'delivered', status, message, ...(isOurs && { isOurs }), durationMs }
}

/** Returns the current row; null if it ended or was postponed after it was claimed. */
async function refreshed(
  pool: Pick<pg.Pool, 'query'>,
  { delivery, freshUntil }: ClaimedDelivery,
): Promise<DueDelivery | null> {
  if (performance.now() < freshUntil) return delivery
  const [found] = await readDeliveries(pool, [delivery.id])
  return found && found.dueAt.getTime() === delivery.dueAt.getTime() ? found : null
}

/** Sends the message; null if the subscriber was stopped. */
async function attempt(
  { ctx, seal, site, tools }: DeliveryTools,
  delivery: DueDelivery,
  at: Date,
): Promise<SendResult | null> {
  try {
    const message = buildMessage(delivery, seal, site.baseUrl, at)
    if (message === null) return null
    const { isOwnChoice, channel } = delivery.subscriber
    const chosen = isOwnChoice ? tools.outbound : chosenByOthers(tools.outbound)
    const own = { ...tools, outbound: requestsOf(chosen, delivery.organizationId) }
    return await withDeadline(SEND_DEADLINE, 'Sending', channels[channel].send(message, own))
  } catch (error) {
    ctx.log.error({ err: error, delivery: delivery.id }, 'notification: could not render or send a message')
    return internalFailure
  }
}
