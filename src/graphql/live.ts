import type { ServerResponse } from 'node:http'
import type { ExecutionArgs, ExecutionResult } from 'graphql'
import { createSourceEventStream, execute } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { RevokedKeys } from '../account/revoked-keys.ts'
import type { Caller } from '../http/caller.ts'
import { createQueue } from '../queue.ts'
import type { GraphContext } from './builder.ts'
import { maskError } from './errors.ts'
import type { Receiver, SharedExecution } from './shared-execution.ts'
import { isFollower } from './shared-execution.ts'
import { isLasting } from './subscribe.ts'

/** A result, or one that is text already (which Yoga calls for). */
type Result = ExecutionResult | { readonly stringify: () => string }

/** How many bytes may wait for a reader of server-sent events before it is cut off: it resumes by its cursor. */
const MOST_WAITING = 1024 * 1024

/** What Yoga's context holds beside ours, over HTTP. */
type Held = GraphContext & { readonly caller: Caller; readonly res?: ServerResponse }

/** The subscriptions that are not served by a websocket's own room. */
export interface LiveSubscriptions {
  readonly plugin: Plugin
  /** Cuts off the streams that have no end of their own: their clients come back and go on from their cursors. */
  close(): void
}

/**
 * Runs subscriptions, other than those of visitors over websocket. What follows an event log is executed once for all
 * visitors who ask alike; for everybody else each event is executed with a context of its own, as who the caller is by then.
 */
export function createLiveSubscriptions(options: {
  readonly contextOf: (caller: Caller) => Promise<GraphContext>
  readonly shared: SharedExecution
  readonly revokedKeys: RevokedKeys
  readonly log: Logger
}): LiveSubscriptions {
  const { contextOf, shared, revokedKeys, log } = options
  const streams = new Set<ServerResponse>()

  function keep({ res }: Held): void {
    if (!res || res.destroyed) return
    streams.add(res)
    res.once('close', () => streams.delete(res))
  }

  async function subscribeAlone(args: ExecutionArgs): Promise<AsyncIterable<Result> | ExecutionResult> {
    const source = await createSourceEventStream(args)
    if (!(Symbol.asyncIterator in source)) return source
    if (!isFollower(source) && !isLasting(source)) {
      return execution(args, source[Symbol.asyncIterator](), async () => args.contextValue)
    }
    const held = heldBy(args)
    keep(held)
    return execution(args, source[Symbol.asyncIterator](), async () => ({ ...held, ...(await contextOf(held.caller)) }))
  }

  /** Executes each event with the context of its time, until the caller's key is revoked. */
  function execution(
    args: ExecutionArgs,
    events: AsyncIterator<unknown>,
    contextNow: () => Promise<unknown>,
  ): AsyncIterable<Result> {
    const { actor } = heldBy(args)
    const leave = async () => void (await events.return?.())
    const release = actor.kind === 'apiKey' ? revokedKeys.hold(actor.keyId, () => void leave()) : () => {}
    return resultsOf({
      async next() {
        const { done, value: event } = await events.next()
        if (done) return null
        try {
          return await execute({ ...args, contextValue: await contextNow(), rootValue: event })
        } catch (error) {
          // The caller's key does not hold any more: the last thing that is told.
          await leave()
          return { errors: [maskError(error, log)] }
        }
      },
      async end() {
        release()
        await leave()
      },
    })
  }

  async function subscribeShared(args: ExecutionArgs): Promise<AsyncIterable<Result> | ExecutionResult> {
    const held = heldBy(args)
    let gone = false
    let leave = () => {}
    const reader = createReader({
      response: held.res,
      onReturn() {
        gone = true
        leave()
      },
    })
    const joined = await shared.join(args, reader)
    if (typeof joined !== 'function') return joined
    keep(held)
    leave = joined
    if (gone) leave()
    return reader.results
  }

  return {
    plugin: {
      onSubscribe({ args, setSubscribeFn }) {
        const isVisitor = heldBy(args).actor.kind === 'visitor'
        setSubscribeFn(isVisitor && shared.canShare(args) ? subscribeShared : subscribeAlone)
      },
    },
    close() {
      for (const response of streams) response.destroy()
    },
  }
}

/** The context that Yoga made of the server's and ours. */
const heldBy = ({ contextValue }: ExecutionArgs) => contextValue as Held

/** An iterator that, unlike a generator, can be left while it waits. */
function resultsOf(source: {
  /** The next result; null after the last. */
  next(): Promise<Result | null>
  /** Called after the last result and when the reader leaves. */
  end(): Promise<void>
}): AsyncIterableIterator<Result, undefined> {
  const done = { done: true, value: undefined } as const
  const results: AsyncIterableIterator<Result, undefined> = {
    async next() {
      const value = await source.next()
      if (value) return { done: false, value }
      await source.end()
      return done
    },
    async return() {
      await source.end()
      return done
    },
    [Symbol.asyncIterator]: () => results,
  }
  return results
}

/** A receiver that is read as the results of an operation, by a connection that is cut off when it does not read. */
function createReader(options: {
  readonly response: ServerResponse | undefined
  readonly onReturn: () => void
}): Receiver & { readonly results: AsyncIterable<Result> } {
  const queue = createQueue<string>(options.onReturn)
  let waiting = 0
  let emptied = () => {}

  function send(text: string): void {
    waiting += text.length
    queue.push(text)
    if (waiting <= MOST_WAITING) return
    // An end in the stream would only be seen by a client that reads on.
    options.response?.destroy()
    void queue.return()
  }

  return {
    send,
    deliver(text) {
      send(text)
      return new Promise((resolve) => {
        emptied = resolve
      })
    },
    end() {
      options.response?.destroy()
      queue.end()
    },
    results: resultsOf({
      async next() {
        if (waiting === 0) emptied()
        const { done, value: text } = await queue.next()
        if (done) return null
        waiting -= text.length
        return { stringify: () => text }
      },
      async end() {
        emptied()
        await queue.return()
      },
    }),
  }
}
