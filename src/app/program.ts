import type { BegunOpening } from '../database/begun-opening.ts'
import { provideOpening } from '../database/begun-opening.ts'
import { createLog } from './log.ts'
import { readSettings, serve } from './serve.ts'

/**
 * Runs the service in this process.
 * @param opening what the embedded database has begun before this program was loaded.
 */
export async function run(opening: BegunOpening | null): Promise<void> {
  if (opening) provideOpening(opening)
  const config = readSettings()
  await serve(config, createLog(config.LOG_LEVEL))
}

/** Executes the largest part of a start that needs no settings, so that its functions get into the code cache. */
export async function warmUp(): Promise<void> {
  await import('./schema.ts')
}
