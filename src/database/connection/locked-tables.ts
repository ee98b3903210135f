import type pg from 'pg'
import type { Logger } from 'pino'
import { SECOND } from '../../core/time.ts'

/** Detects statements that wait for a table lock, even on a busy server. */
export interface LockDetector {
  /** Queries the server at most once a second. When the server does not answer, returns the previous result. */
  isLocked(): Promise<boolean>
}

/** How long a result is cached, in milliseconds. */
const PERIOD = SECOND

/**
 * Selects the tables whose locks our statements have been waiting for, for half a second or longer. Our statements only
 * lock rows. Table locks come from an operator (`LOCK`, `VACUUM FULL`, `ALTER`) or a migration.
 */
const LOCKED = `
  SELECT DISTINCT lock.relation::regclass::text AS name
  FROM pg_locks AS lock JOIN pg_stat_activity AS activity USING (pid)
  WHERE NOT lock.granted AND lock.locktype = 'relation' AND activity.datname = current_database()
    AND activity.usename = current_user AND activity.query_start < clock_timestamp() - interval '0.5 seconds'`

/** Creates a detector of locked tables. Logs when the set of locked tables changes. */
export function createLockDetector(pool: Pick<pg.Pool, 'query'>, log: Logger): LockDetector {
  let asked = { at: Number.NEGATIVE_INFINITY, tables: '' }
  let asking: Promise<boolean> | null = null

  async function ask(): Promise<boolean> {
    try {
      const { rows } = await pool.query<{ name: string }>(LOCKED)
      const tables = rows.map(({ name }) => name).join(', ')
      if (tables !== asked.tables) {
        if (tables === '') log.warn('database: no statement is waiting for a locked table anymore')
        else log.error(`database: statements are waiting for a locked table: ${tables}`)
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
