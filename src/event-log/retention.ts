import type { Context } from '../core/context.ts'
import type { CountDeleted } from '../core/deleted-rows.ts'
import { DELETE_BATCH } from '../core/deleted-rows.ts'
import type { ErasedTable } from '../core/erased-table.ts'
import { DAY } from '../core/time.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { publicKinds } from './audience.ts'
import { logOwner } from './log-owner.ts'

/** The number of newest events that a log keeps at any age. Readers have the last of them in memory, without gaps. */
export const NEWEST_KEPT = 1000

/** Deletes old events, one batch per call. */
export interface EventRetention {
  /** Deletes a batch. Returns whether there may be more; pause before the next batch, so that other work can run. */
  deleteBatch(parts: Pick<Context, 'db' | 'now'>, count: CountDeleted): Promise<boolean>
}

/** The events of a deleted organization, which are erased with it. */
export const erasedEvents: ErasedTable = { table: 'Event' }

/** The progress of a run: an organization, and the position in its log. */
interface Place {
  readonly organizationId: string
  readonly at: Date
  readonly seq: number
}

/** The position before all events of an organization. */
const before = (organizationId: string): Place => ({ organizationId, at: new Date(0), seq: -1 })

/**
 * Creates a retention that deletes events older than `days`. It keeps the newest events of each log, events that were
 * not dispatched yet, events that announce an update (they name its author), and the newest event of each kind about
 * each subject of a public page (it dates the last change). Readers whose next event was deleted get a gap.
 * `Organization.eventsSince` becomes the time from which the log is complete.
 */
export function createEventRetention(days: number): EventRetention {
  let place: Place | null = null
  return {
    async deleteBatch({ db, now }, count) {
      const since = new Date(now().getTime() - days * DAY)
      place ??= await nextLog({ db }, since, '')
      if (place === null) return false
      const { organizationId, at, seq } = place
      const owner = logOwner.get()
      const [batch] = await db.$queryRaw<[Batch]>`
        WITH looked AS MATERIALIZED (
          SELECT ctid, seq, at, kind, "subjectId", "updateId" FROM "Event"
          WHERE "organizationId" = ${organizationId} AND at < ${since} AND (at, seq) > (${at}::timestamptz, ${seq}::int)
          ORDER BY at, seq LIMIT ${DELETE_BATCH}
        ), log AS (
          SELECT least("lastSeq" - ${NEWEST_KEPT}, ${owner.dispatchedUntil(organizationId)}) AS until FROM ${owner.ends}
          WHERE id = ${organizationId}
        ), gone AS (
          DELETE FROM "Event" WHERE ctid = ANY (ARRAY(
            SELECT looked.ctid FROM looked, log
            WHERE looked.seq <= log.until AND looked."updateId" IS NULL AND (
              looked.kind::text <> ALL (${publicKinds}::text[]) OR EXISTS (
                SELECT 1 FROM "Event" AS later WHERE later."organizationId" = ${organizationId}
                  AND later."subjectId" = looked."subjectId" AND later.seq > looked.seq AND later.kind = looked.kind)))
          ) RETURNING at
        ), marked AS (
          ${owner.markDeleted(
            organizationId,
            Prisma.sql`(SELECT max(at) FROM gone) + interval '1 ms'`,
            Prisma.sql`EXISTS (SELECT 1 FROM gone)`,
          )}
        )
        SELECT (SELECT count(*)::int FROM looked) AS looked, (SELECT count(*)::int FROM gone) AS gone, last.at, last.seq
        FROM (SELECT 1) AS one LEFT JOIN (SELECT at, seq FROM looked ORDER BY at DESC, seq DESC LIMIT 1) AS last ON true`
      count('Event', batch.gone)
      const isWhole = batch.looked < DELETE_BATCH || batch.at === null || batch.seq === null
      place = isWhole ? await nextLog({ db }, since, organizationId) : { ...place, at: batch.at, seq: batch.seq }
      return place !== null
    },
  }
}

interface Batch {
  readonly looked: number
  readonly gone: number
  /** The time and the position of the last event of the batch; null: the batch is empty. */
  readonly at: Date | null
  readonly seq: number | null
}

/** Returns the start of the next log with old events, in the order of organization ids; null: there is none. */
async function nextLog({ db }: Pick<Context, 'db'>, since: Date, after: string): Promise<Place | null> {
  const [next] = await db.$queryRaw<{ id: string }[]>`
    SELECT id FROM ${logOwner.get().ends}
    WHERE id > ${after} AND "lastSeq" > ${NEWEST_KEPT} AND EXISTS (
      SELECT 1 FROM "Event" WHERE "organizationId" = log.id AND at < ${since})
    ORDER BY id LIMIT 1`
  return next === undefined ? null : before(next.id)
}
