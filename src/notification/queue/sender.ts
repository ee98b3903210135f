import type pg from 'pg'
import type { Quota } from '../../account/quota.ts'
import { withDeadline } from '../../core/concurrency/deadline.ts'
import type { Context } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { Metrics } from '../../core/telemetry/metrics.ts'
import type { PrismaClient } from '../../generated/prisma/client.ts'
import type { SendOutcome, SendResult } from '../channel/channel.ts'
import { internalFailure } from '../channel/channel.ts'
import { MAIL } from '../channel/email.ts'
import { consumeMail } from '../mail/budget.ts'
import type { Attempt, DeliveryProgress } from './attempt.ts'
import { progressAfter } from './attempt.ts'
import { postponedUntil } from './backoff.ts'
import type { DeliveryKind, DeliveryResult, DueRow } from './kind.ts'
import { SEND_DEADLINE } from './lease.ts'
import { createResultStore } from './store.ts'

/** A delivery that a worker has claimed. */
export interface ClaimedDelivery<Row> {
  readonly delivery: Row
  /** Until when the row counts as current, in milliseconds of the monotonic clock. */
  freshUntil: number
}

/** What sending deliveries of any kind needs. */
export interface SendingParts {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly pool: Pick<pg.Pool, 'query'>
  readonly seal: SecretBox
  /** Counts emails per mailbox and organization. */
  readonly usage: Quota
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}

/**
 * Returns a function that tries once to send a delivery and stores the result. Before it stores the result, it calls
 * `sent`, when the destination (but not the receiver) is free for another delivery.
 */
export function createSender<Row extends DueRow>(
  parts: SendingParts,
  kind: DeliveryKind<Row>,
): (taken: ClaimedDelivery<Row>, sent: () => void) => Promise<void> {
  const { ctx, seal, usage, metrics, random = Math.random } = parts
  const { now } = ctx
  const store = createResultStore(parts, kind)
  const count = (delivery: Row, outcome: SendOutcome['kind'] | 'cancelled') =>
    metrics.deliveries.inc({ channel: kind.channelOf(delivery), outcome })

  async function tryOnce(delivery: Row): Promise<DeliveryResult<Row>> {
    const unsent = (progress: DeliveryProgress) => ({ delivery, attempt: null, outcome: null, progress })
    const cancelled = () => {
      count(delivery, 'cancelled')
      return unsent({ status: 'CANCELLED', dueAt: null })
    }
    if (kind.isWanted && !(await kind.isWanted(delivery))) return cancelled()
    const at = now()
    // Retries were counted at their first attempt.
    const mail = delivery.failed > 0 ? null : kind.mailOf(delivery)
    const later = mail && (await consumeMail({ usage, seal }, mail, at))
    if (later) return unsent({ status: 'PENDING', dueAt: later })
    const begun = performance.now()
    const outcome = await send(ctx, kind, delivery, at)
    if (outcome === null) return cancelled()
    if (outcome.kind === 'postponed') return unsent({ status: 'PENDING', dueAt: postponedUntil(now(), random()) })
    count(delivery, outcome.kind)
    const attempt = attemptOf(outcome, at, Math.round(performance.now() - begun))
    return { delivery, attempt, outcome, progress: progressAfter(outcome, delivery, now(), random()) }
  }

  return async (taken, sent) => {
    const delivery = await refreshed(kind, taken)
    if (delivery === null) return
    const result = await tryOnce(delivery)
    // An email counts as running until its result is stored, which bounds the duplicates after a crash.
    if (delivery.destination !== MAIL || result.attempt === null) sent()
    await store.record(result)
  }
}

function attemptOf(outcome: SendOutcome, at: Date, durationMs: number): Attempt {
  const { kind, status, message } = outcome
  const isOurs = kind === 'failed' && outcome.isOurs === true
  return { at, delivered: kind === 'delivered', status, message, ...(isOurs && { isOurs }), durationMs }
}

/** Returns the current row; null if it ended or was postponed after it was claimed. */
async function refreshed<Row extends DueRow>(
  kind: DeliveryKind<Row>,
  { delivery, freshUntil }: ClaimedDelivery<Row>,
): Promise<Row | null> {
  if (performance.now() < freshUntil) return delivery
  const [found] = await kind.read([delivery.id])
  return found && found.dueAt.getTime() === delivery.dueAt.getTime() ? found : null
}

/** Sends the message; null if its receiver no longer wants it. */
async function send<Row extends DueRow>(
  ctx: Pick<Context, 'log'>,
  kind: DeliveryKind<Row>,
  delivery: Row,
  at: Date,
): Promise<SendResult | null> {
  try {
    return await withDeadline(SEND_DEADLINE, 'Sending', kind.send(delivery, at))
  } catch (error) {
    ctx.log.error({ err: error, delivery: delivery.id }, `${kind.name.room}: could not render or send a message`)
    return internalFailure
  }
}
