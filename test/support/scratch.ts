import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'

/** A log that nobody reads. */
export const silent = pino({ level: 'silent' })

/** A new directory in the system's place for temporary files, and how to remove it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'allclear-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
