import type { ResourceLimits, Worker } from 'node:worker_threads'
import { createFairQueue } from '../concurrency/fair-queue.ts'
import { Unavailable } from '../errors.ts'
import { MINUTE } from '../time.ts'
import type { WorkerFile } from './worker-thread.ts'
import { startWorker } from './worker-thread.ts'

/** Runs tasks one at a time in a worker thread, so that a long task delays only the tasks behind it. */
export interface TaskThread<In, Out> {
  /**
   * Runs a task. Owners take turns: an owner with many tasks delays another one by a single task.
   * @throws Unavailable when the queue is full, or the thread closes before the task is done.
   * @throws TaskTimeout when the task exceeds its time limit.
   */
  run(owner: string, input: In): Promise<Out>
  /** Ends the thread; unfinished tasks fail. The next task starts a new thread. */
  close(): Promise<void>
}

export interface TaskLimits {
  /** The time limit of one task; the thread ends when a task exceeds it, and the next task starts a new one. */
  readonly timeoutMs: number
  /** The maximum number of waiting tasks, in total and per owner. */
  readonly maxWaiting: number
  readonly maxWaitingPerOwner: number
  /** The memory limits of the thread. */
  readonly resourceLimits?: ResourceLimits
}

/** A task exceeded its time limit. */
export class TaskTimeout extends Error {
  override readonly name = 'TaskTimeout'
}

interface Task<In, Out> {
  readonly input: In
  done(output: Out): void
  failed(error: Error): void
}

/** How long an idle thread is kept: starting one takes a moment, keeping it takes memory. */
const IDLE_TIMEOUT_MS = MINUTE

/** Creates a task thread for a file of `src/` that calls `answerTasks`. The thread only runs while it is needed. */
export function createTaskThread<In, Out>(file: WorkerFile, limits: TaskLimits): TaskThread<In, Out> {
  const waiting = createFairQueue<string, Task<In, Out>>()
  let thread: { readonly worker: Worker; ready: boolean } | null = null
  let running: Task<In, Out> | null = null
  let timer: NodeJS.Timeout | undefined

  function start() {
    const started = { worker: startWorker(file, { resourceLimits: limits.resourceLimits }), ready: false }
    // The first message means that the worker has loaded.
    started.worker.on('message', (output: Out) => {
      if (thread !== started) return
      if (started.ready) finish(output)
      else begin(started)
    })
    started.worker.on('error', (error: Error) => abandon(started, error))
    started.worker.on('exit', () => abandon(started, new Error(`The thread of ${file} ended unexpectedly.`)))
    return started
  }

  function next(): void {
    if (running !== null) return
    const task = waiting.next()
    if (task === undefined) {
      idle()
      return
    }
    running = task
    clearTimeout(timer)
    thread ??= start()
    thread.worker.ref()
    if (thread.ready) begin(thread)
  }

  /** Starts the task's time limit after the worker has loaded. */
  function begin(on: NonNullable<typeof thread>): void {
    on.ready = true
    if (running === null) return
    const started = running
    on.worker.postMessage(started.input)
    timer = setTimeout(() => {
      // The answer may have arrived while the main thread was busy.
      setImmediate(() => {
        if (running === started) abandon(on, new TaskTimeout(`The task took longer than ${limits.timeoutMs} ms.`))
      })
    }, limits.timeoutMs)
  }

  function finish(output: Out): void {
    const finished = running
    clearTimeout(timer)
    running = null
    finished?.done(output)
    next()
  }

  /** Fails the running task and gives the next one a new thread. */
  function abandon(ended: NonNullable<typeof thread>, error: Error): void {
    if (thread !== ended) return
    const failed = running
    clearTimeout(timer)
    thread = null
    running = null
    void ended.worker.terminate()
    failed?.failed(error)
    next()
  }

  function idle(): void {
    // An idle thread does not keep the process alive.
    thread?.worker.unref()
    timer = setTimeout(() => void stop(), IDLE_TIMEOUT_MS).unref()
  }

  async function stop(): Promise<void> {
    clearTimeout(timer)
    const ended = thread
    thread = null
    await ended?.worker.terminate()
  }

  return {
    run(owner, input) {
      if (waiting.size >= limits.maxWaiting || waiting.sizeOf(owner) >= limits.maxWaitingPerOwner) {
        return Promise.reject(new Unavailable('Too many requests of this kind are waiting. Try again soon.'))
      }
      const promise = new Promise<Out>((done, failed) => waiting.add(owner, { input, done, failed }))
      next()
      return promise
    },
    close() {
      const open = [running, ...waiting.clear()]
      running = null
      for (const task of open) task?.failed(new Unavailable('The service is stopping. Try again soon.'))
      return stop()
    },
  }
}
