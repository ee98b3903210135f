import type pg from 'pg'
import type { Context } from '../../core/context.ts'
import { inTransaction } from '../../core/context.ts'
import { MINUTE, SECOND } from '../../core/time.ts'

/** The statement timeout on the server, in milliseconds. The connection stays usable after it. */
export const STATEMENT_DEADLINE = 10 * SECOND
/** How long after the deadline the client closes a connection that has not answered. */
export const SILENCE = 2 * SECOND
/** The deadline for statements that can touch much of a large table. */
export const LONG_DEADLINE = 10 * MINUTE

/** The statement that raises the deadline for the rest of a transaction. */
const SET_DEADLINE = `SELECT set_config('statement_timeout', `

/**
 * Runs work with the statement deadline `LONG_DEADLINE`, in a new transaction, for work such as deleting a large batch.
 * In an open transaction, runs it there and leaves the deadline unchanged.
 */
export async function withLongDeadline<C extends Pick<Context, 'db'>, T>(
  ctx: C,
  work: (ctx: C) => Promise<T>,
): Promise<T> {
  const { db } = ctx
  if (inTransaction(db)) return work(ctx)
  return db.$transaction(
    async (tx) => {
      await tx.$executeRaw`SELECT set_config('statement_timeout', ${String(LONG_DEADLINE)}, true)`
      return work({ ...ctx, db: tx })
    },
    { timeout: LONG_DEADLINE + SILENCE },
  )
}

/** Returns whether a statement raises the deadline. */
export function setsDeadline({ text, values }: pg.QueryConfig): boolean {
  return text.startsWith(SET_DEADLINE) && values?.length === 1
}

/** Returns the query timeout, in milliseconds, that a statement sets for its transaction. */
export function deadlineOf({ values }: pg.QueryConfig): number {
  return Number(values?.[0]) + SILENCE
}
