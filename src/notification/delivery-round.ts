import type pg from 'pg'
import type { UsageCounters } from '../account/usage.ts'
import type { Context } from '../context.ts'
import { giveBack, takeDue } from '../database/lease.ts'
import { within } from '../deadline.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { Metrics } from '../metrics.ts'
import { thirdParty } from '../network/destination.ts'
import { createTurns } from '../network/turns.ts'
import type { LoopState, Repetition } from '../repeat.ts'
import { repeat } from '../repeat.ts'
import type { Seal } from '../seal.ts'
import { SECOND } from '../time.ts'
import { verdictOf } from './attempt.ts'
import { deferralOf } from './budget.ts'
import type { Outcome, SendTools } from './channel/channel.ts'
import { MAIL } from './channel/email.ts'
import { MAILS_AT_ONCE } from './channel/mailer.ts'
import { channels } from './channels.ts'
import type { DueDelivery } from './delivery.ts'
import { readDeliveries } from './delivery.ts'
import { messageOf } from './message.ts'
import type { Outcomes } from './outcomes.ts'
import { createOutcomes } from './outcomes.ts'

/** Sends the deliveries that are due. */
export interface DeliveryRound {
  /** Looks once for what is due and starts it. Gives in how many milliseconds to look again. */
  look(): Promise<number>
  /** Looks again and again until it is closed. */
  start(): void
  state(): LoopState
  /** Has it look at once, for something may have become due. */
  wake(): void
  /** Resolves once everything that was taken has ended and is stored. */
  idle(): Promise<void>
  /** Takes no more, gives back what was not begun, and waits for what is under way. */
  close(): Promise<void>
}

/** Longer than the longest sending takes (45 s) and its outcome is stored: what a worker that dies was sending waits so long. */
export const LEASE = 60 * SECOND
/** What has less of its lease left is not begun any more, but given back. */
const LEAST_LEASE = 50 * SECOND
/** How long one look for deliveries may take, in milliseconds, and one sending, before they are given up as hanging. */
const LONGEST_LOOK = 30 * SECOND
const LONGEST_SENDING = 48 * SECOND
/** How many are sent at once at most, and how many are taken with one statement. */
const CONCURRENCY = 64
const AT_ONCE = 200
/** How many go at once to one host, behind which may be many subscribers; to one subscriber it is one. */
const PER_HOST = 4
/** How many messages a minute go to one host of webhooks, from all organizations; the others wait. */
const WEBHOOKS_A_MINUTE = 600
/** How long, in milliseconds, what was read of a delivery may wait: then somebody may have unsubscribed. */
const FRESH = SECOND
/** How soon to look again, in milliseconds: at once while there may be more, soon after something ended, and now and then. */
const EAGER = 5
const PAUSE = 20
const SHORT = 0.25 * SECOND
const LONGEST = SECOND

/**
 * The deliveries that come before others of the same subscriber about the same thing; those have to wait, so that what is told
 * of an incident keeps its order.
 */
