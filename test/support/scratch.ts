import { existsSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'

/** A log that no one reads. */
export const silent = pino({ level: 'silent' })

/** A new directory in the system's place for temporary files, and how to remove it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'allclear-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

const MEMORY = '/dev/shm'
/** What a run may need: a database takes 40 MB, and some tests fill theirs. */
const ROOM = 4 * 1024 ** 3

/**
 * Makes the place for all temporary files of a run, of its workers and their children too, and gives what removes it. It is
 * in memory where the system offers that: each database is a thousand files, which take a disk a second and memory a tenth.
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
