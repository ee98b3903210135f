import type { Worker } from 'node:worker_threads'
import { startWorker } from '../core/worker-thread.ts'

/** A thread that has no database yet. */
let idle: Worker | null = null

/** Starts the thread of the embedded database ahead of its opening: it loads PostgreSQL while this thread does other work. */
export function preloadEmbedded(): void {
  idle ??= startThread()
}

/** Returns a thread for an embedded database: the preloaded one, or a new one. */
export function takeThread(): Worker {
  const thread = idle ?? startThread()
  idle = null
  return thread
}

function startThread(): Worker {
  return startWorker('database/embedded-worker', {
    // With the default of 4 MB a deeply nested statement ends the thread before PostgreSQL's own limit makes it an error.
    resourceLimits: { stackSizeMb: 64 },
  })
}
