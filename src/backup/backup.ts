import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type pg from 'pg'
import type { Config } from '../core/config.ts'
import { StartError } from '../core/errors.ts'
import { KEY_FILE } from '../core/private-directory.ts'
import { databaseDirectory } from '../database/begun-opening.ts'
import { openEmbedded } from '../database/embedded.ts'
import { lockDirectory } from '../database/lock.ts'
import { migrationsDirectory, readMigrations } from '../database/migrate.ts'
import { createPool } from '../database/pool.ts'
import { migrationConfig } from '../database/server.ts'
import { readArchive, verifyArchive, writeArchive } from './archive.ts'
import { dump, load } from './dump.ts'
import { copyDatabase } from './snapshot.ts'

export type BackupSettings = Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'SECRET_KEY'>

/** What was restored. */
export interface Restored {
  readonly rows: number
  /** Whether the secret key came with it. */
  readonly hasKey: boolean
}

/**
 * Writes a backup of the database, and of the secret key unless that is a setting, to a new file, while services may run. It holds
 * all that was acknowledged before the call.
 * @param passphrase encrypts it; null: it is not encrypted.
 * @throws StartError when the file exists, or the database cannot be read.
 */
export async function backUp(
  file: string,
  settings: BackupSettings,
  options: { readonly passphrase: string | null; readonly now: Date },
): Promise<void> {
  if (existsSync(file)) throw new StartError(`${file} exists already. Name another file.`)
  const secretKey = settings.SECRET_KEY === undefined ? await readKey(settings.DATA_DIR) : null
  const write = (connection: pg.ClientBase) => writeArchive(file, dump(connection, secretKey), options)
  if (settings.DATABASE_URL !== undefined) return onServer(settings.DATABASE_URL, write)
  // Beside the backup, where there has to be room anyway.
  const copy = `${file}.snapshot`
  if (existsSync(copy)) throw new StartError(`${copy} exists already: another backup is running, or was interrupted.`)
  try {
    await copyDatabase(settings.DATA_DIR, copy)
    await onEmbedded(copy, write)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/**
 * Restores a backup into an empty place: a data directory without a database, or an empty database of a server. All or nothing.
 * @throws StartError when the place is not empty, or the backup is damaged, of another version or of another passphrase.
 */
export async function restore(file: string, settings: BackupSettings, passphrase: string | null): Promise<Restored> {
  // Before anything is touched, although it is read twice then.
  await verifyArchive(file, passphrase)
  const known = await readMigrations(migrationsDirectory)
  const read = (connection: pg.ClientBase) => load(connection, readArchive(file, passphrase), known)
  const { rows, secretKey } =
    settings.DATABASE_URL === undefined
      ? await restoreEmbedded(settings.DATA_DIR, read)
      : await onServer(settings.DATABASE_URL, async (connection) => {
          await requireEmpty(connection)
          return read(connection)
        })
  if (secretKey === null || settings.SECRET_KEY !== undefined) return { rows, hasKey: false }
  await mkdir(settings.DATA_DIR, { recursive: true, mode: 0o700 })
  await writeFile(join(settings.DATA_DIR, KEY_FILE), secretKey, { mode: 0o600 })
  return { rows, hasKey: true }
}

async function restoreEmbedded<T>(dataDir: string, read: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
  const directory = databaseDirectory(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir)
  const unfinished = `${directory}.restoring`
  try {
    if (existsSync(directory) || existsSync(join(dataDir, KEY_FILE))) {
      throw new StartError(`${resolve(dataDir)} has data already. Restore into an empty DATA_DIR, or move that away.`)
    }
    await rm(unfinished, { recursive: true, force: true })
    // Without the template, which may have later migrations than the backup.
    const restored = await onEmbedded(unfinished, read, async () => null)
    await rename(unfinished, directory)
    return restored
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await lock.release()
  }
}

/** Reads the file of the secret key; null: there is none. */
export async function readKey(dataDir: string): Promise<string | null> {
  return readFile(join(dataDir, KEY_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new StartError(`${join(dataDir, KEY_FILE)} cannot be read: ${error.message}`, { cause: error })
  })
}

/** Opens an embedded database, and closes it after its use. */
export async function onEmbedded<T>(
  directory: string,
  use: (connection: pg.ClientBase) => Promise<T>,
  template?: () => Promise<Buffer | null>,
): Promise<T> {
  const { pool, close } = await openEmbedded(directory, template)
  try {
    return await withConnection(pool, use)
  } finally {
    await close()
  }
}

/** Connects to a server, and disconnects after its use. */
export async function onServer<T>(databaseUrl: string, use: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
  const pool = createPool({ ...migrationConfig(databaseUrl), max: 1 })
  try {
    return await withConnection(pool, use)
  } finally {
    await pool.end()
  }
}

async function withConnection<T>(pool: pg.Pool, use: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
  const connection = await pool.connect().catch((cause: Error) => {
    throw new StartError(`The database does not answer: ${cause.message}`, { cause })
  })
  try {
    return await use(connection)
  } finally {
    connection.release()
  }
}

/** @throws StartError when a database has tables. */
export async function requireEmpty(connection: pg.ClientBase): Promise<void> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') LIMIT 1`,
  )
  const [table] = rows
  if (table === undefined) return
  throw new StartError(`The database has tables already, such as "${table.name}". Restore into an empty one: createdb.`)
}
