import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { transaction } from '../context.ts'
import { SECOND } from '../time.ts'
import type { Attempt, Verdict } from './attempt.ts'
import { countBounces } from './bounce.ts'
import type { Outcome } from './channel/channel.ts'
import type { DueDelivery } from './delivery.ts'
import { stop } from './subscriber.ts'
import type { SuppressionContext } from './suppression.ts'

/** What became of a delivery that a worker had taken. */
export interface Ended {
  readonly delivery: DueDelivery
  /** Null: nothing was sent, because there is nobody to send it to any more, or it has to wait for a budget. */
  readonly attempt: Attempt | null
  readonly outcome: Outcome | null
  readonly verdict: Verdict
}

/** Stores what became of deliveries, together with whatever ends while it does. */
export interface Outcomes {
  /** Resolves once it is stored, or the database was away for too long: then it is sent again, under the same id. */
  record(ended: Ended): Promise<void>
}

/** How many are stored with one statement, and how long they gather before: each statement costs as much as many rows do. */
const BATCH = 500
const GATHER = 20
/** What is not stored after so many tries, a pause apart, is given up: its lease is over by then. */
const TRIES = 60
const PAUSE = SECOND

/**
 * Stores outcomes over the database, those that end at about the same time together: what a crash would have sent twice is
 * only what was sent during the last few hundredths of a second; of mail, what was taken since the last statement.
 */
export function createOutcomes(ctx: SuppressionContext, pool: Pick<pg.Pool, 'query'>): Outcomes {
  const waiting: { readonly ended: Ended; readonly tell: () => void }[] = []
  let storing = false

  async function storeAll(): Promise<void> {
    storing = true
    while (waiting.length > 0) {
      // Mail that the server has taken is noted at once: unlike a webhook it may not know a second one by its id.
      if (waiting.length < BATCH && !waiting.some(({ ended }) => isTakenMail(ended))) await sleep(GATHER)
      const batch = waiting.splice(0, BATCH)
      await store(
        ctx,
        pool,
        batch.map(({ ended }) => ended),
      )
      for (const { tell } of batch) tell()
    }
    storing = false
  }

  return {
    record: (ended) =>
      new Promise((resolve) => {
        waiting.push({ ended, tell: resolve })
        if (!storing) void storeAll()
      }),
  }
}

function isTakenMail({ delivery, outcome }: Ended): boolean {
  return delivery.subscriber.channel === 'EMAIL' && outcome?.kind === 'delivered'
}

async function store(ctx: SuppressionContext, pool: Pick<pg.Pool, 'query'>, batch: readonly Ended[]): Promise<void> {
  for (let tried = 1; tried <= TRIES; tried += 1) {
    try {
      await pool.query({ name: 'end deliveries', text: END, values: columnsOf(batch, ctx.now()) })
      await putOff(pool, batch)
      return await judgeAddresses(ctx, batch)
    } catch (error) {
      ctx.log.warn({ err: error, deliveries: batch.length }, 'notification: outcomes are not stored yet')
      await sleep(PAUSE)
    }
  }
  ctx.log.error({ deliveries: batch.length }, 'notification: outcomes are lost; what was sent is sent again')
}

/** Only who holds the lease may say that a delivery has failed; that it has arrived is true whoever says it. */
const END = `
  UPDATE "Delivery" AS delivery SET
    status = ended.status::"DeliveryStatus",
    "dueAt" = ended.due,
    attempts = delivery.attempts || ended.attempts::jsonb,
    "deferredUntil" = CASE WHEN ended.status = 'PENDING' AND ended.attempts = '[]'
      THEN ended.due ELSE delivery."deferredUntil" END,
    "endedAt" = CASE WHEN ended.due IS NULL THEN $6::timestamptz END
  FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::text[])
    AS ended (id, lease, status, due, attempts)
  WHERE delivery.id = ended.id AND delivery.status = 'PENDING'
    AND (ended.status = 'DELIVERED' OR delivery."dueAt" = ended.lease)`

function columnsOf(batch: readonly Ended[], now: Date): unknown[] {
  return [
    batch.map(({ delivery }) => delivery.id),
    batch.map(({ delivery }) => delivery.dueAt),
    batch.map(({ verdict }) => verdict.status),
    batch.map(({ verdict }) => verdict.dueAt),
    batch.map(({ attempt }) => JSON.stringify(attempt === null ? [] : [attempt])),
    now,
  ]
}

/** What follows a delivery that has to wait waits as long: it would be looked at in vain. */
async function putOff(pool: Pick<pg.Pool, 'query'>, batch: readonly Ended[]): Promise<void> {
  const late = batch.filter(({ verdict, delivery }) => verdict.dueAt !== null && delivery.seq !== null)
  if (late.length === 0) return
  await pool.query(
    `UPDATE "Delivery" AS later SET "dueAt" = ended.due
     FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[]) AS ended (reader, subject, seq, due)
     WHERE later."subscriberId" = ended.reader AND later."subjectId" = ended.subject AND later.seq > ended.seq
       AND later.status = 'PENDING' AND later."dueAt" < ended.due`,
    [
      late.map(({ delivery }) => delivery.subscriber.id),
      late.map(({ delivery }) => delivery.subjectId),
      late.map(({ delivery }) => delivery.seq),
      late.map(({ verdict }) => verdict.dueAt),
    ],
  )
}

/** Stops the addresses that are no more, counts those that refuse for good, and forgets refusals where something arrived. */
async function judgeAddresses(ctx: SuppressionContext, batch: readonly Ended[]): Promise<void> {
  const idsWhere = (such: (ended: Ended) => boolean) => batch.filter(such).map(({ delivery }) => delivery.subscriber.id)
  const lasting = (lasts: 'GONE' | 'REFUSED') =>
    idsWhere(({ outcome }) => outcome?.kind === 'failed' && outcome.lasts === lasts)
  const [gone, refused] = [lasting('GONE'), lasting('REFUSED')]
  const restored = idsWhere(({ outcome, delivery }) => outcome?.kind === 'delivered' && delivery.subscriber.bounces > 0)
  if (gone.length + refused.length + restored.length === 0) return
  await transaction(ctx, async (tx) => {
    await stop(tx, gone, 'GONE')
    await countBounces(tx, refused)
    await tx.db.subscriber.updateMany({ where: { id: { in: restored } }, data: { bounces: 0 } })
  })
}
