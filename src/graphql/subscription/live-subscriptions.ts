import type { ServerResponse } from 'node:http'
import type { ExecutionArgs, ExecutionResult } from 'graphql'
import { createSourceEventStream, execute, GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import { credentialIdOf } from '../../core/access.ts'
import { createAsyncQueue } from '../../core/concurrency/async-queue.ts'
import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { clientSubject } from '../../core/ip-address.ts'
import type { Clock } from '../../core/time.ts'
import type { Caller } from '../../http/request/caller.ts'
import type { GraphContext } from '../schema/builder.ts'
import { maskError } from '../schema/errors.ts'
import type { Receiver } from './broadcast.ts'
import { isCut, isFollower } from './event-source.ts'
import type { SharedExecution } from './shared-execution.ts'
import { isRefusal } from './shared-execution.ts'
import { isEndless } from './subscribe.ts'

/** A result, or one that is already text, for which Yoga calls `stringify`. */
type Result = ExecutionResult | { readonly stringify: () => string }

/**
 * The maximum amount of data waiting for a reader of server-sent events before it is disconnected. It can resume from
 * its cursor.
 */
const MAX_PENDING_BYTES = 1024 * 1024
/** The maximum number of endless streams of server-sent events, in total and per client's network, as of websockets. */
const MAX_STREAMS = 20_000
const MAX_STREAMS_PER_CLIENT = 1000

/** Yoga's context over HTTP. */
type YogaContext = GraphContext & {
  readonly caller: Caller
  readonly res?: ServerResponse
  /** Closes a websocket whose caller has lost access. */
  readonly onCut?: () => void
}

/** Reports revoked API keys. */
export interface RevokedKeys {
  /** Calls `end` once, when the key is revoked. Returns a function that cancels this. */
  hold(keyId: string, end: () => void): () => void
}

/** Subscriptions over server-sent events, and those over websocket that are not shared. */
export interface LiveSubscriptions {
  readonly plugin: Plugin
  /** Disconnects endless streams; clients can resume from their cursors. */
  close(): void
}

/**
 * Executes subscriptions. Those that follow an event log run once for all visitors with the same operation; for other
 * callers, each event is executed with a new context, so that their key is checked again.
 */
export function createLiveSubscriptions(options: {
  readonly contextOf: (caller: Caller) => Promise<GraphContext>
  readonly shared: SharedExecution
  readonly revokedKeys: RevokedKeys
  readonly log: Logger
  readonly now: Clock
  /** The maximum number of streams per client's network; absent: the default. */
  readonly maxStreamsPerClient?: number
}): LiveSubscriptions {
  const { contextOf, shared, revokedKeys, log, now, maxStreamsPerClient = MAX_STREAMS_PER_CLIENT } = options
  const streams = new Set<ServerResponse>()
  const limiter = createKeyLimiter({ atOnce: maxStreamsPerClient, inTotal: MAX_STREAMS })

  /** Notes a stream until it closes. Returns false if its client or all have too many. Websockets count themselves. */
  function trackStream({ res, clientAddress }: YogaContext): boolean {
    if (!res || res.destroyed) return true
    const leave = limiter.tryAcquire(clientSubject(clientAddress))
    if (leave === null) return false
    streams.add(res)
    res.once('close', () => {
      streams.delete(res)
      leave()
    })
    return true
  }

  async function subscribeIndividually(args: ExecutionArgs): Promise<AsyncIterable<Result> | ExecutionResult> {
    const source = await createSourceEventStream(args)
    if (!(Symbol.asyncIterator in source)) return source
    if (!isFollower(source) && !isEndless(source)) {
      return execution(args, source[Symbol.asyncIterator](), async () => args.contextValue)
    }
    const context = contextIn(args)
    if (!trackStream(context)) {
      await source[Symbol.asyncIterator]().return?.()
      return tooManyStreams()
    }
    return execution(args, source[Symbol.asyncIterator](), async () => ({
      ...context,
      ...(await contextOf(context.caller)),
    }))
  }

  /** Executes each event with its own context, until the caller's key is revoked. */
  function execution(
    args: ExecutionArgs,
    events: AsyncIterator<unknown>,
    contextNow: () => Promise<unknown>,
  ): AsyncIterable<Result> {
    const { actor } = contextIn(args)
    const leave = async () => void (await events.return?.())
    const credentialId = credentialIdOf(actor)
    const release = credentialId === null ? () => {} : revokedKeys.hold(credentialId, () => void leave())
    return resultsOf({
      async next() {
        const { done, value: event } = await events.next()
        if (done) {
          if (isCut(events)) cutOff(contextIn(args))
          return null
        }
        try {
          return await execute({ ...args, contextValue: await contextNow(), rootValue: event })
        } catch (error) {
          // The caller's key is no longer valid: this result is the last one.
          await leave()
          return { errors: [maskError(error, { log, now })] }
        }
      },
      async end() {
        release()
        await leave()
      },
    })
  }

  async function subscribeShared(args: ExecutionArgs): Promise<AsyncIterable<Result> | ExecutionResult> {
    const context = contextIn(args)
    let hasReturned = false
    let leave = () => {}
    const reader = createReader({
      response: context.res,
      onReturn() {
        hasReturned = true
        leave()
      },
    })
    const joined = await shared.join(args, reader)
    if (typeof joined !== 'function') return isRefusal(joined) ? subscribeIndividually(args) : joined
    leave = joined
    if (!trackStream(context)) {
      leave()
      return tooManyStreams()
    }
    if (hasReturned) leave()
    return reader.results
  }

  return {
    plugin: {
      onSubscribe({ args, setSubscribeFn }) {
        const isVisitor = contextIn(args).actor.kind === 'visitor'
        setSubscribeFn(isVisitor && shared.canShare(args) ? subscribeShared : subscribeIndividually)
      },
    },
    close() {
      for (const response of streams) response.destroy()
    },
  }
}

function tooManyStreams(): ExecutionResult {
  const message = 'Too many streams are open. Close some, or try again soon.'
  return { errors: [new GraphQLError(message, { extensions: { code: 'UNAVAILABLE', http: { status: 503 } } })] }
}

/** Closes the connection of a caller who has lost access. */
function cutOff({ res, onCut }: YogaContext): void {
  res?.destroy()
  onCut?.()
}

/** The context that Yoga merged from the server's and ours. */
const contextIn = ({ contextValue }: ExecutionArgs) => contextValue as YogaContext

/** An iterator that, unlike a generator, can be closed while it waits. */
function resultsOf(source: {
  /** Returns the next result; null after the last. */
  next(): Promise<Result | null>
  /** Called after the last result and when the reader closes the iterator. */
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

/** A receiver whose results are read over HTTP; a connection that does not read is closed. */
function createReader(options: {
  readonly response: ServerResponse | undefined
  readonly onReturn: () => void
}): Receiver & { readonly results: AsyncIterable<Result> } {
  const queue = createAsyncQueue<string>(options.onReturn)
  let pendingBytes = 0
  let onDrained = () => {}

  function send(text: string): void {
    pendingBytes += text.length
    queue.push(text)
    if (pendingBytes <= MAX_PENDING_BYTES) return
    // A client that does not read would not notice the end of the stream.
    options.response?.destroy()
    void queue.return()
  }

  return {
    send,
    deliver(text) {
      send(text)
      return new Promise((resolve) => {
        onDrained = resolve
      })
    },
    end() {
      options.response?.destroy()
      queue.end()
    },
    results: resultsOf({
      async next() {
        if (pendingBytes === 0) onDrained()
        const { done, value: text } = await queue.next()
        if (done) return null
        pendingBytes -= text.length
        return { stringify: () => text }
      },
      async end() {
        onDrained()
        await queue.return()
      },
    }),
  }
}
