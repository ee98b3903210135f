import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { lockDirectory } from '../database/embedded/directory-lock.ts'
import { databaseDirectory } from '../database/embedded/early-opening.ts'
import { type BackupSettings, onEmbedded, onServer, sessionUrl } from './backup.ts'
import { type ChangeFeed, hasService, openChangeFeed } from './change-feed.ts'
import { type Batch, beginLogOnServer, createChangeReader, dropLog, notLogged, requireLog } from './change-log.ts'
import { copyDatabase, requireDatabase } from './snapshot.ts'

/** A database that is being moved. Its changes are logged. */
export interface Source {
  /** Reads the database as of one moment. All later changes are logged. */
  copy<T>(read: (from: pg.ClientBase) => Promise<T>): Promise<T>
  /** Reads the next changes; null: no service uses the database anymore. */
  take(): Promise<Batch | null>
  /** Reads the database once no service uses it anymore. @param take reads the changes that are left in the log. */
  onceStopped<T>(read: (from: pg.ClientBase, take: () => Promise<Batch>) => Promise<T>): Promise<T>
}

/** Opens the database of these settings for a move. @throws StartError if it cannot be read, or another move reads it. */
export async function openSource<T>(settings: BackupSettings, use: (source: Source) => Promise<T>): Promise<T> {
  const { DATA_DIR } = settings
  const url = sessionUrl(settings)
  if (url !== undefined) return onServer(url, (from) => openServer(url, from, use))
  const feed = await openChangeFeed(DATA_DIR)
  if (feed === null) return openIdle(DATA_DIR, use)
  try {
    return await use(runningSource(DATA_DIR, feed))
  } finally {
    feed.close()
  }
}

async function openServer<T>(url: string, from: pg.ClientBase, use: (source: Source) => Promise<T>): Promise<T> {
  await beginLogOnServer(from)
  try {
    const read = await createChangeReader(from)
    return await use({
      copy: (copy) => onServer(url, copy),
      take: async () => ((await isAlone(from)) ? null : read(from)),
      async onceStopped(finish) {
        const result = await finish(from, () => read(from))
        // A service that had lost its connections for a moment may have written in the meantime.
        if (await isAlone(from)) return result
        throw new StartError(
          'Another program connected to the database during the move. Nothing was switched. Stop every instance and move again.',
        )
      },
    })
  } finally {
    // If this fails, the remaining triggers log nothing, and the next move drops them.
    await dropLog(from).catch(() => {})
  }
}

/** Returns whether no other program is connected to a database. A running service always is, because it listens. */
async function isAlone(from: pg.ClientBase): Promise<boolean> {
  const { rows } = await from.query<{ others: number }>(
    `SELECT count(*)::int AS others FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  )
  return rows[0]?.others === 0
}

/** Creates the source for an embedded database that a service uses. */
function runningSource(dataDir: string, feed: ChangeFeed): Source {
  return {
    async copy(read) {
      const copy = join(dataDir, 'move.snapshot')
      await rm(copy, { recursive: true, force: true })
      try {
        await copyDatabase(dataDir, copy)
        return await onEmbedded(copy, read)
      } finally {
        await rm(copy, { recursive: true, force: true })
      }
    },
    take: () => feed.take(),
    async onceStopped(finish) {
      const lock = await lockStopped(dataDir)
      try {
        return await onEmbedded(databaseDirectory(dataDir), async (from) => {
          await requireLog(from, feed.id)
          const read = await createChangeReader(from)
          const result = await finish(from, () => read(from))
          await dropLog(from)
          return result
        })
      } finally {
        await lock.release()
      }
    },
  }
}

/** Waits until a stopping service has released its directory, and locks the directory. */
async function lockStopped(dataDir: string): ReturnType<typeof lockDirectory> {
  for (;;) {
    try {
      return await lockDirectory(dataDir)
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      if (await hasService(dataDir)) throw notLogged()
      await pause(SECOND / 4)
    }
  }
}

/** Opens an embedded database that no service uses, and locks it until it is moved. */
async function openIdle<T>(dataDir: string, use: (source: Source) => Promise<T>): Promise<T> {
  await requireDatabase(dataDir)
  const lock = await lockDirectory(dataDir)
  try {
    return await onEmbedded(databaseDirectory(dataDir), (from) =>
      use({
        copy: (read) => read(from),
        take: async () => null,
        onceStopped: (finish) => finish(from, async () => ({ changed: [], isLast: true })),
      }),
    )
  } finally {
    await lock.release()
  }
}
