import { createLimiter } from '../core/concurrency/limiter.ts'
import type { Context } from '../core/context.ts'
import { clientSubject } from '../core/ip-address.ts'
import { invalid } from '../core/validation.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** The maximum amount of text, in bytes (about 10 ms), and of updates that one statement searches. */
const PER_STATEMENT = { bytes: 250_000, updates: 1000 } as const
/** The maximum amount of text that one search covers. */
const MAX_BYTES = 32 * 2 ** 20

/** The table of a timeline's updates, and its column with the id of the incident or maintenance. */
const timelines = {
  Incident: { updates: 'IncidentUpdate', parent: 'incidentId' },
  Maintenance: { updates: 'MaintenanceUpdate', parent: 'maintenanceId' },
} as const

/**
 * Creates a case-insensitive search of titles and update messages. No index supports it, so each statement searches a
 * limited amount of text, and the clients that search take turns: each delays the others by one statement.
 * @param maxBytes the maximum amount of messages, in bytes, that it searches.
 * @returns a function that takes up to a few hundred incidents or maintenances and returns the ids of those that
 * contain the text. It throws Invalid when the search exceeds `maxBytes`.
 */
export function timelineSearch(
  { db, clientAddress }: Pick<Context, 'db' | 'clientAddress'>,
  of: keyof typeof timelines,
  text: string,
  maxBytes: number = MAX_BYTES,
) {
  const { updates, parent } = timelines[of]
  const [parents, table, column] = [of, updates, parent].map((name) => Prisma.raw(`"${name}"`))
  // Twice as fast as ILIKE. The prefix makes every character literal.
  const expression = `***=${text}`
  let bytes = 0

  return async (rows: readonly { readonly id: string }[]): Promise<ReadonlySet<string>> => {
    const ids = rows.map(({ id }) => id)
    const titled = await db.$queryRaw<{ id: string }[]>`
      SELECT id FROM ${parents} WHERE id = ANY(${ids}::text[]) AND title ~* ${expression}`
    const found = new Set(titled.map(({ id }) => id))
    let left = ids.filter((id) => !found.has(id))
    let after: TimelinePosition | null = null
    while (left.length > 0) {
      if (bytes >= maxBytes) throw tooMuchText()
      const batch: Batch = await oneAtATime(() => readBatch(left, after), clientSubject(clientAddress))
      bytes += batch.bytes
      for (const id of batch.hits) found.add(id)
      if (batch.last === null) break
      const { id } = batch.last
      left = left.slice(left.indexOf(id)).filter((each) => !found.has(each))
      after = found.has(id) ? null : batch.last
    }
    return found
  }

  /**
   * Searches updates of these timelines in the order of the index, starting after a position in the first one, so that
   * nothing is sorted.
   */
  async function readBatch(ids: readonly string[], after: TimelinePosition | null): Promise<Batch> {
    const [batch] = await db.$queryRaw<[Found]>`
      SELECT coalesce(array_agg(id) FILTER (WHERE CASE WHEN fits THEN message ~* ${expression} END), '{}') AS hits,
        coalesce(sum(size) FILTER (WHERE fits), 0)::int AS bytes,
        count(*) < ${PER_STATEMENT.updates} AND coalesce(bool_and(fits), true) AS finished,
        (array_agg(id))[count(*) FILTER (WHERE fits)] AS id,
        (array_agg("createdAt"))[count(*) FILTER (WHERE fits)] AS "createdAt",
        (array_agg("updateId"))[count(*) FILTER (WHERE fits)] AS "updateId"
      FROM (
        SELECT *, octet_length(message) AS size,
          sum(octet_length(message)) OVER (ROWS UNBOUNDED PRECEDING) - octet_length(message) < ${PER_STATEMENT.bytes} AS fits
        FROM (
          SELECT * FROM unnest(${ids}::text[]) WITH ORDINALITY AS timeline (id, number)
          CROSS JOIN LATERAL (
            SELECT id AS "updateId", "createdAt", message FROM ${table}
            WHERE ${column} = timeline.id
              AND "createdAt" <= coalesce(CASE WHEN timeline.number = 1 THEN ${after?.createdAt ?? null}::timestamptz END, 'infinity')
              AND (timeline.number > 1 OR ${after === null}
                OR "createdAt" < ${after?.createdAt ?? null}::timestamptz OR id > ${after?.updateId ?? null})
            ORDER BY "createdAt" DESC, id LIMIT ${PER_STATEMENT.updates}
          ) AS update LIMIT ${PER_STATEMENT.updates}
        ) AS updates
      ) AS measured`
    const { hits, bytes, finished, id, createdAt, updateId } = batch
    const last = finished || id === undefined || !createdAt || !updateId ? null : { id, createdAt, updateId }
    return { hits, bytes, last }
  }
}

/** The result of a statement; `finished`: at the end of all timelines. */
type Found = Omit<Batch, 'last'> & Partial<TimelinePosition> & { readonly finished: boolean }

/** A position in the timeline of an incident or a maintenance. */
interface TimelinePosition {
  readonly id: string
  readonly createdAt: Date
  readonly updateId: string
}

interface Batch {
  /** The ids with matches, possibly repeated. */
  readonly hits: readonly string[]
  readonly bytes: number
  /** Where the batch ended; null: at the end of all timelines. */
  readonly last: TimelinePosition | null
}

function tooMuchText() {
  const message = 'would search more than 32 MB of messages; narrow the filter, for example to a shorter period'
  return invalid([{ path: ['filter', 'text'], message }])
}

/** Shared by all searches of the process. */
const oneAtATime = createLimiter({ atOnce: 1 })
