import type pg from 'pg'
import type { DatabaseHealth } from './health.ts'
import { translated } from './unavailable.ts'

/** The error of pg for a statement that was not answered by its `query_timeout`. */
export const UNANSWERED = 'Query read timeout'

type Connected = Parameters<Parameters<pg.Pool['connect']>[0]>
type Query = (...args: unknown[]) => unknown

/**
 * Has a pool report what becomes of its statements and connections, throw what tells of trouble as `DatabaseUnavailable`,
 * connect to nothing while the database is known to be unreachable, and drop its idle connections when one that was in
 * use has gone silent: the others most likely went the same way.
 */
export function watched<P extends pg.Pool>(pool: P, health: DatabaseHealth): P {
  const connect: pg.Pool['connect'] = pool.connect.bind(pool)
  const query = pool.query.bind(pool) as Query

  function refused(error: unknown): Error {
    health.failed(error)
    return translated(error) as Error
  }

  async function connected(): Promise<pg.PoolClient> {
    const refusal = health.refusal()
    if (refusal) throw refusal
    try {
      return await connect()
    } catch (error) {
      throw refused(error)
    }
  }

  function connectWith(callback: (...answer: Connected) => void): void {
    const refusal = health.refusal()
    if (refusal) callback(refusal, undefined, () => {})
    else connect((error, client, done) => callback(error && refused(error), client, done))
  }

  pool.on('release', (error: Error | undefined) => {
    // What a connection is given back with was told when it occurred, or is told to who asked.
    if (!error) health.succeeded()
    else health.failed(error)
    if (isUnanswered(error)) for (let left = pool.idleCount; left > 0; left -= 1) connect().then(drop, ignore)
  })
  return Object.assign(pool, {
    connect: (callback?: (...answer: Connected) => void) => (callback ? connectWith(callback) : connected()),
    query(...args: unknown[]) {
      const answer = query(...args)
      if (!(answer instanceof Promise)) return answer
      return answer.catch((error: unknown) => {
        throw translated(error)
      })
    },
  })
}

/** Whether an error says that a connection has gone silent. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === UNANSWERED
}

const drop = (client: pg.PoolClient) => client.release(true)
const ignore = () => {}
