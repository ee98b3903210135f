import { existsSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { PrismaClient } from '../generated/prisma/client.ts'
import type { DatabaseHealth } from './connection/connection-health.ts'
import { watchDatabase } from './connection/connection-health.ts'
import type { LockDetector } from './connection/locked-tables.ts'
import { createLockDetector } from './connection/locked-tables.ts'
import {
  embeddedNotifications,
  type Notifications,
  polledNotifications,
  serverNotifications,
} from './connection/notifications.ts'
import { createPool, poolAfter, withHealth } from './connection/pool.ts'
import { routeTo } from './connection/route.ts'
import {
  healthConfig,
  migrationConfig,
  openServer,
  type ServerConfig,
  serverConfig,
} from './connection/server-config.ts'
import type { DatabaseProblem } from './connection/unavailable.ts'
import { lockDirectory } from './embedded/directory-lock.ts'
import { databaseDirectory, takeEarlyOpening } from './embedded/early-opening.ts'
import { openEmbedded, openedEmbedded } from './embedded/embedded.ts'
import { asStartError, requireWritable } from './embedded/embedded-directory.ts'
import { serializeQueries } from './embedded/serialized-queries.ts'
import { startVacuum } from './embedded/vacuum.ts'
import { migrate, migrateTo, migrationsDirectory, readMigrations, requireMoved } from './migration/migrate.ts'
import { readTemplate } from './migration/migrated-template.ts'
import { whileOnlyMigrating } from './migration/migration-lock.ts'
import { joiningPool, useTransactions } from './transaction.ts'

/** An open database, migrated to this version. */
export interface DatabaseHandle {
  readonly prisma: PrismaClient
  /** The connections that `prisma` uses, for plain SQL. The embedded database has only one: do not hold it for long. */
  readonly pool: pg.Pool
  readonly kind: 'embedded' | 'server'
  /** Resolves with the reason when the embedded database is lost. The process cannot continue after that. */
  readonly failure: Promise<Error>
  readonly listen: Notifications['listen']
  /** Returns the current problem, cached for about a second at most; null: none. */
  readonly trouble: DatabaseHealth['check']
  /** Returns whether statements wait for a locked table, cached for about a second at most. */
  readonly isLocked: LockDetector['isLocked']
  /** Waits for running statements, then closes the database. Can be called more than once. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** The directory of the embedded database. Created with access for this user only. */
  readonly dataDir: string
  /** The PostgreSQL server to use instead of the embedded database. */
  readonly databaseUrl: string | undefined
  /**
   * The address of the same server for what needs a session of its own, if `databaseUrl` is that of a pooler: migrations
   * and notifications.
   */
  readonly directUrl?: string | undefined
  /** How many connections to the server may be open, including those for health checks and notifications; absent: 12. */
  readonly connections?: number
  readonly log: Logger
  /** The statement timeout on a server, in milliseconds. */
  readonly deadline?: number
  /** How long a transaction may wait for a connection, and how long it may run, in milliseconds; absent: 10 s. */
  readonly transactionTimeout?: number
}

/** The common part of both kinds of open database. */
interface Opened {
  readonly pool: pg.Pool
  readonly kind: DatabaseHandle['kind']
  readonly failure: Promise<Error>
  readonly notifications: Notifications
  readonly health: DatabaseHealth
  readonly isLocked: LockDetector['isLocked']
  readonly applied: number
  close(): Promise<void>
}

/**
 * Opens the database and applies pending migrations.
 * @throws StartError when the database is in use by another process, unreachable, or of another version.
 */
export async function openDatabase(options: DatabaseOptions): Promise<DatabaseHandle> {
  const { dataDir, databaseUrl, log, transactionTimeout = 10 * SECOND } = options
  const start = performance.now()
  const opening = databaseUrl === undefined ? openInDirectory(dataDir, log) : openOnServer({ ...options, databaseUrl })
  const prisma = new PrismaClient({
    adapter: new PrismaPg(joiningPool(serializeQueries(poolAfter(async () => (await opening).pool)))),
    // Without the lines of the program around the call, which are the whole bundle.
    errorFormat: 'minimal',
    // Of the writes to several tables that Prisma makes by itself.
    transactionOptions: { maxWait: transactionTimeout, timeout: transactionTimeout },
  })
  // Prisma loads its query compiler while the database opens, without using the database.
  const [opened] = await Promise.all([opening, prisma.$connect()])
  const { pool, kind, failure, notifications, health, isLocked, applied, close } = opened
  useTransactions(prisma, pool, transactionTimeout)
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
    isLocked,
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
  const begun = takeEarlyOpening(dataDir)
  if (!begun) await makeDirectory(dataDir).catch(cannotOpen(dataDir))
  const lock = begun?.lock ?? (await lockDirectory(dataDir))
  try {
    const directory = databaseDirectory(dataDir)
    if (!existsSync(directory)) {
      log.info(`database: creating the embedded database in ${dataDir} (first start, takes a few seconds)`)
    }
    const migrations = readMigrations(migrationsDirectory)
    // An error in reading them is reported below, once the database is open.
    migrations.catch(() => {})
    const opening = begun
      ? openedEmbedded(directory, begun.thread, begun.opened)
      : openEmbedded(directory, readTemplate)
    const { pool, failure, close } = await opening.catch(cannotOpen(dataDir))
    const health = watchDatabase({
      ask: async () => {
        if (await isFull(directory)) return 'full'
        await pool.query('SELECT 1')
        return null
      },
      // Statements wait for the single connection.
      refuses: false,
      waiting: () => 0,
      log,
    })
    withHealth(pool, health)
    pool.on('error', (error) => log.warn({ err: error }, 'database: the idle connection failed'))
    const notifications = embeddedNotifications(pool)
    const applied = await migrations
      .then((found) => migrateTo(pool, found))
      .catch(async (error) => {
        await close()
        throw error
      })
    const stopVacuum = startVacuum(pool, log)
    return {
      pool,
      kind: 'embedded',
      failure,
      notifications,
      health,
      // No other process has a connection.
      isLocked: async () => false,
      applied,
      async close() {
        await stopVacuum()
        await close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Creates the directory if it does not exist. @throws StartError when it cannot be created or written to. */
async function makeDirectory(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw asStartError(error, dataDir)
  })
  await requireWritable(dataDir)
}

const cannotOpen = (dataDir: string) => (error: Error) => {
  throw new StartError(`Could not open the embedded database in ${dataDir}: ${error.message}`, { cause: error })
}

/** The default of DATABASE_CONNECTIONS. */
const DEFAULT_CONNECTIONS = 12

/** Beside the pool: one connection for health checks, one for notifications. */
const BESIDE_POOL = 2

const POLLED =
  'database: DATABASE_URL is the address of a pooler, so this instance looks for changes every second instead of being notified. Set DATABASE_DIRECT_URL to the server’s own address'

interface ServerOptions extends DatabaseOptions {
  readonly databaseUrl: string
}

async function openOnServer(options: ServerOptions): Promise<Opened> {
  const { databaseUrl, directUrl, connections = DEFAULT_CONNECTIONS, log, deadline } = options
  const route = await routeTo(databaseUrl)
  if (route.advice !== null) log.warn(`database: ${route.advice}`)
  const direct = directUrl === undefined ? null : { url: directUrl, route: await routeTo(directUrl) }
  const session = direct ?? { url: databaseUrl, route }
  const applied = await migrateServer(migrationConfig(session.url, session.route), log)
  const pool = await openServer(serverConfig(databaseUrl, route, deadline), connections - BESIDE_POOL, log)
  // A pooler at the direct address gives each client a session of its own: that is what the address is for.
  const isNotified = direct !== null || !route.isPooled
  if (!isNotified) log.warn(POLLED)
  // A separate pool, so that health checks do not depend on the connections they check.
  const healthPool = createPool({ ...healthConfig(databaseUrl), max: 1 })
  healthPool.on('error', () => {})
  const health = watchDatabase({
    ask: () => askServer(healthPool),
    refuses: true,
    waiting: () => pool.totalCount - pool.idleCount + pool.waitingCount,
    log,
  })
  return {
    pool: withHealth(pool, health),
    kind: 'server',
    failure: new Promise(() => {}),
    notifications: isNotified
      ? serverNotifications(serverConfig(session.url, session.route), log)
      : polledNotifications(),
    health,
    isLocked: createLockDetector(healthPool, log).isLocked,
    applied,
    async close() {
      await Promise.all([pool.end(), healthPool.end()])
    },
  }
}

/** Migrates a database. Two connections: one has the lock. @returns how many migrations it applied. */
async function migrateServer(config: ServerConfig, log: Logger): Promise<number> {
  const pool = await openServer(config, 2, log)
  try {
    await requireMoved(pool)
    return await whileOnlyMigrating(pool, log, () => migrate(pool))
  } finally {
    await pool.end()
  }
}

/** The free space, in bytes, below which the disk counts as full. PostgreSQL writes pages of 8 KiB. */
const MIN_FREE_BYTES = 64 * 1024

async function isFull(directory: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize < MIN_FREE_BYTES
}

/** Returns the problem of a server that answers. The rows exceed `work_mem`, so the server has to write to its disk. */
async function askServer(healthPool: pg.Pool): Promise<DatabaseProblem | null> {
  // Several statements give several results, which pg's types do not say.
  const results: unknown = await healthPool.query(ASK)
  const [{ readOnly } = {}] = (results as pg.QueryResult<{ readOnly?: boolean }>[]).flatMap(({ rows }) => rows)
  return readOnly ? 'read-only' : null
}

/** The settings are those of the transaction, because a pooler passes no others on. */
const ASK = `BEGIN; SET LOCAL statement_timeout = ${SECOND}; SET LOCAL work_mem = 64;
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS "readOnly", count(*)
  FROM generate_series(1, 5000);
  COMMIT`
