import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { StartError } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { lockDirectory } from '../database/embedded/directory-lock.ts'
import { databaseDirectory } from '../database/embedded/early-opening.ts'
import { migrationsDirectory, readMigrations } from '../database/migration/migrate.ts'
import { type BackupSettings, onEmbedded, onServer } from './backup.ts'
import { type Copy, type Counts, followSource } from './catch-up.ts'
import type { Batch } from './change-log.ts'
import { dump, load } from './dump.ts'
import { openSource, type Source } from './move-source.ts'
import { fillServer, readKey, requireRoomForKey, writeKey } from './place.ts'

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
      'To move a data directory, stop the service and copy it. To move to a server, give postgresql://…',
    )
  }
  return isServer ? moveToServer(settings, place, watcher) : moveToDirectory(settings, place, watcher)
}

async function moveToServer(settings: BackupSettings, url: string, watcher: MoveWatcher): Promise<Moved> {
  return onServer(url, (to) => fillServer(to, () => copyAndCatchUp(settings, to, watcher)))
}

async function moveToDirectory(settings: BackupSettings, dataDir: string, watcher: MoveWatcher): Promise<Moved> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(dataDir)
  const directory = databaseDirectory(dataDir)
  const unfinished = `${directory}.moving`
  try {
    if (existsSync(directory))
      throw new StartError(`${resolve(dataDir)} already has a database. Move into an empty directory.`)
    const key = settings.SECRET_KEY === undefined ? await readKey(settings.DATA_DIR) : null
    await requireRoomForKey(dataDir, key)
    await rm(unfinished, { recursive: true, force: true })
    const moved = await onEmbedded(
      unfinished,
      (to) => copyAndCatchUp(settings, to, watcher),
      async () => null,
    )
    if (key !== null) await writeKey(dataDir, key)
    await rename(unfinished, directory)
    return moved
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await lock.release()
  }
}

async function copyAndCatchUp(settings: BackupSettings, to: pg.ClientBase, watcher: MoveWatcher): Promise<Moved> {
  const known = await readMigrations(migrationsDirectory)
  return openSource(settings, async (source) => {
    const { rows: copied } = await source.copy((from) => load(to, dump(from, null), known))
    watcher.copied(copied)
    const copy = await followSource(to)
    const caughtUp = await followUntilStopped(source, copy, watcher)
    const start = performance.now()
    return source.onceStopped(async (from, take) => {
      const rest = await applyRest(take, copy)
      const counts = await copy.finish(from)
      return { copied, caughtUp: caughtUp + rest, counts, stoppedMs: Math.round(performance.now() - start) }
    })
  })
}

/** Makes the changes of a source until its service has stopped. @returns how many rows were changed. */
async function followUntilStopped(source: Source, copy: Copy, watcher: MoveWatcher): Promise<number> {
  let count = 0
  let isWaiting = false
  for (let batch = await source.take(); batch !== null; batch = await source.take()) {
    await copy.stage(batch)
    if (!batch.isLast) continue
    count += await copy.apply()
    if (!isWaiting) watcher.waiting()
    isWaiting = true
    await pause(SECOND / 4)
  }
  return count
}

async function applyRest(take: () => Promise<Batch>, copy: Copy): Promise<number> {
  for (;;) {
    const batch = await take()
    await copy.stage(batch)
    if (batch.isLast) return copy.apply()
  }
}
