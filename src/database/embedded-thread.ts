import type { Worker } from 'node:worker_threads'
import { startWorker } from '../core/worker-thread.ts'

/** A thread that was provided and has no database yet. */
let idle: Worker | null = null

/** Provides a thread for the next embedded database to open. */
export function provideThread(thread: Worker): void {
  idle = thread
}

/** Returns a thread for an embedded database: the one that was provided, or a new one. */
export function takeThread(): Worker {
  const thread = idle ?? startThread()
  idle = null
  return thread
}

/** Starts a thread for an embedded database: it loads PostgreSQL while this thread does other work. */
export function startThread(): Worker {
  return startWorker('database/embedded-worker', {
    // With the default of 4 MB a deeply nested statement ends the thread before PostgreSQL's own limit makes it an error.
    resourceLimits: { stackSizeMb: 64 },
  })
}
