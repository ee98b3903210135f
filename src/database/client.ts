import { existsSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors.ts'
import { PrismaClient } from '../generated/prisma/client.ts'
import { SECOND } from '../time.ts'
import { openEmbedded } from './embedded.ts'
import { asStartError, requireWritable } from './embedded-directory.ts'
import type { DatabaseHealth } from './health.ts'
import { watchDatabase } from './health.ts'
import { inTurn } from './in-turn.ts'
import { lockDirectory } from './lock.ts'
import { migrate } from './migrate.ts'
import { embeddedNotifications, type Notifications, serverNotifications } from './notifications.ts'
import { watched } from './pool.ts'
import { healthConfig, migrationConfig, openServer, serverConfig } from './server.ts'
import type { Trouble } from './unavailable.ts'
import { keepUp } from './upkeep.ts'

/** An open database, migrated to this version. */
export interface DatabaseHandle {
  readonly prisma: PrismaClient
  /** The connections under `prisma`, for SQL that is the point. The embedded database has one: use it for no long waits. */
  readonly pool: pg.Pool
  readonly kind: 'embedded' | 'server'
  /** Resolves, with the reason, when the embedded database is lost while in use. The process cannot go on then. */
  readonly failure: Promise<Error>
  readonly listen: Notifications['listen']
  /** What is wrong with it, as it was found within the last second or so; null: nothing. */
  readonly trouble: DatabaseHealth['check']
  /** Waits for the statements under way, then closes. May be called again. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Where the embedded database lives; made, for this user alone, when it does not exist. */
  readonly dataDir: string
  /** The PostgreSQL server to use in place of the embedded database. */
  readonly databaseUrl: string | undefined
  readonly log: Logger
  /** How long a statement may take on a server, in milliseconds. */
  readonly deadline?: number
}

/** What the two kinds of database have in common once they are open. */
interface Opened {
  readonly pool: pg.Pool
  readonly kind: DatabaseHandle['kind']
  readonly failure: Promise<Error>
  readonly notifications: Notifications
  readonly health: DatabaseHealth
  readonly applied: number
  close(): Promise<void>
}

/**
 * Opens the database, and brings it up to date.
 * @throws StartError when it cannot be used: taken by another process, out of reach, or of another version.
 */
export async function openDatabase({ dataDir, databaseUrl, log, deadline }: DatabaseOptions): Promise<DatabaseHandle> {
  const start = performance.now()
  const { pool, kind, failure, notifications, health, applied, close } =
    databaseUrl === undefined ? await openInDirectory(dataDir, log) : await openOnServer(databaseUrl, log, deadline)
  const prisma = new PrismaClient({
    adapter: new PrismaPg(inTurn(pool)),
    transactionOptions: { maxWait: 10 * SECOND, timeout: 10 * SECOND },
  })
  const seconds = ((performance.now() - start) / SECOND).toFixed(1)
  log.info(`database: ready (${kind}, ${seconds} s, ${migrationsApplied(applied)})`)
  let closed: Promise<void> | undefined
  return {
    prisma,
    pool,
    kind,
    failure,
    listen: notifications.listen,
    trouble: health.check,
    close() {
      health.close()
      closed ??= prisma
        .$disconnect()
        .then(() => notifications.close())
        .then(close)
      return closed
    },
  }
}

function migrationsApplied(count: number): string {
  return count === 0 ? 'up to date' : `${count} ${count === 1 ? 'migration' : 'migrations'} applied`
}

async function openInDirectory(dataDir: string, log: Logger): Promise<Opened> {
  await makeDirectory(dataDir).catch(cannotOpen(dataDir))
  const lock = await lockDirectory(dataDir)
  try {
    const directory = join(dataDir, 'database')
    if (!existsSync(directory)) {
      log.info(`database: creating the embedded database in ${dataDir} (first start, takes a few seconds)`)
    }
    const { pool, failure, close } = await openEmbedded(directory).catch(cannotOpen(dataDir))
    const health = watchDatabase({
      ask: async () => {
        if (await isFull(directory)) return 'full'
        await pool.query('SELECT 1')
        return null
      },
      // Its one connection is worth waiting for.
      refuses: false,
      waiting: () => 0,
      log,
    })
    watched(pool, health)
    pool.on('error', (error) => log.warn({ err: error }, 'database: the idle connection failed'))
    const notifications = embeddedNotifications(pool)
    const applied = await migrate(pool).catch(async (error) => {
      await close()
      throw error
    })
    const stopUpkeep = keepUp(pool, log)
    return {
      pool,
      kind: 'embedded',
      failure,
      notifications,
      health,
      applied,
      async close() {
        await stopUpkeep()
        await close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Makes the directory where there is none. @throws StartError when that, or writing in it, fails. */
async function makeDirectory(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw asStartError(error, dataDir)
  })
  await requireWritable(dataDir)
}

const cannotOpen = (dataDir: string) => (error: Error) => {
  throw new StartError(`The embedded database in ${dataDir} does not open: ${error.message}`, { cause: error })
}

async function openOnServer(databaseUrl: string, log: Logger, deadline?: number): Promise<Opened> {
  const config = serverConfig(databaseUrl, deadline)
  const migrating = await openServer(migrationConfig(databaseUrl), 1, log)
  const applied = await migrate(migrating).finally(() => migrating.end())
  const pool = await openServer(config, 10, log)
  // A connection of its own, so that it is not the one that is asked about.
  const asking = new pg.Pool({ ...healthConfig(databaseUrl), max: 1 })
  asking.on('error', () => {})
  const health = watchDatabase({
    ask: () => askServer(asking),
    refuses: true,
    waiting: () => pool.totalCount - pool.idleCount + pool.waitingCount,
    log,
  })
  return {
    pool: watched(pool, health),
    kind: 'server',
    failure: new Promise(() => {}),
    notifications: serverNotifications(config, log),
    health,
    applied,
    async close() {
      await Promise.all([pool.end(), asking.end()])
    },
  }
}

/** What little is left when nothing can be written any more, in bytes: PostgreSQL writes pages of 8 KiB. */
const LAST_BYTES = 64 * 1024

async function isFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize < LAST_BYTES
}

/** What is wrong with a server that answers. Its memory is too small for these rows, so that it writes some to its disk. */
async function askServer(asking: pg.Pool): Promise<Trouble | null> {
  const { rows } = await asking.query<{ readOnly: boolean }>(
    `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS "readOnly", count(*)
     FROM generate_series(1, 5000)`,
  )
  return rows[0]?.readOnly ? 'read-only' : null
}
