import type { ResourceLimits } from 'node:worker_threads'
import { createTaskRunner, type TaskLimits, type TaskRunner } from './task-runner.ts'
import type { WorkerFile } from './worker-module.ts'
import { startWorker } from './worker-thread.ts'

/**
 * Creates a runner of tasks in a worker thread, for a file of `src/` that calls `answerTasks`.
 * @param limits.resourceLimits the memory limits of the thread. A task must not reach them: V8 may then end the whole
 * process, for example within `JSON.parse`. `createTaskProcess` is for tasks that can.
 */
export function createTaskThread<In, Out>(
  file: WorkerFile,
  { resourceLimits, ...limits }: TaskLimits & { readonly resourceLimits?: ResourceLimits },
): TaskRunner<In, Out> {
  return createTaskRunner<In, Out>(limits, ({ onMessage, onEnd }) => {
    const thread = startWorker(file, { resourceLimits })
    thread.on('message', onMessage)
    thread.on('error', onEnd)
    thread.on('exit', () => onEnd(new Error(`The thread of ${file} ended unexpectedly.`)))
    return {
      send: (input) => thread.postMessage(input),
      ref: () => thread.ref(),
      unref: () => thread.unref(),
      terminate: async () => void (await thread.terminate()),
    }
  })
}
