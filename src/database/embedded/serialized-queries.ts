import pg from 'pg'
import { createLimiter } from '../../core/concurrency/limiter.ts'
import { isUnanswered } from '../connection/pool.ts'
import { deadlineOf, setsDeadline } from '../connection/statement-deadline.ts'
import { asUnavailable } from '../connection/unavailable.ts'

/**
 * Wraps a pool so that the connections of transactions get one statement at a time. Prisma reads the relations of a row
 * concurrently; pg would queue the statements, but has deprecated that (version 9 will reject it). Closes a connection
 * with an unanswered statement, which Prisma would return to the pool as usable.
 */
export function serializeQueries(pool: pg.Pool): pg.Pool {
  const connect = async () => serialized(await pool.connect())
  return Object.create(pool, {
    connect: { value: (done?: Parameters<pg.Pool['connect']>[0]) => (done ? pool.connect(done) : connect()) },
  })
}

type Statement = pg.QueryConfig & { readonly query_timeout?: number }
type Send = (this: pg.ClientBase, statement: Statement) => Promise<pg.QueryResult>

/** Runs calls of a function one after the other. */
export function oneAtATime<A, T>(run: (argument: A) => Promise<T>): (argument: A) => Promise<T> {
  const inTurn = createLimiter({ atOnce: 1 })
  return (argument) => inTurn(() => run(argument))
}

/** Serializes the queries of a client until it is released. */
function serialized(client: pg.PoolClient): pg.PoolClient {
  const { release } = client
  const send: Send = pg.Client.prototype.query
  let silent: Error | undefined
  let deadline: number | undefined

  async function sendOne(statement: Statement): Promise<pg.QueryResult> {
    if (setsDeadline(statement)) deadline = deadlineOf(statement)
    try {
      return await send.call(client, deadline === undefined ? statement : { ...statement, query_timeout: deadline })
    } catch (error) {
      if (isUnanswered(error)) {
        silent = error as Error
        // Closes the connection at once, because a statement is in progress.
        void client.end()
      }
      throw asUnavailable(error)
    }
  }

  return Object.assign(client, {
    query: oneAtATime(sendOne),
    release(error?: Error | boolean) {
      Reflect.deleteProperty(client, 'query')
      client.release = release
      release(silent ?? error)
    },
  })
}
