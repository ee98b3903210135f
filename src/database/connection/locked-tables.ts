import type pg from 'pg'
import type { Logger } from 'pino'
import { SECOND } from '../../core/time.ts'

/** Detects statements that wait for a table lock, which is independent of the load. */
export interface LockDetector {
  /** Queries the server at most once a second; false also when it does not answer. */
  isLocked(): Promise<boolean>
}

/** How long a result is cached, in milliseconds. */
const PERIOD = SECOND

/**
 * Selects tables for which our statements wait for half a second or longer. Our statements lock rows only: table locks come
 * from an operator (`LOCK`, `VACUUM FULL`, `ALTER`) or a migration.
 */
const LOCKED = `
  SELECT DISTINCT lock.relation::regclass::text AS name
  FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
  WHERE NOT lock.granted AND lock.locktype = 'relation' AND activity.datname = current_database()
    AND activity.usename = current_user AND activity.query_start < clock_timestamp() - interval '0.5 seconds'`

/** Creates a detector of locked tables. Logs once when tables are locked, and when they are no longer. */
export function createLockDetector(pool: Pick<pg.Pool, 'query'>, log: Logger): LockDetector {
  let asked = { at: Number.NEGATIVE_INFINITY, tables: '' }
  let asking: Promise<boolean> | null = null

  async function ask(): Promise<boolean> {
    try {
      const { rows } = await pool.query<{ name: string }>(LOCKED)
      const tables = rows.map(({ name }) => name).join(', ')
      if (tables !== asked.tables) {
        if (tables === '') log.warn('database: no statement waits for a locked table')
        else log.error(`database: statements wait for a locked table: ${tables}`)
      }
      asked = { at: performance.now(), tables }
    } catch {
      // The health check reports an unreachable server.
      asked = { ...asked, at: performance.now() }
    }
    return asked.tables !== ''
  }

  return {
    isLocked() {
      if (performance.now() - asked.at < PERIOD) return Promise.resolve(asked.tables !== '')
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    },
  }
}
