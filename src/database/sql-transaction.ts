import type pg from 'pg'
import type { Context, SqlContext, SqlDatabase } from '../core/context.ts'
import { inTransaction, repeatOnConflict, runClaimed } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { asUnavailable } from './unavailable.ts'

/** The connections under a Prisma client. */
const pools = new WeakMap<object, pg.Pool>()

/** Lets `sqlTransaction` use the connections under a Prisma client. */
export function offerConnections(prisma: object, pool: pg.Pool): void {
  pools.set(prisma, pool)
}

/**
 * Runs `work` in a transaction, or in the caller's open one, like `transaction`; for work that needs plain SQL only. It has a
 * connection of its own, because a statement takes four times as much processor time through Prisma.
 */
export async function sqlTransaction<T>(ctx: Context, work: (ctx: SqlContext) => Promise<T>): Promise<T> {
  const { db } = ctx
  if (inTransaction(db)) return work(ctx)
  const pool = pools.get(db)
  if (!pool) throw new Error('This database client has no connections for plain SQL.')
  return repeatOnConflict(async () => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const result = await runClaimed({ ...ctx, db: plainSql(client) }, work)
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('A failed transaction was committed.')
      client.release()
      return result
    } catch (error) {
      await rollBack(client, error)
      throw asUnavailable(error)
    }
  })
}

/**
 * Returns the rows of a plain statement, outside of a transaction without Prisma, for statements that are frequent. JSON is
 * parsed either way.
 */
export async function plainRows<Row>(db: SqlDatabase, statement: Prisma.Sql): Promise<Row[]> {
  const pool = pools.get(db)
  if (!pool) return db.$queryRaw<Row[]>(statement)
  const { rows } = await pool.query({ text: statement.text, values: statement.values })
  // The caller knows what its statement selects.
  return rows as Row[]
}

/** Ends a failed transaction; closes a connection that does not answer. */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<void> {
  const problem = asUnavailable(cause)
  if (problem !== cause) return client.release(cause as Error)
  await client.query('ROLLBACK').then(
    () => client.release(),
    (error: Error) => client.release(error),
  )
}

function plainSql(client: pg.PoolClient): SqlDatabase {
  return {
    async $queryRaw<T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) {
      const statement = 'raw' in query ? Prisma.sql(query, ...values) : query
      const { rows } = await client.query({ text: statement.text, values: statement.values })
      // The caller knows what its statement selects.
      return rows as T
    },
  }
}
