import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionArgs } from 'graphql'
import { GraphQLError } from 'graphql'
import { CloseCode, handleProtocols } from 'graphql-ws'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { RevokedKeys } from '../account/revoked-keys.ts'
import type { Actor } from '../context.ts'
import { unavailability } from '../database/unavailable.ts'
import { DomainError } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import { addressFamily, subnet64 } from '../network/address.ts'
import { createQueue } from '../queue.ts'
import { SECOND } from '../time.ts'
import type { GraphContext } from './builder.ts'
import { costRefusal } from './cost.ts'
import { BadParams, credentialIn } from './credential.ts'
import { maskError } from './errors.ts'
import type { GraphqlServer } from './server.ts'
import type { Receiver, SharedExecution } from './shared-execution.ts'
import { createTransport, INTERNAL_ERROR } from './transport.ts'

/** GraphQL over websocket, protocol `graphql-transport-ws`. */
export interface WebsocketDoor {
  /** Takes over a connection that asks to become a websocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Tells every client to come back later (1001) and ends what has not closed within `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** The longest message a client may send: an operation with its variables. */
const LONGEST_MESSAGE = 128 * 1024
/** Operations under way at once on one socket. */
const MOST_OPERATIONS = 50
/** Connections at once: of all clients (each takes some 30 kB), and of one address, behind which many may sit. */
const MOST_CONNECTIONS = { all: 20_000, address: 1000 }
/** How long a client may take to say `connection_init`. */
const INIT_TIMEOUT = 10 * SECOND

/** What a client may leave unread before it is cut off, in bytes: answers are held in memory until they are read. */
const MOST_UNREAD = 4 * 1024 * 1024
/** The same for what comes unasked. The client may come back and go on from its cursor. */
const MOST_UNREAD_EVENTS = 1024 * 1024
const TOO_SLOW = 'Too slow: subscribe again after the last cursor.'
/** Close code registered with IANA by which a server asks a client to come back later. */
const TRY_AGAIN_LATER = 1013
/** Close code of RFC 6455 §7.4.1 for a server that stops. */
const GOING_AWAY = 1001

/** What stands behind an operation: the engine that runs it, and where its results go. */
interface Operation extends Pick<ReturnType<GraphqlServer['getEnveloped']>, 'execute' | 'subscribe'> {
  readonly socket: WebSocket
  readonly id: string
}

/**
 * Serves websockets with the engine of the HTTP side, so that masking and limits are the same.
 * @param options.callerOf who opened the connection; @param options.admit who that is, or throws when a credential does not hold.
 */
export function createWebsocketDoor(options: {
  readonly yoga: GraphqlServer
  readonly callerOf: (request: IncomingMessage) => Caller
  readonly admit: (caller: Caller) => Promise<{ readonly actor: Actor }>
  readonly shared: SharedExecution
  readonly revokedKeys: RevokedKeys
  readonly log: Logger
}): WebsocketDoor {
  const { yoga, admit, shared, revokedKeys, log } = options
  const server = new WebSocketServer({ noServer: true, maxPayload: LONGEST_MESSAGE, handleProtocols })
  const callers = new WeakMap<object, Caller>()
  const seats = createSeats()

  const open = createTransport(
    {
      connectionInitWaitTimeout: INIT_TIMEOUT,
      onConnect: async ({ connectionParams: params, extra }) => {
        const { socket, request } = extra
        const caller = options.callerOf(request)
        try {
          const credential = credentialIn(params) ?? caller.credential
          callers.set(extra, { ...caller, credential })
          const { actor } = await admit({ ...caller, credential })
          if (actor.kind === 'apiKey') endWithKey(socket, actor.keyId)
          return true
        } catch (error) {
          if (error instanceof BadParams) {
            socket.close(CloseCode.BadRequest, error.message)
            return false
          }
          const { message } = maskError(error, log)
          socket.close(closeCodeOf(error), message)
          return false
        }
      },
      onSubscribe: async ({ extra, subscriptions }, id, { query, variables, operationName }) => {
        const caller = callers.get(extra)
        if (!caller) return [new GraphQLError('The connection is not acknowledged.')]
        if (Object.keys(subscriptions).length > MOST_OPERATIONS) {
          const message = `At most ${MOST_OPERATIONS} operations may run on one connection.`
          return [new GraphQLError(message, { extensions: { code: 'TOO_MANY_OPERATIONS' } })]
        }
        const engine = yoga.getEnveloped({ caller, params: { query, variables, operationName } })
        try {
          const document = engine.parse(query)
          const errors = engine.validate(engine.schema, document)
          if (errors.length > 0) return errors
          const { execute, subscribe } = engine
          const rootValue: Operation = { execute, subscribe, socket: extra.socket, id }
          return {
            schema: engine.schema,
            operationName,
            document,
            variableValues: variables,
            contextValue: await engine.contextFactory(),
            rootValue,
          }
        } catch (error) {
          // Thrown on, a syntax error would close the socket and end the client's other operations.
          return [maskError(error, log)]
        }
      },
      execute: (args) => operationOf(args).execute(args),
      subscribe: (args) => (isShared(args) ? subscribeShared(args) : operationOf(args).subscribe(args)),
    },
    log,
  )

  function endWithKey(socket: WebSocket, keyId: string): void {
    const release = revokedKeys.hold(keyId, () => socket.close(CloseCode.Forbidden, 'This API key has been revoked.'))
    socket.once('close', release)
  }

  function isShared(args: ExecutionArgs): boolean {
    // The engine's own context, which `onSubscribe` has put there.
    const { actor } = args.contextValue as GraphContext
    return actor.kind === 'visitor' && shared.canShare(args)
  }

  /** The results go straight to the socket; what the library is given only tells it how to leave. */
  async function subscribeShared(args: ExecutionArgs) {
    const refusal = costRefusal(args)
    if (refusal) return { errors: [refusal] }
    const receiver = createReceiver(operationOf(args))
    const joined = await shared.join(args, receiver)
    if (typeof joined !== 'function') return joined
    return createQueue<never>(joined)
  }

  return {
    upgrade(request, socket, head) {
      const leave = seats.take(options.callerOf(request).address)
      if (!leave) {
        socket.end(
          'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 60\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
        )
        return
      }
      socket.once('close', leave)
      server.handleUpgrade(request, socket, head, (client) => {
        client.on('message', () => {
          if (client.bufferedAmount > MOST_UNREAD) client.terminate()
        })
        open({ socket: client, request })
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

/** `onSubscribe` put it there; the type of the library's root value is unknown. */
const operationOf = (args: ExecutionArgs) => args.rootValue as Operation

/** Sends what is shared as the protocol's messages: made once, but for the id. */
function createReceiver({ socket, id }: Operation): Receiver {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return {
    send(text) {
      if (socket.bufferedAmount <= MOST_UNREAD_EVENTS) socket.send(`${head}${text}}`, ignore)
      else if (socket.readyState === socket.OPEN) socket.close(TRY_AGAIN_LATER, TOO_SLOW)
    },
    deliver: (text) => new Promise((resolve) => socket.send(`${head}${text}}`, () => resolve())),
    end() {
      if (socket.readyState === socket.OPEN) socket.close(TRY_AGAIN_LATER, 'Subscribe again after the last cursor.')
    },
  }
}

/** The code with which a connection is closed whose caller could not be admitted. */
function closeCodeOf(error: unknown): number {
  if (unavailability(error)) return TRY_AGAIN_LATER
  return error instanceof DomainError ? CloseCode.Forbidden : INTERNAL_ERROR
}

/** A message that does not go out is the closing of the socket, which is told elsewhere. */
const ignore = () => {}

/** Counts connections by the address they come from, an IPv6 subscriber having a whole /64. */
function createSeats() {
  const taken = new Map<string, number>()
  let all = 0
  return {
    /** Gives what frees the seat; null when all are taken. */
    take(address: string): (() => void) | null {
      const subject = addressFamily(address) === 6 ? subnet64(address) : address
      const count = taken.get(subject) ?? 0
      if (all >= MOST_CONNECTIONS.all || count >= MOST_CONNECTIONS.address) return null
      all += 1
      taken.set(subject, count + 1)
      return () => {
        all -= 1
        const left = (taken.get(subject) ?? 1) - 1
        if (left === 0) taken.delete(subject)
        else taken.set(subject, left)
      }
    },
  }
}
