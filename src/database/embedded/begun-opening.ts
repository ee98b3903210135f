import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { DirectoryLock } from './directory-lock.ts'
import { lockDirectory } from './directory-lock.ts'
import { holdsDatabase } from './embedded-directory.ts'
import { openInThread, startThread } from './embedded-thread.ts'

/** The work for the embedded database before the program is loaded. */
export interface BegunOpening {
  /** The thread, which loads PostgreSQL. */
  readonly thread: Worker
  /** The database that the thread opens; null: it does not exist yet, or it cannot be used. */
  readonly database: BegunDatabase | null
}

/** An existing database that a thread opens. */
export interface BegunDatabase {
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
 * Starts a thread for the embedded database, which opens the existing one in `dataDir`. Does not report problems, because
 * the regular opening finds them again.
 */
export async function beginOpening(dataDir: string): Promise<BegunOpening> {
  const thread = startThread()
  const lock = await lockDatabase(dataDir)
  if (lock === null) return { thread, database: null }
  const opened = openInThread(thread, databaseDirectory(dataDir))
  // The regular opening reports the error.
  opened.catch(() => {})
  return { thread, database: { dataDir, lock, opened } }
}

/** Locks a directory with a usable database; null: it cannot be locked, or has none. */
async function lockDatabase(dataDir: string): Promise<DirectoryLock | null> {
  const directory = databaseDirectory(dataDir)
  if (!existsSync(directory)) return null
  const lock = await lockDirectory(dataDir).catch(() => null)
  if (lock === null) return null
  if (await holdsDatabase(directory).catch(() => false)) return lock
  await lock.release()
  return null
}

/** An opening that was begun and not taken over yet. */
let begun: BegunOpening | null = null

/** Provides the begun opening to the next embedded database that opens. */
export function provideOpening(opening: BegunOpening): void {
  begun = opening
}

/** Returns the database that a thread is already opening, and its thread; null: none in this directory. */
export function takeOpening(dataDir: string): (BegunDatabase & { readonly thread: Worker }) | null {
  if (begun?.database?.dataDir !== dataDir) return null
  const { thread, database } = begun
  begun = null
  return { ...database, thread }
}

/** Returns a thread for an embedded database: the begun one, or a new one. */
export function takeThread(): Worker {
  if (begun === null || begun.database !== null) return startThread()
  const { thread } = begun
  begun = null
  return thread
}
