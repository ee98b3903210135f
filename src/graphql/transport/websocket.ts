import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionArgs } from 'graphql'
import { GraphQLError } from 'graphql'
import type { SubscribePayload } from 'graphql-ws'
import { CloseCode, handleProtocols } from 'graphql-ws'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { credentialIdOf } from '../../core/access.ts'
import { createAsyncQueue } from '../../core/concurrency/async-queue.ts'
import type { Actor } from '../../core/context.ts'
import { DomainError } from '../../core/errors.ts'
import { graphqlLimits } from '../../core/input-limits.ts'
import { addressFamily, subnet64 } from '../../core/ip-address.ts'
import type { Tracer } from '../../core/telemetry/tracing.ts'
import type { Clock } from '../../core/time.ts'
import { SECOND } from '../../core/time.ts'
import { unavailability } from '../../database/connection/unavailable.ts'
import type { Caller } from '../../http/request/caller.ts'
import { traceparentOf } from '../../http/request/request-span.ts'
import { refuseConnection } from '../../http/response/raw-refusal.ts'
import type { CostCheck } from '../document/cost-check.ts'
import { withoutHttp } from '../document/request-error.ts'
import { operationAttributes } from '../execution/operation-span.ts'
import type { GraphContext } from '../schema/builder.ts'
import { maskError } from '../schema/errors.ts'
import type { Receiver } from '../subscription/broadcast.ts'
import type { RevokedKeys } from '../subscription/live-subscriptions.ts'
import type { SharedExecution } from '../subscription/shared-execution.ts'
import { isRefusal } from '../subscription/shared-execution.ts'
import { credentialIn, InvalidConnectionParams } from './connection-params.ts'
import type { GraphqlServer } from './server.ts'
import type { Connection } from './transport.ts'
import { createTransport, INTERNAL_ERROR } from './transport.ts'
import { turnOf } from './turn.ts'
import { createFrameCache } from './websocket-frame.ts'

