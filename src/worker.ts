import type { WorkerOptions } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { root } from './paths.ts'

/** Files that run as threads of their own; `build.js` bundles each. */
export type WorkerFile =
  | 'database/embedded-worker'
  | 'blacklist/geo/asn-compiler'
  | 'http/library-worker'
  | 'markdown-worker'
  | 'page/picture-worker'

const bundled = import.meta.url.endsWith('.js')

/** Starts a thread that runs a file of `src/`: its bundle when this runs from the bundle, else its source. */
export function startWorker(file: WorkerFile, options: Omit<WorkerOptions, 'execArgv'>): Worker {
  if (bundled) return new Worker(new URL(`dist/${file}.js`, root), options)
  const loader = new URL('src/typescript-loader.js', root)
  return new Worker(new URL(`src/${file}.ts`, root), { ...options, execArgv: ['--import', loader.href] })
}
