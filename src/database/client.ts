import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors.ts'
import { PrismaClient } from '../generated/prisma/client.ts'
import { SECOND } from '../time.ts'
import { openEmbedded } from './embedded.ts'
import { inTurn } from './in-turn.ts'
import { lockDirectory } from './lock.ts'
import { migrate } from './migrate.ts'
import { embeddedNotifications, type Notifications, serverNotifications } from './notifications.ts'
import { openServer, serverConfig } from './server.ts'
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
  /** Waits for the statements under way, then closes. May be called again. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Where the embedded database lives; made, for this user alone, when it does not exist. */
  readonly dataDir: string
  /** The PostgreSQL server to use in place of the embedded database. */
  readonly databaseUrl: string | undefined
  readonly log: Logger
}

/** What the two kinds of database have in common once they are open. */
interface Opened {
  readonly pool: pg.Pool
  readonly kind: DatabaseHandle['kind']
  readonly failure: Promise<Error>
  readonly notifications: Notifications
  readonly applied: number
  close(): Promise<void>
}

/**
 * Opens the database, and brings it up to date.
 * @throws StartError when it cannot be used: taken by another process, out of reach, or of another version.
 */
export async function openDatabase({ dataDir, databaseUrl, log }: DatabaseOptions): Promise<DatabaseHandle> {
  const start = performance.now()
  const { pool, kind, failure, notifications, applied, close } =
    databaseUrl === undefined ? await openInDirectory(dataDir, log) : await openOnServer(databaseUrl, log)
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
    close() {
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
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(cannotOpen(dataDir))
  const lock = await lockDirectory(dataDir)
  try {
    const directory = join(dataDir, 'database')
    if (!existsSync(directory)) {
      log.info(`database: creating the embedded database in ${dataDir} (first start, takes a few seconds)`)
    }
    const { pool, failure, close } = await openEmbedded(directory).catch(cannotOpen(dataDir))
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

const cannotOpen = (dataDir: string) => (error: Error) => {
  throw new StartError(`The embedded database in ${dataDir} does not open: ${error.message}`, { cause: error })
}

async function openOnServer(databaseUrl: string, log: Logger): Promise<Opened> {
  const config = serverConfig(databaseUrl)
  const migrating = await openServer(config, 1, log)
  const applied = await migrate(migrating).finally(() => migrating.end())
  const pool = await openServer(config, 10, log)
  return {
    pool,
    kind: 'server',
    failure: new Promise(() => {}),
    notifications: serverNotifications(config, log),
    applied,
    close: () => pool.end(),
  }
}
