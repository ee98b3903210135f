import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { DirectoryLock } from './directory-lock.ts'
import { lockDirectory } from './directory-lock.ts'
import { holdsDatabase } from './embedded-directory.ts'
import { openInThread, startThread } from './embedded-thread.ts'

/** What has been started for the embedded database before the program is loaded. */
export interface EarlyOpening {
  /** The thread that loads PostgreSQL. */
  readonly thread: Worker
  /** The database that the thread opens; null: it does not exist yet, or it cannot be used. */
  readonly database: EarlyDatabase | null
}

/** An existing database that a thread is opening. */
export interface EarlyDatabase {
  readonly dataDir: string
  readonly lock: DirectoryLock
  /** Resolves once the database is open. */
  readonly opened: Promise<void>
}

/** Returns the directory of the embedded database's files. */
export function databaseDirectory(dataDir: string): string {
  return join(dataDir, 'database')
}

/**
 * Starts a thread for the embedded database, which opens the existing one in `dataDir`. Does not report problems,
 * because the regular opening finds them again.
 */
export async function startEarlyOpening(dataDir: string): Promise<EarlyOpening> {
  const thread = startThread()
  const lock = await lockDatabase(dataDir)
  if (lock === null) return { thread, database: null }
  const opened = openInThread(thread, databaseDirectory(dataDir))
  // The regular opening reports the error.
  opened.catch(() => {})
  return { thread, database: { dataDir, lock, opened } }
}

/** Locks a directory that has a usable database; null: it cannot be locked, or has none. */
async function lockDatabase(dataDir: string): Promise<DirectoryLock | null> {
  const directory = databaseDirectory(dataDir)
  if (!existsSync(directory)) return null
  const lock = await lockDirectory(dataDir).catch(() => null)
  if (lock === null) return null
  if (await holdsDatabase(directory).catch(() => false)) return lock
  await lock.release()
  return null
}

/** The early opening that nothing has taken over yet. */
let begun: EarlyOpening | null = null

/** Provides the early opening to the next embedded database that opens. */
export function provideEarlyOpening(opening: EarlyOpening): void {
  begun = opening
}

/** Returns the database that a thread is already opening, and its thread; null: there is none in this directory. */
export function takeEarlyOpening(dataDir: string): (EarlyDatabase & { readonly thread: Worker }) | null {
  if (begun?.database?.dataDir !== dataDir) return null
  const { thread, database } = begun
  begun = null
  return { ...database, thread }
}

/** Returns a thread for an embedded database: the one that was started early, or a new one. */
export function takeThread(): Worker {
  if (begun === null || begun.database !== null) return startThread()
  const { thread } = begun
  begun = null
  return thread
}
