import { inject } from 'vitest'
import type { WorkerFile } from '../../src/core/thread/worker-module.ts'

/** Tests run from the sources. */
export const isBundled = false

/**
 * Replaces the function of `src/core/thread/worker-module.ts` in tests: workers are the run's bundles. Without
 * `--expose-gc` and the like, which a thread would inherit.
 */
export function workerModule(file: WorkerFile): { readonly path: URL; readonly execArgv: readonly string[] } {
  if (!isGlobalSetup) return { path: new URL(`${file}.js`, inject('workers')), execArgv: [] }
  const source = new URL('../../src/', import.meta.url)
  const loader = new URL('typescript-loader.js', source)
  return { path: new URL(`${file}.ts`, source), execArgv: ['--import', loader.href] }
}

/** A global setup runs in the process that starts the test workers, before the bundles exist. */
const isGlobalSetup = process.env['VITEST_POOL_ID'] === undefined
