import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { StartError } from '../core/errors.ts'
import { KEY_FILE } from '../core/private-directory.ts'
import { SECOND } from '../core/time.ts'
import { databaseDirectory } from '../database/begun-opening.ts'
import { lockDirectory } from '../database/lock.ts'
import { MOVE_MARK, migrationsDirectory, readMigrations } from '../database/migrate.ts'
import { type BackupSettings, onEmbedded, onServer, readKey, requireEmpty } from './backup.ts'
import { type Counts, catchUp, markOf } from './catch-up.ts'
import { dump, load } from './dump.ts'
import { copyDatabase } from './snapshot.ts'

/** What was moved. */
export interface Moved {
  /** The rows that were copied while the service ran. */
  readonly copied: number
  /** The rows that were written or deleted since. */
  readonly caughtUp: number
  /** The number of rows of each table, the same on both sides. */
  readonly counts: Counts
  /** How long the service had to be stopped, in milliseconds. */
  readonly stoppedMs: number
}

/** Says how far a move is. */
export interface MoveWatcher {
  /** All rows of a moment are copied. */
  copied(rows: number): void
  /** The service still runs, and has to be stopped now. Called once. */
  waiting(): void
}

/**
 * Moves the database of these settings into an empty place: a server's (an address) or a data directory. Copies it while the
 * service runs, waits until that is stopped, and catches up. The source stays as it is. What was interrupted can be repeated.
 * @throws StartError when the place is not empty, or a database cannot be read or written.
 */
export async function move(settings: BackupSettings, place: string, watcher: MoveWatcher): Promise<Moved> {
  const isServer = /^postgres(ql)?:\/\//.test(place)
  if (settings.DATABASE_URL === undefined && !isServer) {
    throw new StartError(
      'A data directory moves by copying it while the service is stopped. Name a server: postgresql://…',
    )
  }
  return isServer ? moveToServer(settings, place, watcher) : moveToDirectory(settings, place, watcher)
}

async function moveToServer(settings: BackupSettings, url: string, watcher: MoveWatcher): Promise<Moved> {
  return onServer(url, async (to) => {
    await requireOnlyMove(to)
    await clearUnfinished(to)
    await requireEmpty(to)
    await to.query(`CREATE TABLE "${MOVE_MARK}" ()`)
    const moved = await copyAndCatchUp(settings, to, watcher)
    await to.query(`DROP TABLE "${MOVE_MARK}"`)
    return moved
  })
}

async function moveToDirectory(settings: BackupSettings, dataDir: string, watcher: MoveWatcher): Promise<Moved> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir)
  const directory = databaseDirectory(dataDir)
  const unfinished = `${directory}.moving`
  try {
    if (existsSync(directory))
      throw new StartError(`${resolve(dataDir)} has a database already. Move into an empty place.`)
    await rm(unfinished, { recursive: true, force: true })
    const moved = await onEmbedded(
      unfinished,
      (to) => copyAndCatchUp(settings, to, watcher),
      async () => null,
    )
    const key = settings.SECRET_KEY === undefined ? await readKey(settings.DATA_DIR) : null
    if (key !== null) await writeFile(join(dataDir, KEY_FILE), key, { mode: 0o600 })
    await rename(unfinished, directory)
    return moved
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await lock.release()
  }
}

/** The key of the advisory lock of a move, which ends with the connection. */
const MOVE_LOCK = 7_234_117_003

async function requireOnlyMove(to: pg.ClientBase): Promise<void> {
  const { rows } = await to.query<{ isOnly: boolean }>('SELECT pg_try_advisory_lock($1) AS "isOnly"', [MOVE_LOCK])
  if (rows[0]?.isOnly !== true) throw new StartError('Another move into this database is running.')
}

/** Empties a database into which a move was begun and has not ended. */
async function clearUnfinished(to: pg.ClientBase): Promise<void> {
  const { rows } = await to.query<{ isMarked: boolean }>('SELECT to_regclass($1) IS NOT NULL AS "isMarked"', [
    `"${MOVE_MARK}"`,
  ])
  if (rows[0]?.isMarked !== true) return
  await to.query('BEGIN')
  await to.query(`
    DO $$ DECLARE each record; BEGIN
      FOR each IN SELECT oid::regclass AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      LOOP EXECUTE 'DROP TABLE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
      FOR each IN SELECT oid::regtype AS name FROM pg_type
        WHERE typnamespace = current_schema()::regnamespace AND typtype = 'e'
      LOOP EXECUTE 'DROP TYPE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
      FOR each IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
      LOOP EXECUTE 'DROP ROUTINE IF EXISTS ' || each.name || ' CASCADE'; END LOOP;
    END $$`)
  await to.query('COMMIT')
}

async function copyAndCatchUp(settings: BackupSettings, to: pg.ClientBase, watcher: MoveWatcher): Promise<Moved> {
  const known = await readMigrations(migrationsDirectory)
  let mark = 0
  const copy = async (from: pg.ClientBase, first: number | null) => {
    const begin = async () => {
      mark = first ?? (await markOf(from))
    }
    return load(to, dump(from, null, begin), known)
  }
  const { rows: copied } = await readingOnce(settings, copy)
  watcher.copied(copied)
  const finish = async (from: pg.ClientBase) => {
    const start = performance.now()
    const { changed: caughtUp, counts } = await catchUp(from, to, mark)
    return { copied, caughtUp, counts, stoppedMs: Math.round(performance.now() - start) }
  }
  return readingStopped(settings, watcher, finish)
}

/** Reads the database as of one moment, whether a service uses it or not. @param read is told the first transaction that may be missing. */
async function readingOnce<T>(
  { DATA_DIR, DATABASE_URL }: BackupSettings,
  read: (from: pg.ClientBase, first: number | null) => Promise<T>,
): Promise<T> {
  if (DATABASE_URL !== undefined) return onServer(DATABASE_URL, (from) => read(from, null))
  const copy = join(DATA_DIR, 'move.snapshot')
  await rm(copy, { recursive: true, force: true })
  try {
    const first = await copyDatabase(DATA_DIR, copy)
    return await onEmbedded(copy, (from) => read(from, first))
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** Reads the database once the service has stopped. */
async function readingStopped<T>(
  { DATA_DIR, DATABASE_URL }: BackupSettings,
  watcher: MoveWatcher,
  read: (from: pg.ClientBase) => Promise<T>,
): Promise<T> {
  if (DATABASE_URL !== undefined) {
    return onServer(DATABASE_URL, async (from) => {
      await untilTrue(() => isAlone(from), watcher)
      return read(from)
    })
  }
  let lock: Awaited<ReturnType<typeof lockDirectory>> | null = null
  const take = async () => {
    lock = await lockDirectory(DATA_DIR).catch((error: unknown) => {
      if (error instanceof StartError) return null
      throw error
    })
    return lock !== null
  }
  try {
    await untilTrue(take, watcher)
    return await onEmbedded(databaseDirectory(DATA_DIR), read)
  } finally {
    await (lock as { release(): Promise<void> } | null)?.release()
  }
}

/** Returns whether nobody else is connected to a database: a service always is. */
async function isAlone(from: pg.ClientBase): Promise<boolean> {
  const { rows } = await from.query<{ others: number }>(
    `SELECT count(*)::int AS others FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  )
  return rows[0]?.others === 0
}

async function untilTrue(isTrue: () => Promise<boolean>, watcher: MoveWatcher): Promise<void> {
  for (let attempt = 0; !(await isTrue()); attempt++) {
    if (attempt === 0) watcher.waiting()
    await pause(SECOND / 4)
  }
}
