import type pg from 'pg'
import type { Context, SqlContext, SqlDatabase } from '../core/context.ts'
import { inTransaction, repeatOnConflict, runClaimed } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { asUnavailable } from './connection/unavailable.ts'

/** The pools of connections of Prisma clients. */
const pools = new WeakMap<object, pg.Pool>()

/** Lets `sqlTransaction` use the connections of a Prisma client. */
export function offerConnections(prisma: object, pool: pg.Pool): void {
  pools.set(prisma, pool)
}

/**
 * Runs `work` in a transaction, or in the caller's open one, like `transaction`, but for work that only needs plain
 * SQL. It uses a connection without Prisma, through which a statement takes four times as much processor time.
 * Statements whose answers nothing waits for are sent together: `BEGIN` with the first statement, and `COMMIT` with
 * those of `$sendRaw`.
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
        // The claim writes, so the transaction must have begun.
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
 * Returns the rows of a plain statement. Outside a transaction it bypasses Prisma, for frequent statements. JSON is
 * parsed either way.
 */
export async function plainRows<Row>(db: SqlDatabase, statement: Prisma.Sql): Promise<Row[]> {
  const pool = pools.get(db)
  if (!pool) return db.$queryRaw<Row[]>(statement)
  const { rows } = await withCurrentPlans(() => pool.query(prepared(statement)))
  // The caller knows the selected columns.
  return rows as Row[]
}

/** Rolls back a failed transaction. Closes a connection that does not answer. */
async function rollBack(client: pg.PoolClient, cause: unknown): Promise<void> {
  const problem = asUnavailable(cause)
  if (problem !== cause) return client.release(cause as Error)
  await client.query('ROLLBACK').then(
    () => client.release(),
    (error: Error) => client.release(error),
  )
}

/** Sends a statement. Resolves to its result once all statements before it have succeeded. */
type Send = (statement: pg.QueryConfig) => Promise<pg.QueryResult>

/**
 * Creates a function that sends the statements of a transaction without waiting for answers. It batches those of a
 * tick.
 */
function createPipeline(client: pg.PoolClient): Send {
  const { stream } = client.connection
  let earlier: Promise<unknown> | null = null
  return (statement) => {
    stream.cork()
    process.nextTick(() => stream.uncork())
    const result = client.query(statement)
    const before = earlier
    // If a statement fails, the later ones fail too. The error of the first is the cause.
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
/** How often all prepared statements were renamed. */
let renamed = 0

/** Names a statement, so that each connection parses and plans it only once. */
function prepared({ text, values }: Prisma.Sql): pg.QueryConfig {
  const name = names.get(text) ?? (names.size < MAX_PREPARED ? `${renamed}.${names.size}` : null)
  if (name === null) return { text, values }
  names.set(text, name)
  return { name, text, values }
}

/**
 * Runs work. Repeats it if a statement was prepared before a newer version's migration, after which `SELECT *` would
 * return other columns. That statement fails before it has changed anything.
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
