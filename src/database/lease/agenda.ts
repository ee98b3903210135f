import type pg from 'pg'
import type { Logger } from 'pino'
import type { PollLoop } from '../../core/concurrency/poll-loop.ts'
import { startPollLoop } from '../../core/concurrency/poll-loop.ts'
import type { Clock } from '../../core/time.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/**
 * Wakes workers when work is due. One statement asks for all kinds of work, so workers sleep while nothing is due.
 * Notifications wake them sooner; if one is lost, the agenda finds the work.
 */
export interface Agenda {
  /**
   * Calls `wake` whenever work is due, until the returned function is called.
   * @param earliest selects the earliest due time, or null, as one value.
   */
  add(earliest: Prisma.Sql, wake: () => void): () => void
  start(): void
  stop(): Promise<void>
}

interface Item {
  readonly earliest: Prisma.Sql
  readonly wake: () => void
  /** Calls `wake` at the due time. */
  timer?: NodeJS.Timeout
}

/** The maximum sleep of workers with an agenda. It can be long, because the agenda wakes them. */
export const IDLE_MS = MINUTE

/** The interval of queries. */
const PERIOD_MS = 5 * SECOND

/** Creates the agenda of one process. */
export function createAgenda(parts: {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly now: Clock
  readonly log: Logger
  readonly periodMs?: number
}): Agenda {
  const { pool, now, log, periodMs = PERIOD_MS } = parts
  const items = new Set<Item>()
  let loop: PollLoop | null = null

  async function ask(): Promise<number> {
    const asked = [...items]
    if (asked.length === 0) return periodMs
    const { text, values } =
      Prisma.sql`SELECT ARRAY[${Prisma.join(asked.map(({ earliest }) => Prisma.sql`(${earliest})`))}] AS due`
    const { rows } = await pool.query<{ due: (Date | null)[] }>(text, values)
    const due = rows[0]?.due ?? []
    for (const [index, item] of asked.entries()) {
      const at = due[index]
      const inMs = at == null ? Number.POSITIVE_INFINITY : at.getTime() - now().getTime()
      clearTimeout(item.timer)
      // Work that is due after the next query can wait for that.
      if (inMs <= periodMs && items.has(item)) item.timer = setTimeout(item.wake, Math.max(inMs, 0)).unref()
    }
    return periodMs
  }

  return {
    add(earliest, wake) {
      const item: Item = { earliest, wake }
      items.add(item)
      return () => {
        items.delete(item)
        clearTimeout(item.timer)
      }
    },
    start() {
      loop = startPollLoop(ask, {
        retryMs: periodMs,
        log,
        failureMessage: 'database: could not find out when work is due',
      })
    },
    async stop() {
      await loop?.stop()
      for (const { timer } of items) clearTimeout(timer)
      items.clear()
    },
  }
}

/** Selects the earliest due time of a table's rows. @param where a condition on its rows; absent: all. */
export function earliestOf(table: string, where: Prisma.Sql = Prisma.sql`TRUE`, dueColumn = 'dueAt'): Prisma.Sql {
  const due = Prisma.raw(`"${dueColumn}"`)
  return Prisma.sql`SELECT min(${due}) FROM ${Prisma.raw(`"${table}"`)} WHERE ${due} IS NOT NULL AND ${where}`
}

/** Selects a past due time if the rows exist, so that work is due now; null otherwise. */
export function dueIfAny(rows: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`SELECT 'epoch'::timestamptz WHERE EXISTS (${rows})`
}
