import type { WorkerOptions } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'

/** Starts a thread that runs a TypeScript file. */
export function startWorker(file: URL, options: Omit<WorkerOptions, 'execArgv'>): Worker {
  const loader = new URL('./typescript-loader.js', import.meta.url)
  return new Worker(file, { ...options, execArgv: ['--import', loader.href] })
}
