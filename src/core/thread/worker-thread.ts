import type { WorkerOptions } from 'node:worker_threads'
import { Worker } from 'node:worker_threads'
import { type WorkerFile, workerModule } from './worker-module.ts'

/** Starts a worker thread. */
export function startWorker(file: WorkerFile, options: Omit<WorkerOptions, 'execArgv'>): Worker {
  const { path, execArgv } = workerModule(file)
  return new Worker(path, { ...options, execArgv: [...execArgv] })
}
