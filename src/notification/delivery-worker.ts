import type pg from 'pg'
import type { Quota } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { withDeadline } from '../core/deadline.ts'
import type { Metrics } from '../core/metrics.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { SECOND } from '../core/time.ts'
import type { Agenda } from '../database/agenda.ts'
import { earliestOf } from '../database/agenda.ts'
import type { LeasedWorker } from '../database/leased-worker.ts'
import { createLeasedWorker } from '../database/leased-worker.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { thirdParty } from '../network/destination.ts'
import { createDestinationLimiter } from '../network/destination-limiter.ts'
import { progressAfter } from './attempt.ts'
import { deferralOf } from './budget.ts'
import type { SendResult, SendTools } from './channel/channel.ts'
import { internalFailure } from './channel/channel.ts'
import { MAIL } from './channel/email.ts'
import { MAX_CONCURRENT_MAILS } from './channel/mailer.ts'
import { channels } from './channels.ts'
import type { DueDelivery } from './delivery.ts'
import { readDeliveries } from './delivery.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { buildMessage } from './message.ts'

/** Longer than the slowest send (45 s) and storing its result. The deliveries of a crashed worker wait this long. */
export const LEASE = 60 * SECOND
/** A delivery with less of its lease left is released instead of started. */
const MIN_LEASE = 50 * SECOND
/** The timeout of a send, in milliseconds. */
export const SEND_DEADLINE = 48 * SECOND
/** The number of concurrent sends, and of deliveries claimed with one statement. */
const CONCURRENCY = 64
const BATCH = 200
/** Concurrent sends to one host, which can serve many subscribers. A subscriber gets one at a time. */
const PER_HOST = 4
/** Messages per minute to one webhook host from all organizations; more wait. */
const MAX_WEBHOOKS_PER_MINUTE = 600
/** The pause of a postponed message, in milliseconds; jitter adds up to as much again. */
const POSTPONE_MS = 5 * SECOND
/** How long a delivery can be queued, in milliseconds, before it is read again: its subscriber may have unsubscribed. */
const FRESH = SECOND
/** Many deliveries end at about the same time, so wake-ups are merged. */
const pauses = { noRoom: SECOND, full: 5, partial: 0.25 * SECOND, soonest: 0.25 * SECOND, wake: 20 } as const
/** The shortest wait for a slot of a webhook's host, in milliseconds. */
const MIN_SLOT_WAIT = 20

/**
 * Selects the first pending delivery of each subscriber and subject, so that the updates of an incident arrive in order.
 */
