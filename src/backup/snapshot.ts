import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../core/errors.ts'
import { lockDirectory } from '../database/embedded/directory-lock.ts'
import { databaseDirectory } from '../database/embedded/early-opening.ts'
import { linesOf } from './lines.ts'
import { connectToService, serveSocket } from './local-socket.ts'

/*
 * A snapshot of the embedded database while a service uses it: PostgreSQL's own base backup (manual, "Making a Base Backup Using
 * the Low Level API"). The service tells PostgreSQL where the backup begins and ends. The command copies the files meanwhile,
 * while they change, and PostgreSQL repairs the copy from its log when it is opened.
 */
const SOCKET = 'backup.sock'
/** Keeps the log of the database until it is copied; the database drops it when it ends. */
const SLOT = 'allclear_backup'

/** Serves snapshots of the embedded database in a data directory. @returns what ends it. */
export function serveSnapshots(
  dataDir: string,
  pool: Pick<pg.Pool, 'query'>,
  log: Logger,
): Promise<() => Promise<void>> {
  return serveSocket(dataDir, SOCKET, { handle: (socket) => serveOne(socket, pool, log) }, log)
}

/** Begins a backup for a connection, ends it on a line of it, and cleans up when the connection closes. */
async function serveOne(socket: Socket, pool: Pick<pg.Pool, 'query'>, log: Logger): Promise<void> {
  let isRunning = false
  let isDone = false
  try {
    await pool.query('SELECT pg_create_physical_replication_slot($1, true, true)', [SLOT])
    await pool.query('SELECT pg_backup_start($1, true)', [SLOT])
    isRunning = true
    log.info('backup: started')
    socket.write('begun\n')
    for await (const _ of linesOf(socket)) {
      if (!isRunning) continue
      const { rows } = await pool.query<{ label: string }>('SELECT labelfile AS label FROM pg_backup_stop(false)')
      isRunning = false
      isDone = true
      socket.write(`${JSON.stringify(rows[0]?.label)}\n`)
    }
    log.info('backup: ended')
  } catch (error) {
    if (isDone) log.info('backup: ended')
    else log.error({ err: error }, 'backup: failed')
  } finally {
    const end = isRunning ? pool.query('SELECT pg_backup_stop(false)') : Promise.resolve()
    await end.catch(() => {})
    await pool.query('SELECT pg_drop_replication_slot($1)', [SLOT]).catch(() => {})
  }
}

/**
 * Copies the embedded database of a data directory as of one moment, whether a service uses it or not.
 * @param to a directory that does not exist.
 * @throws StartError when there is no database, or it cannot be copied.
 */
export async function copyDatabase(dataDir: string, to: string): Promise<void> {
  const from = databaseDirectory(dataDir)
  await requireDatabase(dataDir)
  const socket = await connectToService(dataDir, SOCKET)
  if (socket !== null) return copyRunning(socket, from, to)
  const lock = await lockDirectory(dataDir)
  try {
    await copyFiles(from, to, () => true)
  } finally {
    await lock.release()
  }
}

/** Checks that a data directory holds a database. @throws StartError if it does not. */
export async function requireDatabase(dataDir: string): Promise<void> {
  if ((await stat(databaseDirectory(dataDir)).catch(() => null)) !== null) return
  throw new StartError(`There is no database in ${dataDir}. Set DATA_DIR to the directory of the service’s data.`)
}

async function copyRunning(socket: Socket, from: string, to: string): Promise<void> {
  const lines = linesOf(socket)
  const next = async () => {
    const { value, done } = await lines.next()
    if (done || value === 'busy') {
      throw new StartError(done ? 'The service could not begin the backup; see its log.' : 'Another backup is running.')
    }
    return value
  }
  try {
    await next()
    await copyFiles(from, to, (path) => !isOfRunning(path))
    socket.write('end\n')
    const label: string = JSON.parse(await next())
    await copyFiles(join(from, 'pg_wal'), join(to, 'pg_wal'), (path) => /^[0-9A-F]{24}$/.test(path))
    await writeFile(join(to, 'backup_label'), label)
    socket.end()
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Files that belong to the running process, or to the log, which is copied last. */
const isOfRunning = (path: string) => /^(pg_wal|pg_replslot|pg_stat_tmp)\/.|^postmaster\.pid$/.test(path)

async function copyFiles(from: string, to: string, isWanted: (path: string) => boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(from.length + 1)
    if (!isWanted(path)) continue
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true })
    else await copyOne(join(from, path), join(to, path))
  }
}

async function copyOne(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await copyFile(from, to).catch((error: NodeJS.ErrnoException) => {
    // A table was dropped meanwhile; the log knows that.
    if (error.code !== 'ENOENT') throw error
  })
}
