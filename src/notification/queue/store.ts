import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createBatchWriter } from '../../core/concurrency/batch-writer.ts'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import type { DeliveryKind, DeliveryResult, DueRow } from './kind.ts'
import { createMailWatch } from './mail-watch.ts'
import type { Place, Threads } from './thread.ts'
import { postponeFollowing } from './thread.ts'

/** Stores the results of deliveries in batches. */
export interface ResultStore<Row> {
  /**
   * Resolves once the result is stored, or after too many failed tries; then the message is sent again with the same
   * id.
   */
  record(result: DeliveryResult<Row>): Promise<void>
}

/**
 * The maximum number of results per statement, and how long they are gathered: a statement costs as much as many rows.
 */
const BATCH = 500
const GATHER_MS = 20
/** How many times storing is tried, with pauses in between. By then, the lease has expired. */
const MAX_ATTEMPTS = 60
const RETRY_PAUSE = SECOND

interface WaitingResult<Row> {
  readonly result: DeliveryResult<Row>
  readonly resolve: () => void
}

/**
 * Creates a store that writes results that arrive at about the same time with one statement. A crash repeats only the
 * messages of the last few hundredths of a second, and only those urgent ones that were sent since the last statement.
 */
export function createResultStore<Row extends DueRow>(
  { ctx, pool }: { readonly ctx: Pick<Context, 'log' | 'now'>; readonly pool: Pick<pg.Pool, 'query'> },
  kind: DeliveryKind<Row>,
): ResultStore<Row> {
  const { room } = kind.name
  const watchMail = createMailWatch(ctx, pool, kind.table)
  const results = createBatchWriter<WaitingResult<Row>>({
    full: BATCH,
    gatherMs: GATHER_MS,
    isUrgent: ({ result }) => kind.isUrgent(result),
    async write(waiting) {
      const batch = waiting.map(({ result }) => result)
      await store(batch)
      await watchMail(batch).catch((error: unknown) =>
        ctx.log.warn({ err: error }, `${room}: could not resume the email that waits`),
      )
      for (const { resolve } of waiting) resolve()
      return undefined
    },
  })

  async function store(batch: readonly DeliveryResult<Row>[]): Promise<void> {
    const deliveries = batch.length
    for (let tried = 1; tried <= MAX_ATTEMPTS; tried += 1) {
      try {
        return await kind.store(batch, ctx.now())
      } catch (error) {
        ctx.log.warn({ err: error, deliveries }, `${room}: could not store delivery results; retrying`)
        await sleep(RETRY_PAUSE)
      }
    }
    ctx.log.error({ deliveries }, `${room}: delivery results are lost; the messages will be sent again`)
  }

  return { record: (result) => new Promise((resolve) => results.add({ result, resolve })) }
}

/**
 * Stores results in a table that keeps its ended deliveries, with the columns `status`, `attempts`, `deferredUntil` and
 * `endedAt`, and postpones what waits for them. Only the holder of the lease can record a failure; a success is recorded
 * from any worker.
 */
export async function keepResults<Row extends DueRow>(
  pool: Pick<pg.Pool, 'query'>,
  threads: Threads,
  placeOf: (row: Row) => Place,
  batch: readonly DeliveryResult<Row>[],
  now: Date,
): Promise<void> {
  await pool.query({
    name: `end ${threads.table}`,
    text: `
      UPDATE "${threads.table}" AS delivery SET
        status = ended.status::"DeliveryStatus",
        "dueAt" = ended.due,
        attempts = delivery.attempts || ended.attempts::jsonb,
        "deferredUntil" = CASE WHEN ended.status = 'PENDING' AND ended.attempts = '[]'
          THEN ended.due ELSE delivery."deferredUntil" END,
        "endedAt" = CASE WHEN ended.due IS NULL THEN $6::timestamptz END
      FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::text[])
        AS ended (id, lease, status, due, attempts)
      WHERE delivery.id = ended.id AND delivery.status = 'PENDING'
        AND (ended.status = 'DELIVERED' OR delivery."dueAt" = ended.lease)`,
    values: [
      batch.map(({ delivery }) => delivery.id),
      batch.map(({ delivery }) => delivery.dueAt),
      batch.map(({ progress }) => progress.status),
      batch.map(({ progress }) => progress.dueAt),
      batch.map(({ attempt }) => JSON.stringify(attempt === null ? [] : [attempt])),
      now,
    ],
  })
  const late = batch.flatMap(({ delivery, progress: { dueAt } }) =>
    dueAt === null ? [] : [{ place: placeOf(delivery), dueAt }],
  )
  await postponeFollowing(pool, threads, late)
}
