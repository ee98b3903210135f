import pg from 'pg'
import { isPatience, patienceOf } from './patience.ts'
import { isUnanswered } from './pool.ts'
import { translated } from './unavailable.ts'

/**
 * A pool whose connections, when they are taken for a transaction, are given one statement at a time. pg queues the next
 * itself, but has deprecated that (its version 9 will refuse it), and Prisma reads the relations of a row all at once.
 * A connection on which a statement was not answered is closed, and not used again: Prisma would give it back as good.
 */
export function inTurn(pool: pg.Pool): pg.Pool {
  const connect = async () => oneAtATime(await pool.connect())
  return Object.create(pool, {
    connect: { value: (done?: Parameters<pg.Pool['connect']>[0]) => (done ? pool.connect(done) : connect()) },
  })
}

type Statement = pg.QueryConfig & { readonly query_timeout?: number }
type Send = (this: pg.ClientBase, statement: Statement) => Promise<pg.QueryResult>

/** The client itself, until it is released. */
function oneAtATime(client: pg.PoolClient): pg.PoolClient {
  const { release } = client
  const send: Send = pg.Client.prototype.query
  let last: Promise<unknown> = Promise.resolve()
  let silent: Error | undefined
  let deadline: number | undefined

  async function sendOne(statement: Statement): Promise<pg.QueryResult> {
    if (isPatience(statement)) deadline = patienceOf(statement)
    try {
      return await send.call(client, deadline === undefined ? statement : { ...statement, query_timeout: deadline })
    } catch (error) {
      if (isUnanswered(error)) {
        silent = error as Error
        // With a statement under way this closes the connection at once.
        void client.end()
      }
      throw translated(error)
    }
  }

  return Object.assign(client, {
    query(statement: Statement) {
      const result = last.then(() => sendOne(statement))
      last = result.catch(() => undefined)
      return result
    },
    release(error?: Error | boolean) {
      Reflect.deleteProperty(client, 'query')
      client.release = release
      release(silent ?? error)
    },
  })
}
