import { setImmediate as nextLoopIteration } from 'node:timers/promises'
import type { ExecutionArgs, ExecutionResult } from 'graphql'
import type { Logger } from 'pino'
import type { Follower } from '../../event-log/tail.ts'
import { isCut, isFollower } from './event-source.ts'
import type { Operation } from './sharing-plan.ts'
import type { VisitorEngine } from './visitor-engine.ts'

/** Receives the results of a shared operation. */
export interface Receiver {
  /** Sends a result, as JSON, without waiting. */
  send(text: string): void
  /** Sends a result and resolves when it is written; for results that only this receiver gets. */
  deliver(text: string): Promise<void>
  /** Ends the subscription; the client can resume from its cursor, unless it has lost access (`isCut`). */
  end(isCut: boolean): void
}

/** A subscription that is executed once for all its listeners. */
export interface Broadcast {
  /**
   * Sends the results to a receiver. Returns a function that ends this, or the errors with which the operation failed
   * to start.
   * @param args its own operation.
   * @param after the position after which it wants events; null: only new ones.
   */
  join(receiver: Receiver, args: ExecutionArgs, after: number | null): Promise<(() => void) | ExecutionResult>
}

/**
 * The maximum number of results sent before other work runs, and of their characters, because readers of event streams
 * encode and write them after that.
 */
const SLICE = { results: 50, characters: 500_000 } as const

interface Listener {
  readonly receiver: Receiver
  /** Everything up to here was sent, or does not have to be. */
  position: number
  hasLeft: boolean
  /** Reads the events that other listeners have already received. */
  catchUpSource: Follower | null
}

interface BroadcastOptions {
  readonly operation: Operation
  readonly engine: VisitorEngine
  readonly log: Logger
  /** Called when the source or the last listener has ended: the broadcast takes no more listeners. */
  readonly onClose: () => void
}

/** Creates a broadcast, which opens its source. */
export function createBroadcast(options: BroadcastOptions): Broadcast {
  const { operation, engine, log, onClose } = options
  const { openSource, maskedError } = engine
  const render = engine.rendererOf(operation.args)
  /** The listeners that have caught up with the source. */
  const listeners = new Set<Listener>()
  /** The number of listeners, including those that are catching up. */
  let size = 0
  let source: Follower | null = null
  /** The position up to which everything has been sent, while a result is being sent; null otherwise. */
  let settled: number | null = null
  let isClosed = false
  /** Resolves when the source is open, or with the errors that prevent it. */
  const opened = Promise.resolve().then(open)

  async function open(): Promise<ExecutionResult | null> {
    const found = await openSource(operation.args)
    if (!isFollower(found)) return found
    source = found
    if (isClosed) await found.return()
    else void run(found)
    return null
  }

  async function run(events: Follower): Promise<void> {
    try {
      let { position } = events
      for await (const event of events) {
        settled = position
        await sendAll(listeners, event.seq, await render(event))
        position = event.seq
        settled = null
        // Lets sent data be written before more is sent, so that a burst does not make readers look slow.
        await nextLoopIteration()
      }
    } catch (error) {
      log.error({ err: error }, 'graphql: a shared subscription failed')
    }
    close()
    for (const { receiver } of listeners) receiver.end(isCut(events))
  }

  function close(): void {
    if (!isClosed) onClose()
    isClosed = true
    void source?.return()
  }

  /** Adds a listener that has been sent everything up to `position`. */
  function add(listener: Listener, position: number): void {
    if (listener.hasLeft) return
    listener.position = position
    listeners.add(listener)
  }

  function leave(listener: Listener): void {
    if (listener.hasLeft) return
    listener.hasLeft = true
    listeners.delete(listener)
    void listener.catchUpSource?.return()
    size -= 1
    if (size === 0) close()
  }

  /** Returns the position from which a new listener misses nothing. */
  const settledPosition = () => settled ?? source?.position ?? 0

  /** Adds a listener after sending it the events that others have already received. */
  async function addLater(listener: Listener, args: ExecutionArgs): Promise<void> {
    try {
      const catchUpSource = await openSource(args)
      if (!isFollower(catchUpSource)) throw new Error('The source of a shared subscription did not open again.')
      listener.catchUpSource = catchUpSource
      await catchUp(listener, catchUpSource, render, settledPosition)
      // The others may have ended in the meantime.
      if (!isCut(catchUpSource) && !isClosed) add(listener, catchUpSource.position)
      else if (!listener.hasLeft) listener.receiver.end(isCut(catchUpSource))
      await catchUpSource.return()
    } catch (error) {
      log.error({ err: error }, 'graphql: a subscriber could not catch up')
      listener.receiver.end(false)
    }
  }

  return {
    async join(receiver, args, after) {
      const listener: Listener = { receiver, position: 0, hasLeft: false, catchUpSource: null }
      size += 1
      const refusal = await opened.catch((error: unknown) => ({ errors: [maskedError(error)] }))
      if (refusal || !source) {
        leave(listener)
        return refusal ?? { errors: [] }
      }
      if (after === null) add(listener, source.position)
      else if (after >= settledPosition() && after <= source.position) add(listener, after)
      else void addLater(listener, args)
      return () => leave(listener)
    },
  }
}

/** Sends a listener the events up to a position that advances meanwhile. */
async function catchUp(
  listener: Listener,
  source: Follower,
  render: (event: object) => Promise<string>,
  end: () => number,
): Promise<void> {
  while (!listener.hasLeft && source.position < end()) {
    const event = await source.poll()
    if (event === null) break
    const text = await render(event)
    if (!listener.hasLeft) await listener.receiver.deliver(text)
  }
}

/**
 * Sends a result to all listeners, including those that join meanwhile, in slices, because thousands of writes take long.
 */
async function sendAll(listeners: ReadonlySet<Listener>, position: number, text: string): Promise<void> {
  let count = 0
  for (const listener of listeners) {
    if (listener.position >= position) continue
    listener.position = position
    listener.receiver.send(text)
    count += 1
    if (count < SLICE.results && count * text.length < SLICE.characters) continue
    await nextLoopIteration()
    count = 0
  }
}
