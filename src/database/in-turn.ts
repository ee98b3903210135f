import pg from 'pg'

/**
 * A pool whose connections, when they are taken for a transaction, are given one statement at a time. pg queues the next
 * itself, but has deprecated that (its version 9 will refuse it), and Prisma reads the relations of a row all at once.
 */
export function inTurn(pool: pg.Pool): pg.Pool {
  const connect = async () => oneAtATime(await pool.connect())
  return Object.create(pool, {
    connect: { value: (done?: Parameters<pg.Pool['connect']>[0]) => (done ? pool.connect(done) : connect()) },
  })
}

type Send = (this: pg.ClientBase, statement: pg.QueryConfig) => Promise<pg.QueryResult>

/** The client itself, until it is released. */
function oneAtATime(client: pg.PoolClient): pg.PoolClient {
  const { release } = client
  const send: Send = pg.Client.prototype.query
  let last: Promise<unknown> = Promise.resolve()
  return Object.assign(client, {
    query(statement: pg.QueryConfig) {
      const result = last.then(() => send.call(client, statement))
      last = result.catch(() => undefined)
      return result
    },
    release(error?: Error | boolean) {
      Reflect.deleteProperty(client, 'query')
      client.release = release
      release(error)
    },
  })
}
