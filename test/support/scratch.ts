import { existsSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'

/** A log without output. */
export const silent = pino({ level: 'silent' })

/** Creates a directory in the system's temporary directory. Returns its path and a function that removes it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'allclear-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

const MEMORY = '/dev/shm'
/** The space that a run needs: a database takes 40 MB, and some tests fill theirs. */
const ROOM = 4 * 1024 ** 3

/**
 * Creates the directory for all temporary files of a run, including those of its workers and their children. Returns a
 * function that removes it. It is in memory where the system offers that: each database has a thousand files, which
 * take a second on a disk and a tenth of that in memory.
 */
export async function placeTemporaryFiles(): Promise<() => Promise<void>> {
  const path = await mkdtemp(join((await hasRoom(MEMORY)) ? MEMORY : tmpdir(), 'allclear-run-'))
  process.env['TMPDIR'] = path
  return () => rm(path, { recursive: true, force: true })
}

async function hasRoom(directory: string): Promise<boolean> {
  if (!existsSync(directory)) return false
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize >= ROOM
}
