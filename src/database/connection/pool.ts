import pg from 'pg'
import type { DatabaseHealth } from './connection-health.ts'
import { asUnavailable } from './unavailable.ts'

/** The message of pg's error for a statement that exceeds its `query_timeout`. */
const UNANSWERED = 'Query read timeout'

type Connected = Parameters<Parameters<pg.Pool['connect']>[0]>
type Query = (...args: unknown[]) => unknown

/**
 * Creates a pool. If a connection fails while it is in use, between two statements, the process goes on and the next
 * statement on that connection rejects.
 */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/** Returns a pool that forwards calls to another one, which may still be opening. */
export function poolAfter(opened: () => Promise<pg.Pool>): pg.Pool {
  return Object.create(pg.Pool.prototype, {
    connect: { value: async () => (await opened()).connect() },
    query: { value: async (...args: Parameters<pg.Pool['query']>) => (await opened()).query(...args) },
  })
}

/**
 * Makes a pool report the results of statements and connections to `health`, throw database problems as
 * `DatabaseUnavailable`, and refuse connections while the database is unreachable. When a connection in use becomes
 * silent, the pool also drops its idle connections, which are most likely dead too.
 */
export function withHealth<P extends pg.Pool>(pool: P, health: DatabaseHealth): P {
  const connect: pg.Pool['connect'] = pool.connect.bind(pool)
  const query = pool.query.bind(pool) as Query

  function refused(error: unknown): Error {
    health.failed(error)
    return asUnavailable(error) as Error
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
    // `error` is the one that the caller passed to `release`.
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
        throw asUnavailable(error)
      })
    },
  })
}

/** Returns whether an error means that a connection has become silent. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === UNANSWERED
}

const drop = (client: pg.PoolClient) => client.release(true)
const ignore = () => {}
