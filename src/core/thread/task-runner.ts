import { createFairQueue } from '../concurrency/fair-queue.ts'
import { Unavailable } from '../errors.ts'
import { MINUTE } from '../time.ts'

/** Runs tasks one at a time in a worker, so that a long task delays only the tasks behind it. */
export interface TaskRunner<In, Out> {
  /**
   * Runs a task. Owners take turns: an owner with many tasks delays another one by a single task.
   * @throws Unavailable when the queue is full, or the runner closes before the task is done.
   * @throws TaskTimeout when the task exceeds its time limit.
   */
  run(owner: string, input: In): Promise<Out>
  /** Ends the worker; unfinished tasks fail. The next task starts a new worker. */
  close(): Promise<void>
}

export interface TaskLimits {
  /** The time limit of one task; the worker ends when a task exceeds it, and the next task starts a new one. */
  readonly timeoutMs: number
  /** The maximum number of waiting tasks, in total and per owner, who gets at most half of the total. */
  readonly maxWaiting: number
  readonly maxWaitingPerOwner: number
}

/** A worker that calls `answerTasks`: a thread or a process. */
export interface TaskWorker<In> {
  send(input: In): void
  /** Makes it keep this process alive, or not. */
  ref(): void
  unref(): void
  /** Ends it immediately. */
  terminate(): Promise<void>
}

/** What a worker reports: each message, of which the first has no content, and its end. */
export interface WorkerEvents<Out> {
  onMessage(output: Out): void
  onEnd(error: Error): void
}

/** A task exceeded its time limit. */
export class TaskTimeout extends Error {
  override readonly name = 'TaskTimeout'
}

interface Task<In, Out> {
  readonly input: In
  done(output: Out): void
  failed(error: unknown): void
}

/** How long an idle worker is kept: starting one takes a moment, keeping it takes memory. */
const IDLE_TIMEOUT_MS = MINUTE

/** Creates a runner. Its worker only runs while it is needed. */
export function createTaskRunner<In, Out>(
  limits: TaskLimits,
  startWorker: (events: WorkerEvents<Out>) => TaskWorker<In>,
): TaskRunner<In, Out> {
  const waiting = createFairQueue<string, Task<In, Out>>()
  const maxWaitingPerOwner = Math.min(limits.maxWaitingPerOwner, Math.max(1, Math.floor(limits.maxWaiting / 2)))
  let worker: TaskWorker<In> | null = null
  let isReady = false
  let running: Task<In, Out> | null = null
  let timer: NodeJS.Timeout | undefined

  function start(): TaskWorker<In> {
    isReady = false
    const started = startWorker({
      // The first message means that the worker has loaded.
      onMessage(output) {
        if (worker !== started) return
        if (isReady) finish(output)
        else begin(started)
      },
      onEnd: (error) => abandon(started, error),
    })
    return started
  }

  function next(): void {
    if (running !== null) return
    const task = waiting.next()
    if (task === undefined) {
      idle()
      return
    }
    clearTimeout(timer)
    try {
      worker ??= start()
    } catch (error) {
      task.failed(error)
      next()
      return
    }
    running = task
    worker.ref()
    if (isReady) begin(worker)
  }

  /** Starts the task's time limit after the worker has loaded. */
  function begin(on: TaskWorker<In>): void {
    isReady = true
    if (running === null) return
    const started = running
    on.send(started.input)
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

  /** Fails the running task and gives the next one a new worker. */
  function abandon(ended: TaskWorker<In>, error: Error): void {
    if (worker !== ended) return
    const failed = running
    clearTimeout(timer)
    worker = null
    running = null
    void ended.terminate()
    failed?.failed(error)
    next()
  }

  function idle(): void {
    // An idle worker does not keep the process alive.
    worker?.unref()
    timer = setTimeout(() => void stop(), IDLE_TIMEOUT_MS).unref()
  }

  async function stop(): Promise<void> {
    clearTimeout(timer)
    const ended = worker
    worker = null
    await ended?.terminate()
  }

  return {
    run(owner, input) {
      if (waiting.size >= limits.maxWaiting || waiting.sizeOf(owner) >= maxWaitingPerOwner) {
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
