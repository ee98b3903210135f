import type { Worker } from 'node:worker_threads'
import { provideThread } from '../database/embedded-thread.ts'
import { createLog } from './log.ts'
import { readSettings, serve } from './serve.ts'

/**
 * Runs the service in this process.
 * @param databaseThread a thread for the embedded database that was started before this program was loaded.
 */
export async function run(databaseThread: Worker | null): Promise<void> {
  if (databaseThread) provideThread(databaseThread)
  const config = readSettings()
  await serve(config, createLog(config.LOG_LEVEL))
}

/** Executes the largest part of a start that needs no settings, so that its functions get into the code cache. */
export async function warmUp(): Promise<void> {
  await import('./schema.ts')
}
