import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../../core/errors.ts'
import { MINUTE, SECOND } from '../../core/time.ts'

/** The key of the advisory lock of Prisma's migrations (schema-engine, `acquire_lock` of its PostgreSQL flavour). */
const MIGRATION_LOCK = 72_707_369

const PAUSE = 0.2 * SECOND
/** Longer than a migration of a large table should take. */
const PATIENCE = 30 * MINUTE

/**
 * Runs work while no other start, and no deploy of Prisma, migrates the database. The lock belongs to a transaction on a
 * connection of its own, so the pool needs another one for the work. A lock of the session would stay with a pooler.
 * @throws StartError when another process has had the lock for half an hour.
 */
export async function whileOnlyMigrating<T>(pool: pg.Pool, log: Logger, work: () => Promise<T>): Promise<T> {
  const client = await lockedClient(pool, log)
  try {
    return await work()
  } finally {
    await client.query('ROLLBACK').then(
      () => client.release(),
      (error: Error) => client.release(error),
    )
  }
}

/** Returns a connection in a transaction that has the lock. Waits outside of transactions, which would keep old rows. */
async function lockedClient(pool: pg.Pool, log: Logger): Promise<pg.PoolClient> {
  const end = performance.now() + PATIENCE
  for (let isFirst = true; performance.now() < end; isFirst = false) {
    const client = await pool.connect()
    const isMine = await tryLock(client).catch((error: Error) => {
      client.release(error)
      throw error
    })
    if (isMine) return client
    client.release()
    if (isFirst) log.info('database: another instance is starting and may be migrating the database; waiting for it')
    await sleep(PAUSE)
  }
  throw new StartError(
    `Another process has been migrating the database for ${PATIENCE / MINUTE} minutes. Wait until it has finished, or stop it, and start again.`,
  )
}

async function tryLock(client: pg.PoolClient): Promise<boolean> {
  await client.query('BEGIN')
  const { rows } = await client.query<{ isMine: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS "isMine"', [
    MIGRATION_LOCK,
  ])
  if (rows[0]?.isMine) return true
  await client.query('ROLLBACK')
  return false
}
