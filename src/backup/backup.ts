import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type pg from 'pg'
import type { Config } from '../core/config.ts'
import { StartError } from '../core/errors.ts'
import { createPool } from '../database/connection/pool.ts'
import { plainConfig } from '../database/connection/server-config.ts'
import { lockDirectory } from '../database/embedded/directory-lock.ts'
import { databaseDirectory } from '../database/embedded/early-opening.ts'
import { openEmbedded } from '../database/embedded/embedded.ts'
import { migrationsDirectory, readMigrations } from '../database/migration/migrate.ts'
import { readTemplate } from '../database/migration/migrated-template.ts'
import { readArchive, writeArchive } from './archive.ts'
import { fillServer, readKey, requireRoomForKey, writeKey } from './destination.ts'
import { type DumpHead, dump, load, readHead } from './dump.ts'
import { copyDatabase } from './snapshot.ts'

export type BackupSettings = Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'SECRET_KEY'> &
  Partial<Pick<Config, 'DATABASE_DIRECT_URL'>>

/**
 * Returns the address of the server for a backup, a restore or a move, whose connections must have sessions of their own;
 * undefined: the database is embedded.
 */
export function sessionUrl({ DATABASE_URL, DATABASE_DIRECT_URL }: BackupSettings): string | undefined {
  return DATABASE_URL === undefined ? undefined : (DATABASE_DIRECT_URL ?? DATABASE_URL)
}

/** The result of a restore. */
export interface Restored {
  readonly rows: number
  /** Whether the backup contained the secret key. */
  readonly hasKey: boolean
}

/**
 * Writes a backup of the database to a new file while services may be running, with the secret key unless `SECRET_KEY` sets it. The
 * backup contains everything that was committed before the call.
 * @param passphrase encrypts the file; null: not encrypted.
 * @throws StartError if the file exists, or the database cannot be read.
 */
export async function backUp(
  file: string,
  settings: BackupSettings,
  options: { readonly passphrase: string | null; readonly now: Date },
): Promise<void> {
  if (existsSync(file)) throw new StartError(`${file} already exists. Choose another file.`)
  const secretKey = settings.SECRET_KEY === undefined ? await readKey(settings.DATA_DIR) : null
  const write = (connection: pg.ClientBase) => writeArchive(file, dump(connection, secretKey), options)
  const url = sessionUrl(settings)
  if (url !== undefined) return onServer(url, write)
  // The snapshot is written next to the backup, because that disk needs the space anyway.
  const copy = `${file}.snapshot`
  if (existsSync(copy)) throw new StartError(`${copy} already exists: another backup is running or was interrupted.`)
  try {
    await copyDatabase(settings.DATA_DIR, copy)
    await onEmbedded(copy, write)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/**
 * Restores a backup into an empty destination: a data directory without a database, or an empty database of a server. Restores
 * everything or nothing. An interrupted run can be repeated.
 * @throws StartError if the destination isn't empty, the backup is damaged or of a newer version, or the passphrase is wrong.
 */
export async function restore(file: string, settings: BackupSettings, passphrase: string | null): Promise<Restored> {
  const { DATA_DIR, SECRET_KEY } = settings
  const url = sessionUrl(settings)
  // Verify the whole file first, so that a damaged one changes nothing.
  const { secretKey } = await readWhole(file, passphrase)
  const key = SECRET_KEY === undefined ? secretKey : null
  const known = await readMigrations(migrationsDirectory)
  const read = async (to: pg.ClientBase) => (await load(to, readArchive(file, passphrase), known)).rows
  const destination = { dataDir: DATA_DIR, key, read }
  const rows = url === undefined ? await restoreEmbedded(destination) : await restoreServer({ ...destination, url })
  return { rows, hasKey: key !== null }
}

/** Returns the head of a backup. @throws StartError if any part of the file is damaged. */
async function readWhole(file: string, passphrase: string | null): Promise<DumpHead> {
  let head: DumpHead | null = null
  for await (const line of readArchive(file, passphrase)) head ??= readHead(line)
  if (head === null) throw new StartError(`${file} is empty. Nothing was restored.`)
  return head
}

interface Destination {
  readonly dataDir: string
  /** The secret key to write; null: none. */
  readonly key: string | null
  /** Loads the backup. Returns the number of rows. */
  read(to: pg.ClientBase): Promise<number>
}

async function restoreEmbedded({ dataDir, key, read }: Destination): Promise<number> {
  const directory = databaseDirectory(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir)
  const unfinished = `${directory}.restoring`
  try {
    if (existsSync(directory)) {
      throw new StartError(
        `${resolve(dataDir)} is not empty. Move its data away, or set DATA_DIR to an empty directory.`,
      )
    }
    await requireRoomForKey(dataDir, key)
    await rm(unfinished, { recursive: true, force: true })
    // Does not use the template, which may have later migrations than the backup.
    const rows = await onEmbedded(unfinished, read, async () => null)
    if (key !== null) await writeKey(dataDir, key)
    await rename(unfinished, directory)
    return rows
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await lock.release()
  }
}

async function restoreServer({ dataDir, key, read, url }: Destination & { readonly url: string }): Promise<number> {
  if (key !== null) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await requireRoomForKey(dataDir, key)
  }
  return onServer(url, (to) =>
    fillServer(to, async () => {
      const rows = await read(to)
      if (key !== null) await writeKey(dataDir, key)
      return rows
    }),
  )
}

/** Opens an embedded database, and closes it after use. */
export async function onEmbedded<T>(
  directory: string,
  use: (connection: pg.ClientBase) => Promise<T>,
  template: () => Promise<Buffer | null> = readTemplate,
): Promise<T> {
  const { pool, close } = await openEmbedded(directory, template)
  try {
    return await withConnection(pool, use)
  } finally {
    await close()
  }
}

/** Connects to a server, and disconnects after use. */
export async function onServer<T>(databaseUrl: string, use: (connection: pg.ClientBase) => Promise<T>): Promise<T> {
  const pool = createPool({ ...plainConfig(databaseUrl), max: 1 })
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
