import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createBatchWriter } from '../../core/concurrency/batch-writer.ts'
import { transaction } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import type { SendOutcome } from '../channel/channel.ts'
import type { SuppressionContext } from '../mail/suppression.ts'
import type { Attempt, DeliveryProgress } from '../queue/attempt.ts'
import { countBounces } from '../subscriber/bounce.ts'
import { stopSubscribers } from '../subscriber/subscriber.ts'
import { moveSubscriber } from '../subscriber/subscriber-move.ts'
import type { DueDelivery } from './delivery.ts'
import { createMailWatch } from './mail-watch.ts'

/** The result of a delivery that a worker had claimed. */
interface DeliveryResult {
  readonly delivery: DueDelivery
  /** Null if nothing was sent, because the subscriber was stopped or a quota is used up. */
  readonly attempt: Attempt | null
  readonly outcome: SendOutcome | null
  readonly progress: DeliveryProgress
}

/** Stores the results of deliveries in batches. */
export interface DeliveryStore {
  /**
   * Resolves once the result is stored, or after too many failed tries; then the message is sent again with the same
   * id.
   */
  record(ended: DeliveryResult): Promise<void>
}

/**
 * The maximum number of results per statement, and how long they are gathered: a statement costs as much as many rows.
 */
const BATCH = 500
const GATHER_MS = 20
/** How many times storing is tried, with pauses in between. By then, the lease has expired. */
const MAX_ATTEMPTS = 60
const RETRY_PAUSE = SECOND

/**
 * Creates a store that writes results that arrive at about the same time with one statement. A crash repeats only the
 * messages of the last few hundredths of a second, and only those emails that were accepted since the last statement.
 */
export function createDeliveryStore(ctx: SuppressionContext, pool: Pick<pg.Pool, 'query'>): DeliveryStore {
  const watchMail = createMailWatch(ctx, pool)
  const results = createBatchWriter<WaitingResult>({
    full: BATCH,
    gatherMs: GATHER_MS,
    // An accepted email is recorded at once: unlike a webhook, its recipient may not recognize a duplicate by its id.
    isUrgent: ({ ended }) => isSentMail(ended),
    async write(batch) {
      const ended = batch.map((waiting) => waiting.ended)
      await store(ctx, pool, ended)
      await watchMail(ended).catch((error: unknown) =>
        ctx.log.warn({ err: error }, 'notification: could not resume the email that waits'),
      )
      for (const { resolve } of batch) resolve()
      return undefined
    },
  })
  return { record: (ended) => new Promise((resolve) => results.add({ ended, resolve })) }
}

interface WaitingResult {
  readonly ended: DeliveryResult
  readonly resolve: () => void
}

function isSentMail({ delivery, outcome }: DeliveryResult): boolean {
  return delivery.subscriber.channel === 'EMAIL' && outcome?.kind === 'delivered'
}

async function store(
  ctx: SuppressionContext,
  pool: Pick<pg.Pool, 'query'>,
  batch: readonly DeliveryResult[],
): Promise<void> {
  for (let tried = 1; tried <= MAX_ATTEMPTS; tried += 1) {
    try {
      await pool.query({ name: 'end deliveries', text: STORE_RESULTS, values: columnsOf(batch, ctx.now()) })
      await postponeFollowing(pool, batch)
      return await updateSubscribers(ctx, batch)
    } catch (error) {
      ctx.log.warn({ err: error, deliveries: batch.length }, 'notification: could not store delivery results; retrying')
      await sleep(RETRY_PAUSE)
    }
  }
  ctx.log.error(
    { deliveries: batch.length },
    'notification: delivery results are lost; the messages will be sent again',
  )
}

/** Only the holder of the lease can record a failure; a success is recorded from any worker. */
const STORE_RESULTS = `
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

function columnsOf(batch: readonly DeliveryResult[], now: Date): unknown[] {
  return [
    batch.map(({ delivery }) => delivery.id),
    batch.map(({ delivery }) => delivery.dueAt),
    batch.map(({ progress }) => progress.status),
    batch.map(({ progress }) => progress.dueAt),
    batch.map(({ attempt }) => JSON.stringify(attempt === null ? [] : [attempt])),
    now,
  ]
}

/** Postpones later deliveries of a thread as long as a postponed one, because they cannot be sent before it. */
async function postponeFollowing(pool: Pick<pg.Pool, 'query'>, batch: readonly DeliveryResult[]): Promise<void> {
  const late = batch.filter(({ progress, delivery }) => progress.dueAt !== null && delivery.seq !== null)
  if (late.length === 0) return
  await pool.query(
    `UPDATE "Delivery" AS later SET "dueAt" = ended.due
     FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[]) AS ended (subscriber, subject, seq, due)
     WHERE later."subscriberId" = ended.subscriber AND later."subjectId" = ended.subject AND later.seq > ended.seq
       AND later.status = 'PENDING' AND later."dueAt" < ended.due`,
    [
      late.map(({ delivery }) => delivery.subscriber.id),
      late.map(({ delivery }) => delivery.subjectId),
      late.map(({ delivery }) => delivery.seq),
      late.map(({ progress }) => progress.dueAt),
    ],
  )
}

/** Moves subscribers to their new address, stops those whose address is gone, counts bounces, and resets the count after a success. */
async function updateSubscribers(ctx: SuppressionContext, batch: readonly DeliveryResult[]): Promise<void> {
  const idsWhere = (matches: (ended: DeliveryResult) => boolean) =>
    batch.filter(matches).map(({ delivery }) => delivery.subscriber.id)
  const lasting = (permanence: 'GONE' | 'REFUSED') =>
    idsWhere(({ outcome }) => outcome?.kind === 'failed' && outcome.permanence === permanence)
  const [gone, refused] = [lasting('GONE'), lasting('REFUSED')]
  const restored = idsWhere(({ outcome, delivery }) => outcome?.kind === 'delivered' && delivery.subscriber.bounces > 0)
  const moved = batch.flatMap(({ delivery, outcome }) =>
    outcome?.movedTo === undefined ? [] : [[delivery.subscriber.id, outcome.movedTo] as const],
  )
  if (gone.length + refused.length + restored.length + moved.length === 0) return
  await transaction(ctx, async (tx) => {
    for (const [id, address] of moved) await moveSubscriber(tx, id, address)
    await stopSubscribers(tx, gone, 'GONE')
    await countBounces(tx, refused)
    await tx.db.subscriber.updateMany({ where: { id: { in: restored } }, data: { bounces: 0 } })
  })
}
