import type { ResourceLimits, Worker } from 'node:worker_threads'
import { Unavailable } from './errors.ts'
import { MINUTE } from './time.ts'
import type { WorkerFile } from './worker.ts'
import { startWorker } from './worker.ts'

/** Runs tasks one at a time in a thread of their own, so that a long one keeps nobody waiting but those behind it. */
export interface TaskThread<In, Out> {
  /**
   * Runs a task. Owners take turns: one that brings many tasks keeps another waiting for one of them only.
   * @throws Unavailable when too many tasks wait, or the thread is closed before it is done. @throws TookTooLong
   */
  run(owner: string, input: In): Promise<Out>
  /** Ends the thread; tasks that are not finished fail. The next task starts another. */
  close(): Promise<void>
}

export interface TaskLimits {
  /** How long one task may take, in milliseconds; the thread that exceeds it ends, and the next task gets another. */
  readonly deadline: number
  /** How many tasks may wait, of all owners and of one. */
  readonly waiting: number
  readonly waitingOfOne: number
  /** What the thread may need of memory. */
  readonly resourceLimits?: ResourceLimits
}

/** A task has exceeded its deadline. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

interface Task<In, Out> {
  readonly input: In
  done(output: Out): void
  failed(error: Error): void
}

/** How long the thread stays without a task: starting it takes a moment, keeping it takes memory. */
const IDLE = MINUTE

/** A thread that runs `file` of `src/`, which calls `answerTasks`; it runs while it is needed. */
export function createTaskThread<In, Out>(file: WorkerFile, limits: TaskLimits): TaskThread<In, Out> {
  /** The tasks that wait, by their owners; the owner whose turn is next comes first. */
  const waiting = new Map<string, Task<In, Out>[]>()
  let count = 0
  let thread: { readonly worker: Worker; ready: boolean } | null = null
  let running: Task<In, Out> | null = null
  let timer: NodeJS.Timeout | undefined

  function start() {
    const started = { worker: startWorker(file, { resourceLimits: limits.resourceLimits }), ready: false }
    // The first message says that it has loaded what it needs.
    started.worker.on('message', (output: Out) => {
      if (thread !== started) return
      if (started.ready) finish(output)
      else begin(started)
    })
    started.worker.on('error', (error: Error) => abandon(started, error))
    started.worker.on('exit', () => abandon(started, new Error(`The thread of ${file} has ended.`)))
    return started
  }

  function next(): void {
    if (running !== null) return
    const [owner, tasks = []] = waiting.entries().next().value ?? []
    const task = tasks.shift()
    if (owner === undefined || task === undefined) {
      rest()
      return
    }
    waiting.delete(owner)
    if (tasks.length > 0) waiting.set(owner, tasks)
    count -= 1
    running = task
    clearTimeout(timer)
    thread ??= start()
    thread.worker.ref()
    if (thread.ready) begin(thread)
  }

  /** The time that loading takes is no fault of the task. */
  function begin(on: NonNullable<typeof thread>): void {
    on.ready = true
    if (running === null) return
    const begun = running
    on.worker.postMessage(begun.input)
    timer = setTimeout(() => {
      // Its answer may have come while this thread was busy.
      setImmediate(() => {
        if (running === begun) abandon(on, new TookTooLong(`It takes longer than ${limits.deadline} ms.`))
      })
    }, limits.deadline)
  }

  function finish(output: Out): void {
    const finished = running
    clearTimeout(timer)
    running = null
    finished?.done(output)
    next()
  }

  /** The task that was running fails, and the next one gets a new thread. */
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

  function rest(): void {
    // Without a task it keeps no process running.
    thread?.worker.unref()
    timer = setTimeout(() => void stop(), IDLE).unref()
  }

  async function stop(): Promise<void> {
    clearTimeout(timer)
    const ended = thread
    thread = null
    await ended?.worker.terminate()
  }

  return {
    run(owner, input) {
      const tasks = waiting.get(owner) ?? []
      if (count >= limits.waiting || tasks.length >= limits.waitingOfOne) {
        return Promise.reject(new Unavailable('Too many of these are wanted at once. Try again soon.'))
      }
      const promise = new Promise<Out>((done, failed) => tasks.push({ input, done, failed }))
      waiting.set(owner, tasks)
      count += 1
      next()
      return promise
    },
    close() {
      const open = [running, ...[...waiting.values()].flat()]
      waiting.clear()
      count = 0
      running = null
      for (const task of open) task?.failed(new Unavailable('It is not done, for the service stops.'))
      return stop()
    },
  }
}
