import type pg from 'pg'
import type { Context, SqlContext, SqlDatabase } from '../core/context.ts'
import { inTransaction, repeatOnConflict, runClaimed } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { asUnavailable } from './connection/unavailable.ts'

/** The connections under a Prisma client. */
const pools = new WeakMap<object, pg.Pool>()

/** Lets `sqlTransaction` use the connections under a Prisma client. */
export function offerConnections(prisma: object, pool: pg.Pool): void {
  pools.set(prisma, pool)
}

/**
 * Runs `work` in a transaction, or in the caller's open one, like `transaction`; for work that only needs plain SQL. It has
 * a separate connection, because a statement takes four times as much processor time through Prisma. Statements that do not
 * wait for an answer are sent together: `BEGIN` with the first statement, and `COMMIT` with those of `$sendRaw`.
 */
export async function sqlTransaction<T>(ctx: Context, work: (ctx: SqlContext) => Promise<T>): Promise<T> {
  const { db } = ctx
  if (inTransaction(db)) return work(ctx)
  const pool = pools.get(db)
  if (!pool) throw new Error('This database client has no connections for plain SQL.')
  return repeatOnConflict(() =>
    withCurrentPlans(async () => {
      const client = await pool.connect()
      try {
        const send = createPipeline(client)
        const begun = send({ text: 'BEGIN' })
        // It writes, which requires a transaction.
        if (ctx.claim) await begun
        const result = await runClaimed({ ...ctx, db: plainSql(send) }, work)
        const { command } = await send({ text: 'COMMIT' })
        if (command !== 'COMMIT') throw new Error('A failed transaction was committed.')
        client.release()
        return result
      } catch (error) {
        await rollBack(client, error)
        throw asUnavailable(error)
      }
    }),
  )
}

/**
 * Returns the rows of a plain statement, without Prisma if outside of a transaction, for frequent statements. JSON is parsed
 * either way.
 */
export async function plainRows<Row>(db: SqlDatabase, statement: Prisma.Sql): Promise<Row[]> {
  const pool = pools.get(db)
  if (!pool) return db.$queryRaw<Row[]>(statement)
  const { rows } = await withCurrentPlans(() => pool.query(prepared(statement)))
  // The caller knows the selected columns.
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

/** Sends a statement; resolves to its result once all statements before it have succeeded. */
type Send = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

/** Creates the sender of a transaction's statements, which do not wait for each other: those of one tick are sent together. */
function createPipeline(client: pg.PoolClient): Send {
  const { stream } = client.connection
  let earlier: Promise<unknown> | null = null
  return (statement) => {
    stream.cork()
    process.nextTick(() => stream.uncork())
    const result = client.query(statement)
    const before = earlier
    // If a statement fails, the later ones fail too: it is the cause.
    const own = before === null ? result : before.then(() => result)
    for (const each of [result, own]) each.catch(() => {})
    earlier = own
    return own
  }
}

function plainSql(send: Send): SqlDatabase {
  return {
    async $queryRaw<T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) {
      const { rows } = await send(prepared('raw' in query ? Prisma.sql(query, ...values) : query))
      // The caller knows the selected columns.
      return rows as T
    },
    $sendRaw: (statement) => void send(prepared(statement)),
  }
}

/** The maximum number of prepared statements per connection. */
const MAX_PREPARED = 200

/** The names of prepared statements by text. */
const names = new Map<string, string>()
/** How often they were renamed. */
let renamed = 0

/** Names a statement, so that a connection parses and plans it once. */
function prepared({ text, values }: Prisma.Sql): pg.QueryConfig {
  const name = names.get(text) ?? (names.size < MAX_PREPARED ? `${renamed}.${names.size}` : null)
  if (name === null) return { text, values }
  names.set(text, name)
  return { name, text, values }
}

/**
 * Runs work, and again if a statement was prepared before a migration by a newer version, after which `SELECT *` would
 * return other columns. It fails before it has changed anything.
 */
async function withCurrentPlans<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
    // PostgreSQL's `feature_not_supported`, which has other causes too.
    if (code !== '0A000' || message !== 'cached plan must not change result type') throw error
    names.clear()
    renamed += 1
    return run()
  }
}
