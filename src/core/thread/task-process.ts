import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { createTaskRunner, type TaskLimits, type TaskRunner } from './task-runner.ts'
import { type WorkerFile, workerModule } from './worker-module.ts'

/** A task took more memory than its process may have. */
export class TaskOutOfMemory extends Error {
  override readonly name = 'TaskOutOfMemory'
}

/** The length of the end of a process's error output that its error contains. */
const MAX_ERROR_LENGTH = 2000

/**
 * Creates a runner of tasks in a process of its own, for a file of `src/` that calls `answerTasks`. A task that takes
 * too much memory ends only this process, and fails with `TaskOutOfMemory`.
 * @param limits.maxHeapMb the memory limit of JavaScript objects, in megabytes.
 */
export function createTaskProcess<In, Out>(
  file: WorkerFile,
  { maxHeapMb, ...limits }: TaskLimits & { readonly maxHeapMb: number },
): TaskRunner<In, Out> {
  return createTaskRunner<In, Out>(limits, ({ onMessage, onEnd }) => {
    const { path, execArgv } = workerModule(file)
    const child = fork(path, {
      execArgv: [...execArgv, `--max-old-space-size=${maxHeapMb}`, '--max-semi-space-size=16'],
      // Settings contain secrets, which a task does not need.
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    // First, because without free file descriptors there is an error and neither output nor a channel.
    child.on('error', onEnd)
    let written = ''
    const stderr = child.stderr as Socket | undefined
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      written = (written + text).slice(-MAX_ERROR_LENGTH)
    })
    child.on('message', (output) => onMessage(output as Out))
    child.on('close', (code, signal) => onEnd(endOf(file, code, signal, written)))
    return {
      // If the process has ended, `close` reports it.
      send: (input) => void child.send(input as object, () => {}),
      ref() {
        child.ref()
        child.channel?.ref()
        stderr?.ref()
      },
      unref() {
        child.unref()
        child.channel?.unref()
        stderr?.unref()
      },
      async terminate() {
        if (child.exitCode !== null || child.signalCode !== null || !child.kill('SIGKILL')) return
        child.ref()
        await once(child, 'exit')
      },
    }
  })
}

/** V8 aborts a process whose heap is full; the system kills one when its own memory is. */
function endOf(file: WorkerFile, code: number | null, signal: NodeJS.Signals | null, written: string): Error {
  if (signal === 'SIGABRT' || signal === 'SIGKILL')
    return new TaskOutOfMemory(`The process of ${file} ran out of memory.`)
  return new Error(`The process of ${file} ended with ${signal ?? `code ${code}`}: ${written}`)
}