/** GraphQL over websocket with the protocol `graphql-transport-ws`. */
export interface WebsocketServer {
  /** Handles an HTTP upgrade request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes all connections with 1001 and terminates those still open after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** The maximum length of a client's message: an operation with its variables. */
const MAX_MESSAGE_BYTES = graphqlLimits.body.most
/** The maximum number of concurrent operations per connection. */
const MAX_OPERATIONS = 50
/** The maximum number of connections in total; each takes about 30 kB. */
export const MAX_CONNECTIONS = 20_000
/** The maximum number of connections per address, which many clients may share. */
const MAX_CONNECTIONS_PER_ADDRESS = 1000
/** How long a client may take to send `connection_init`. */
const INIT_TIMEOUT = 10 * SECOND

/** The maximum amount of unread data per client, which is held in memory, before it is disconnected. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024
/** The same for subscription events. The client can reconnect and resume from its cursor. */
const MAX_BUFFERED_EVENT_BYTES = 1024 * 1024
const TOO_SLOW = 'Reading too slowly. Subscribe again after the last cursor.'
/** The reasons for closing the connection of an authenticated caller. */
const KEY_REVOKED = 'This API key has been revoked.'
const SESSION_ENDED = 'You were signed out, or your role has changed.'
const PAGE_CLOSED = 'You no longer have access to this status page.'
/** IANA-registered close code that asks a client to reconnect later. */
const TRY_AGAIN_LATER = 1013
/** Close code of RFC 6455 §7.4.1 for a server that stops. */
const GOING_AWAY = 1001

/** The engine that runs an operation and the connection that gets its results. */
interface Operation
  extends Pick<ReturnType<GraphqlServer['getEnveloped']>, 'execute' | 'subscribe'>,
    Pick<Connection, 'socket' | 'stream'> {
  readonly id: string
  /** The request that opened the connection. */
  readonly request: IncomingMessage
}

/** The dependencies of a websocket server. */
interface Options {
  readonly yoga: GraphqlServer
  /** Returns who opened a connection. */
  readonly callerOf: (request: IncomingMessage) => Caller
  /** @throws for an invalid credential. */
  readonly authenticate: (caller: Caller) => Promise<{ readonly actor: Actor }>
  readonly checkCost: CostCheck
  readonly shared: SharedExecution
  readonly revokedKeys: RevokedKeys
  readonly log: Logger
  readonly now: Clock
  /** Null or absent: operations are not traced. */
  readonly tracer?: Tracer | null
  /** The number of connections that the process has room for; absent: the maximum. */
  readonly maxConnections?: number
}

/** Creates the websocket server. It uses the engine of the HTTP server, so masking and limits are the same. */
export function createWebsocketServer(options: Options): WebsocketServer {
  // One message per turn of the event loop, because thousands of small ones in a chunk would delay other clients.
  const server = new WebSocketServer({
    noServer: true,
    allowSynchronousEvents: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols,
  })
  server.on('wsClientError', (_error, socket, { method }) =>
    refuseConnection(socket, method === 'GET' ? 400 : 405, { 'Sec-WebSocket-Version': '13' }),
  )
  const connectionLimit = createConnectionLimit(options.maxConnections ?? MAX_CONNECTIONS)
  const open = createTransport(protocolHooks(options), options.log)

  return {
    upgrade(request, socket, head) {
      const { address } = options.callerOf(request)
      const leave = connectionLimit.take(address)
      if (!leave) {
        refuseConnection(socket, 503, { 'Retry-After': '60' })
        return
      }
      socket.once('close', leave)
      server.handleUpgrade(request, socket, head, (client) => {
        client.on('message', () => {
          if (client.bufferedAmount > MAX_BUFFERED_BYTES) client.terminate()
        })
        open({ socket: client, stream: socket, request, address })
      })
    },
    async close(graceMs) {
      const cut = setTimeout(() => {
        for (const client of server.clients) client.terminate()
      }, graceMs)
      for (const client of server.clients) client.close(GOING_AWAY, 'Going away')
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(cut)
    },
  }
}

/** Returns the callbacks of the protocol's library for connections, operations and results. */
function protocolHooks(options: Options): Parameters<typeof createTransport>[0] {
  const masked = (error: unknown) => maskError(error, options)
  const callers = new WeakMap<object, Caller>()
  const subscribeShared = sharedSubscribing(options)
  return {
    connectionInitWaitTimeout: INIT_TIMEOUT,
    onConnect: ({ connectionParams, extra }) => connect(options, callers, connectionParams, extra),
    onSubscribe: async ({ extra, subscriptions }, id, request) => {
      const caller = callers.get(extra)
      if (!caller) throw new Error('Received an operation before the connection was acknowledged.')
      if (Object.keys(subscriptions).length > MAX_OPERATIONS) {
        const message = `A connection can run at most ${MAX_OPERATIONS} operations.`
        return [new GraphQLError(message, { extensions: { code: 'TOO_MANY_OPERATIONS' } })]
      }
      return prepare(options, caller, { id, ...extra }, request)
    },
    execute: (args) => inSpan(options, args, () => operationOf(args).execute(args)),
    subscribe: (args) =>
      inSpan(options, args, () =>
        isShared(options, args) ? subscribeShared(args) : operationOf(args).subscribe(args),
      ),
    onNext: (_ctx, _id, _payload, _args, { errors, ...result }) =>
      errors ? { ...result, errors: errors.map((error) => withoutHttp(error).toJSON()) } : result,
    onError: (_ctx, _id, _payload, errors) =>
      // Includes the library's own errors when a source fails.
      errors.map((error) => withoutHttp(masked(error)).toJSON()),
  }
}

/** Authenticates the caller of a connection, and stores it in `callers`. Returns false after closing the connection. */
async function connect(
  options: Options,
  callers: WeakMap<object, Caller>,
  params: Readonly<Record<string, unknown>> | undefined,
  extra: Connection,
): Promise<boolean> {
  const { socket, request } = extra
  const caller = options.callerOf(request)
  try {
    const credential = credentialIn(params) ?? caller.credential
    callers.set(extra, { ...caller, credential })
    const { actor } = await options.authenticate({ ...caller, credential })
    closeOnRevocation(options.revokedKeys, socket, actor)
    return true
  } catch (error) {
    if (error instanceof InvalidConnectionParams) socket.close(CloseCode.BadRequest, error.message)
    else socket.close(closeCodeOf(error), maskError(error, options).message)
    return false
  }
}

function closeOnRevocation(revokedKeys: RevokedKeys, socket: WebSocket, actor: Actor): void {
  const credentialId = credentialIdOf(actor)
  if (credentialId === null) return
  const reason = actor.kind === 'user' ? SESSION_ENDED : KEY_REVOKED
  const release = revokedKeys.hold(credentialId, () => socket.close(CloseCode.Forbidden, reason))
  socket.once('close', release)
}

/** Parses and validates an operation. Returns the arguments of its execution, or why it is refused. */
async function prepare(
  options: Options,
  caller: Caller,
  { socket, stream, request, id }: Connection & { readonly id: string },
  { query, variables, operationName: name }: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  // Some clients send an empty name for none.
  const operationName = name || undefined
  const engine = options.yoga.getEnveloped({ caller, params: { query, variables, operationName } })
  try {
    const document = engine.parse(query)
    const errors = engine.validate(engine.schema, document)
    if (errors.length > 0) return errors
    const { execute, subscribe } = engine
    const rootValue: Operation = { execute, subscribe, socket, stream, id, request }
    return {
      schema: engine.schema,
      operationName,
      document,
      variableValues: variables,
      contextValue: { ...(await engine.contextFactory()), onCut: () => cutOff(socket) },
      rootValue,
    }
  } catch (error) {
    // If thrown, a syntax error would close the socket and end the client's other operations.
    return [maskError(error, options)]
  }
}

/**
 * The request of a connection ends with its upgrade; each operation on it corresponds to a request of other callers.
 */
function inSpan<T>({ tracer }: Options, args: ExecutionArgs, work: () => T | Promise<T>): T | Promise<T> {
  if (!tracer) return work()
  const options = {
    ...operationAttributes(args),
    ...traceparentOf(operationOf(args).request),
    kind: 'server',
  } as const
  return tracer.run(options, async () => await work())
}

function isShared({ shared }: Options, args: ExecutionArgs): boolean {
  return contextOf(args).actor.kind === 'visitor' && shared.canShare(args)
}

/** The engine's own context, set by `onSubscribe`. */
const contextOf = ({ contextValue }: ExecutionArgs) => contextValue as GraphContext

/** Returns the subscribe function for a shared execution, whose results go directly to the socket. */
function sharedSubscribing({ checkCost, shared }: Options) {
  const frameOf = createFrameCache((id, result) => `${headOf(id)}${result}}`)
  return async (args: ExecutionArgs) => {
    const turn = turnOf(contextOf(args).clientAddress ?? '')
    if (turn !== undefined) await turn
    const refusal = await checkCost(args)
    if (refusal) return { errors: [refusal] }
    const receiver = createReceiver(operationOf(args), frameOf)
    const joined = await shared.join(args, receiver)
    if (typeof joined !== 'function') return isRefusal(joined) ? operationOf(args).subscribe(args) : joined
    // The library only gets a queue that lets it end the subscription.
    return createAsyncQueue<never>(joined)
  }
}

/** `onSubscribe` set it; the library does not type the root value. */
const operationOf = (args: ExecutionArgs) => args.rootValue as Operation

/**
 * Sends shared results as protocol messages. The frame is written to the stream under the websocket, because ws would
 * create it again for each client. ws writes its own frames whole and at once (it does not compress), so frames do not
 * interleave.
 */
function createReceiver({ socket, stream, id }: Operation, frameOf: (id: string, result: string) => Buffer): Receiver {
  return {
    send(text) {
      if (socket.readyState !== socket.OPEN) return
      if (socket.bufferedAmount <= MAX_BUFFERED_EVENT_BYTES) stream.write(frameOf(id, text))
      else socket.close(TRY_AGAIN_LATER, TOO_SLOW)
    },
    deliver: (text) => new Promise((resolve) => socket.send(`${headOf(id)}${text}}`, () => resolve())),
    end(isCut) {
      if (isCut) cutOff(socket)
      else if (socket.readyState === socket.OPEN)
        socket.close(TRY_AGAIN_LATER, 'Subscribe again after the last cursor.')
    },
  }
}

/** Closes the connection of a caller who may no longer read a page. */
function cutOff(socket: WebSocket): void {
  if (socket.readyState === socket.OPEN) socket.close(CloseCode.Forbidden, PAGE_CLOSED)
}

/** Returns the beginning of a result's message. */
const headOf = (id: string) => `{"id":${JSON.stringify(id)},"type":"next","payload":`

/** Returns the close code for a caller who could not be authenticated. */
function closeCodeOf(error: unknown): number {
  if (unavailability(error)) return TRY_AGAIN_LATER
  return error instanceof DomainError ? CloseCode.Forbidden : INTERNAL_ERROR
}

/** Limits connections in total and per address; IPv6 clients count by their /64. */
function createConnectionLimit(maxConnections: number) {
  const counts = new Map<string, number>()
  let all = 0
  return {
    /** Returns a function that releases the connection; null when a limit is reached. */
    take(address: string): (() => void) | null {
      const subject = addressFamily(address) === 6 ? subnet64(address) : address
      const count = counts.get(subject) ?? 0
      if (all >= maxConnections || count >= MAX_CONNECTIONS_PER_ADDRESS) return null
      all += 1
      counts.set(subject, count + 1)
      return () => {
        all -= 1
        const left = (counts.get(subject) ?? 1) - 1
        if (left === 0) counts.delete(subject)
        else counts.set(subject, left)
      }
    },
  }
}
