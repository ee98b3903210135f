import type { Worker } from 'node:worker_threads'
import { startWorker } from '../../core/thread/worker-thread.ts'

/** Starts a thread for an embedded database: it loads PostgreSQL while this thread does other work. */
export function startThread(): Worker {
  return startWorker('database/embedded/embedded-worker', {
    // With the default of 4 MB, a deeply nested statement ends the thread before PostgreSQL's own limit rejects it.
    resourceLimits: { stackSizeMb: 64 },
  })
}

/** Makes a thread open the database in a directory. Resolves once it is open. */
export function openInThread(thread: Worker, directory: string): Promise<void> {
  thread.postMessage(directory)
  return new Promise((resolve, reject) => {
    thread.once('message', () => resolve())
    thread.once('error', reject)
    thread.once('exit', (code) => reject(new Error(`its thread ended with code ${code}`)))
  })
}