const isFirstPending = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM "Delivery" AS earlier
  WHERE earlier."subscriberId" = "Delivery"."subscriberId" AND earlier."subjectId" = "Delivery"."subjectId"
    AND earlier.seq < "Delivery".seq AND earlier.status = 'PENDING')`

const deliveries = { table: 'Delivery', dueColumn: 'dueAt' } as const

/** A delivery that this worker has claimed. */
interface ClaimedDelivery {
  readonly delivery: DueDelivery
  /** Until when the row counts as current, in milliseconds of the monotonic clock. */
  freshUntil: number
}

/** Creates a worker that sends deliveries as the system. */
export function createDeliveryWorker(parts: {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly pool: Pick<pg.Pool, 'query'>
  readonly seal: SecretBox
  /** Counts emails per mailbox and organization. */
  readonly usage: Quota
  readonly tools: SendTools
  /** The public URL of this service, without a trailing slash. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** Wakes the worker when a delivery is due; absent: it looks every second. */
  readonly agenda?: Agenda
  /** From 0 to 1, for jitter. */
  readonly random?: () => number
}): LeasedWorker {
  const { ctx, pool, seal, usage, tools, site, metrics, agenda, random = Math.random } = parts
  const { now, log } = ctx
  const store: DeliveryStore = createDeliveryStore({ ...ctx, seal }, pool)
  const busy = new Map<string, number>()
  const webhooks = createDestinationLimiter({ atOnce: CONCURRENCY, perMinute: MAX_WEBHOOKS_PER_MINUTE })
  let pause: NodeJS.Timeout | undefined
  const queue: ClaimedDelivery[] = []
  const worker = createLeasedWorker<DueDelivery>({
    ctx,
    ...deliveries,
    where: () => Prisma.sql`destination <> ALL (${saturatedDestinations()}::text[]) AND ${isFirstPending}`,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY + BATCH,
    batch: BATCH,
    read: (ids) => readDeliveries(pool, ids),
    accept(claims) {
      for (const { row } of claims) queue.push({ delivery: row, freshUntil: performance.now() + FRESH })
      startQueued()
    },
    earliest: earliestOf('Delivery'),
    agenda,
    onEnd: startQueued,
    pauses,
    name: { room: 'notification', rows: 'deliveries' },
  })

  const count = (key: string, by: number) => {
    const left = (busy.get(key) ?? 0) + by
    if (left > 0) busy.set(key, left)
    else busy.delete(key)
  }

  /** Returns the destinations that have enough deliveries running and queued. */
  function saturatedDestinations(): string[] {
    const taken = new Map(busy)
    for (const { destination } of queue.map(({ delivery }) => delivery))
      taken.set(destination, (taken.get(destination) ?? 0) + 1)
    return [...taken]
      .filter(([destination, held]) => held >= 2 * concurrencyLimit(destination))
      .map(([destination]) => destination)
  }

  /** Starts queued deliveries in the order of their claims, as far as the limits allow. */
  function startQueued(): void {
    const late: ClaimedDelivery[] = []
    for (const taken of queue.splice(0)) {
      if (taken.delivery.dueAt.getTime() - now().getTime() < MIN_LEASE) {
        late.push(taken)
        continue
      }
      const end = worker.isClosing || !canStart(taken.delivery) ? null : acquireSlot(taken.delivery)
      if (end === null) queue.push(taken)
      else run(taken, end)
    }
    if (late.length > 0) void worker.release(late.map(({ delivery }) => delivery))
  }

  /** Acquires a slot of a third party's host; null: none is free, and the queue is checked again later. */
  function acquireSlot({ subscriber, destination }: DueDelivery): (() => void) | null {
    const party = subscriber.channel === 'WEBHOOK' ? thirdParty(destination.replace(/:\d+$/, '')) : null
    if (party === null) return () => {}
    const end = webhooks.tryAcquire(party)
    if (end === null) {
      clearTimeout(pause)
      pause = setTimeout(startQueued, Math.max(webhooks.msUntilFree(party), MIN_SLOT_WAIT)).unref()
    }
    return end
  }

  function canStart({ destination, subscriber }: DueDelivery): boolean {
    return (
      worker.running < CONCURRENCY &&
      (busy.get(destination) ?? 0) < concurrencyLimit(destination) &&
      !busy.has(subscriber.id)
    )
  }

  function run(taken: ClaimedDelivery, endTurn: () => void): void {
    const { destination, subscriber } = taken.delivery
    count(destination, 1)
    count(subscriber.id, 1)
    let isSent = false
    const sent = () => {
      if (isSent) return
      isSent = true
      count(destination, -1)
      endTurn()
      startQueued()
      // While the destination has enough queued, a poll would find nothing.
      if (!saturatedDestinations().includes(destination)) worker.wake()
    }
    worker.run(taken.delivery, async () => {
      try {
        await deliver(taken, sent)
      } finally {
        sent()
        count(subscriber.id, -1)
        // The delivery may have ended the subscription.
        for (const other of queue) if (other.delivery.subscriber.id === subscriber.id) other.freshUntil = 0
      }
      return true
    })
  }

  /** @param sent called when the receiver is free for another delivery, before the result is stored; the subscriber is not. */
  async function deliver(taken: ClaimedDelivery, sent: () => void): Promise<void> {
    const delivery = await refreshed(taken)
    const at = now()
    const later = delivery && (await deferralOf({ usage, seal }, delivery, at))
    if (delivery && later) {
      sent()
      const deferred = { attempt: null, outcome: null, progress: { status: 'PENDING', dueAt: later } } as const
      return store.record({ delivery, ...deferred })
    }
    const begun = performance.now()
    const outcome = delivery && (await attempt(delivery, at))
    // An email counts as running until its result is stored, which bounds the duplicates after a crash.
    if (taken.delivery.destination !== MAIL) sent()
    if (delivery === null) return
    const { channel } = delivery.subscriber
    metrics.deliveries.inc({ channel, outcome: outcome?.kind ?? 'cancelled' })
    if (outcome === null) {
      return store.record({ delivery, attempt: null, outcome, progress: { status: 'CANCELLED', dueAt: null } })
    }
    if (outcome.kind === 'postponed') {
      const dueAt = new Date(now().getTime() + POSTPONE_MS * (1 + random()))
      return store.record({ delivery, attempt: null, outcome: null, progress: { status: 'PENDING', dueAt } })
    }
    const { kind, status, message } = outcome
    const durationMs = Math.round(performance.now() - begun)
    await store.record({
      delivery,
      attempt: { at, delivered: kind === 'delivered', status, message, durationMs },
      outcome,
      progress: progressAfter(outcome, delivery, now(), random()),
    })
  }

  /** Returns the current row; null: it was ended or postponed since it was claimed. */
  async function refreshed({ delivery, freshUntil }: ClaimedDelivery): Promise<DueDelivery | null> {
    if (performance.now() < freshUntil) return delivery
    const [found] = await readDeliveries(pool, [delivery.id])
    return found && found.dueAt.getTime() === delivery.dueAt.getTime() ? found : null
  }

  /** Sends the message; null: the subscriber was stopped. */
  async function attempt(delivery: DueDelivery, at: Date): Promise<SendResult | null> {
    try {
      const message = buildMessage(delivery, seal, site.baseUrl, at)
      if (message === null) return null
      return await withDeadline(SEND_DEADLINE, 'Sending', channels[delivery.subscriber.channel].send(message, tools))
    } catch (error) {
      log.error({ err: error, delivery: delivery.id }, 'notification: could not render or send a message')
      return internalFailure
    }
  }

  return {
    ...worker,
    close() {
      clearTimeout(pause)
      return worker.close()
    },
  }
}

const concurrencyLimit = (destination: string) => (destination === MAIL ? MAX_CONCURRENT_MAILS : PER_HOST)