const nothingBefore = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM "Delivery" AS earlier
  WHERE earlier."subscriberId" = "Delivery"."subscriberId" AND earlier."subjectId" = "Delivery"."subjectId"
    AND earlier.seq < "Delivery".seq AND earlier.status = 'PENDING')`

const deliveries = { table: 'Delivery', dueColumn: 'dueAt' } as const

/** A delivery that is at hand. */
interface Taken {
  readonly delivery: DueDelivery
  /** Until when what was read of it is taken to be true, in milliseconds of a clock that nobody sets. */
  freshUntil: number
}

/** The round of one worker, which sends as the system. */
export function createDeliveryRound(parts: {
  readonly ctx: Context & { readonly db: PrismaClient }
  readonly pool: Pick<pg.Pool, 'query'>
  readonly seal: Seal
  /** Counts mails, so that no mailbox is flooded and no organization sends without bounds. */
  readonly usage: UsageCounters
  readonly tools: SendTools
  /** Our public address, without a slash at its end. */
  readonly site: { readonly baseUrl: string }
  readonly metrics: Pick<Metrics, 'deliveries'>
  /** From 0 to 1, to spread what failed together. */
  readonly random?: () => number
}): DeliveryRound {
  const { ctx, pool, seal, usage, tools, site, metrics, random = Math.random } = parts
  const { now, log } = ctx
  const outcomes: Outcomes = createOutcomes({ ...ctx, seal }, pool)
  const running = new Map<string, Promise<void>>()
  const busy = new Map<string, number>()
  const webhooks = createTurns({ atOnce: CONCURRENCY, perMinute: WEBHOOKS_A_MINUTE })
  let pause: NodeJS.Timeout | undefined
  const waiting: Taken[] = []
  const stopping = new AbortController()
  let looking: Repetition | null = null

  const count = (key: string, by: number) => {
    const left = (busy.get(key) ?? 0) + by
    if (left > 0) busy.set(key, left)
    else busy.delete(key)
  }

  async function look(): Promise<number> {
    const free = CONCURRENCY + AT_ONCE - running.size - waiting.length
    if (free <= 0) return LONGEST
    const limit = Math.min(free, AT_ONCE)
    const where = Prisma.sql`destination <> ALL (${crowded()}::text[]) AND ${nothingBefore}`
    const { taken, until } = await takeDue(ctx, { ...deliveries, where, limit, leaseMs: LEASE })
    if (taken.length === 0) return untilNext()
    const ids = taken.map(({ id }) => id)
    const read = new Map((await readDeliveries(pool, ids)).map((delivery) => [delivery.id, delivery]))
    for (const id of ids) {
      const delivery = read.get(id)
      // Another due time: it was put off, or ended, since. One whose lease ran out may still be under way here.
      if (delivery && delivery.dueAt.getTime() === until.getTime() && !running.has(id)) {
        waiting.push({ delivery, freshUntil: performance.now() + FRESH })
      }
    }
    begin()
    return taken.length === limit ? EAGER : SHORT
  }

  /** The destinations for which enough is at hand. */
  function crowded(): string[] {
    const taken = new Map(busy)
    for (const { destination } of waiting.map(({ delivery }) => delivery))
      taken.set(destination, (taken.get(destination) ?? 0) + 1)
    return [...taken].filter(([destination, held]) => held >= 2 * most(destination)).map(([destination]) => destination)
  }

  async function untilNext(): Promise<number> {
    const next = await ctx.db.delivery.findFirst({
      where: { dueAt: { not: null } },
      orderBy: { dueAt: 'asc' },
      select: { dueAt: true },
    })
    if (!next?.dueAt) return LONGEST
    return Math.min(Math.max(next.dueAt.getTime() - now().getTime(), SHORT), LONGEST)
  }

  /** Begins what may begin, in the order in which it was taken. */
  function begin(): void {
    const late: Taken[] = []
    for (const taken of waiting.splice(0)) {
      if (taken.delivery.dueAt.getTime() - now().getTime() < LEAST_LEASE) {
        late.push(taken)
        continue
      }
      const end = stopping.signal.aborted || !mayBegin(taken.delivery) ? null : takeTurn(taken.delivery)
      if (end === null) waiting.push(taken)
      else run(taken, end)
    }
    if (late.length > 0) void handBack(late)
  }

  /** Makes what has not begun due again. */
  function handBack(taken: readonly Taken[]): Promise<void> {
    const left = taken.map(({ delivery: { id, dueAt } }) => ({ id, until: dueAt }))
    return giveBack(ctx, deliveries, left).catch((error: unknown) =>
      log.warn({ err: error }, 'notification: deliveries are not given back; they are sent when their leases are over'),
    )
  }

  /** A turn to send to a third party's host; null: it was sent enough for now, and what waits is looked at again later. */
  function takeTurn({ subscriber, destination }: DueDelivery): (() => void) | null {
    const party = subscriber.channel === 'WEBHOOK' ? thirdParty(destination.replace(/:\d+$/, '')) : null
    if (party === null) return () => {}
    const end = webhooks.take(party)
    if (end === null) {
      clearTimeout(pause)
      pause = setTimeout(begin, Math.max(webhooks.pausedFor(party), PAUSE)).unref()
    }
    return end
  }

  function mayBegin({ destination, subscriber }: DueDelivery): boolean {
    return running.size < CONCURRENCY && (busy.get(destination) ?? 0) < most(destination) && !busy.has(subscriber.id)
  }

  function run(taken: Taken, endTurn: () => void): void {
    const { id, destination, subscriber } = taken.delivery
    count(destination, 1)
    count(subscriber.id, 1)
    let isSent = false
    const sent = () => {
      if (isSent) return
      isSent = true
      count(destination, -1)
      endTurn()
      begin()
      // While enough is at hand, looking for more would be in vain.
      if (!crowded().includes(destination)) looking?.wake()
    }
    const ended = deliver(taken, sent)
      .catch((error: unknown) => log.error({ err: error, delivery: id }, 'notification: a delivery failed by itself'))
      .finally(() => {
        running.delete(id)
        sent()
        count(subscriber.id, -1)
        // It may have ended the subscription.
        for (const other of waiting) if (other.delivery.subscriber.id === subscriber.id) other.freshUntil = 0
        begin()
      })
    running.set(id, ended)
  }

  /** @param sent to be called when the receiver is free for another before the outcome is stored; the subscriber is not. */
  async function deliver(taken: Taken, sent: () => void): Promise<void> {
    const delivery = await refreshed(taken)
    const at = now()
    const later = delivery && (await deferralOf({ usage, seal }, delivery, at))
    if (delivery && later) {
      sent()
      const deferred = { attempt: null, outcome: null, verdict: { status: 'PENDING', dueAt: later } } as const
      return outcomes.record({ delivery, ...deferred })
    }
    const begun = performance.now()
    const outcome = delivery && (await attempt(delivery, at))
    // Mail counts as under way until its outcome is stored, so that a crash sends no more of it twice.
    if (taken.delivery.destination !== MAIL) sent()
    if (delivery === null) return
    const { channel } = delivery.subscriber
    metrics.deliveries.inc({ channel, outcome: outcome?.kind ?? 'cancelled' })
    if (outcome === null) {
      return outcomes.record({ delivery, attempt: null, outcome, verdict: { status: 'CANCELLED', dueAt: null } })
    }
    const { kind, status, message } = outcome
    const durationMs = Math.round(performance.now() - begun)
    await outcomes.record({
      delivery,
      attempt: { at, delivered: kind === 'delivered', status, message, durationMs },
      outcome,
      verdict: verdictOf(outcome, delivery, now(), random()),
    })
  }

  /** The delivery as it is now; null: it was ended, or put off, since it was taken. */
  async function refreshed({ delivery, freshUntil }: Taken): Promise<DueDelivery | null> {
    if (performance.now() < freshUntil) return delivery
    const [found] = await readDeliveries(pool, [delivery.id])
    return found && found.dueAt.getTime() === delivery.dueAt.getTime() ? found : null
  }

  /** Null: there is nobody to send it to any more. */
  async function attempt(delivery: DueDelivery, at: Date): Promise<Outcome | null> {
    try {
      const message = messageOf(delivery, seal, site.baseUrl, at)
      if (message === null) return null
      return await within(LONGEST_SENDING, 'Sending', channels[delivery.subscriber.channel].send(message, tools))
    } catch (error) {
      log.error({ err: error, delivery: delivery.id }, 'notification: a message could not be made or sent')
      const message = 'It could not be sent, by an error of ours that is logged.'
      return { kind: 'failed', status: null, message, lasts: 'PASSING', retryAfterMs: null }
    }
  }

  return {
    look,
    state: () => looking?.state() ?? 'ok',
    start() {
      looking = repeat(look, {
        retry: LONGEST,
        patience: LONGEST_LOOK,
        // Many end at about the same time.
        leastPause: PAUSE,
        log,
        failed: 'notification: could not look for deliveries that are due; trying again',
      })
    },
    wake: () => looking?.wake(),
    async idle() {
      while (running.size > 0) await Promise.all(running.values())
    },
    async close() {
      stopping.abort()
      clearTimeout(pause)
      await looking?.stop()
      await handBack(waiting.splice(0))
      await Promise.all(running.values())
    },
  }
}

const most = (destination: string) => (destination === MAIL ? MAILS_AT_ONCE : PER_HOST)
