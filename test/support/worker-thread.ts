import { Worker, type WorkerOptions } from 'node:worker_threads'
import { inject } from 'vitest'
import type { WorkerFile } from '../../src/core/thread/worker-thread.ts'

/** Tests run from the sources. */
export const isBundled = false

/**
 * Replaces the function of `src/core/thread/worker-thread.ts` in tests: starts a worker thread from the run's bundles.
 */
export function startWorker(file: WorkerFile, options?: Omit<WorkerOptions, 'execArgv'>): Worker {
  if (isGlobalSetup) return startFromSource(file, options)
  // Without `--expose-gc` and the like, which the thread would inherit.
  return new Worker(new URL(`${file}.js`, inject('workers')), options)
}

/** A global setup runs in the process that starts the test workers, before the bundles exist. */
const isGlobalSetup = process.env['VITEST_POOL_ID'] === undefined

function startFromSource(file: WorkerFile, options?: WorkerOptions): Worker {
  const source = new URL('../../src/', import.meta.url)
  const loader = new URL('typescript-loader.js', source)
  return new Worker(new URL(`${file}.ts`, source), { ...options, execArgv: ['--import', loader.href] })
}
