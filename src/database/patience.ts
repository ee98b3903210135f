import type pg from 'pg'
import type { Context } from '../context.ts'
import { inTransaction } from '../context.ts'
import { MINUTE, SECOND } from '../time.ts'

/** How long a statement may take, in milliseconds, on the server: it is cancelled then, and its connection is as good as before. */
export const STATEMENT_DEADLINE = 10 * SECOND
/** How much later the connection is given up as silent, since not even that was heard. */
export const SILENCE = 2 * SECOND
/** The same for statements that may touch much of a large table. */
export const LONG_DEADLINE = 10 * MINUTE

/** The statement that raises the deadline for the rest of a transaction. */
const PATIENCE = `SELECT set_config('statement_timeout', `

/**
 * Does work whose statements may take as long as `LONG_DEADLINE`, such as forgetting a large batch, in a transaction of
 * its own or in the one that is open.
 */
export async function patiently<C extends Pick<Context, 'db'>, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
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

/** Whether a statement is the one that raises the deadline. */
export function isPatience({ text, values }: pg.QueryConfig): boolean {
  return text.startsWith(PATIENCE) && values?.length === 1
}

/** After how many milliseconds of its transaction's statements a connection is silent. */
export function patienceOf({ values }: pg.QueryConfig): number {
  return Number(values?.[0]) + SILENCE
}
