import type { WorkerOptions } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { root } from '../process/paths.ts'

/** Entry points of worker threads; `build.js` bundles each. */
export const workerFiles = [
  'database/embedded/embedded-worker',
  'blacklist/geo/asn-compiler',
  'docs/docs-worker',
  'graphql/document/introspection-worker',
  'http/assets/library-worker',
  'configuration/yaml-worker',
  'import/import-worker',
  'core/markdown/markdown-worker',
  'monitoring/probe/json-worker',
  'people/credential/passkey-worker',
  'status-page/png-worker',
] as const

export type WorkerFile = (typeof workerFiles)[number]

/** Whether this code runs from a bundle of `dist/`. */
export const isBundled = !import.meta.url.endsWith('.ts')

/**
 * Starts a worker thread from a file of `src/`: from its bundle when this code runs from a bundle, or from its source.
 */
export function startWorker(file: WorkerFile, options: Omit<WorkerOptions, 'execArgv'>): Worker {
  if (isBundled) return new Worker(new URL(`dist/${file}.js`, root), options)
  const loader = new URL('src/typescript-loader.js', root)
  return new Worker(new URL(`src/${file}.ts`, root), { ...options, execArgv: ['--import', loader.href] })
}
