import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionArgs } from 'graphql'
import { GraphQLError } from 'graphql'
import { CloseCode } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import type { Logger } from 'pino'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { DomainError } from '../errors.ts'
import type { Caller } from '../http/caller.ts'
import { bearerOf } from '../http/caller.ts'
import { maskError } from './errors.ts'
import type { GraphqlServer } from './server.ts'

/** GraphQL over websocket, protocol `graphql-transport-ws`. */
export interface WebsocketDoor {
  /** Takes over a connection that asks to become a websocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Tells every client to come back later (1001) and ends what has not closed within `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Close code of RFC 6455 §7.4.1 after which clients try again, which they do not after the library's own 4500. */
const INTERNAL_ERROR = 1011
/** The longest message a client may send: an operation with its variables. */
const LONGEST_MESSAGE = 128 * 1024
/** Operations under way at once on one socket. */
const MOST_OPERATIONS = 50

/** What a client may leave unread before it is cut off, in bytes: answers are held in memory until they are read. */
const MOST_UNREAD = 4 * 1024 * 1024

/** A client's key may come in the payload of `connection_init`, since browsers cannot set headers on websockets. */
const credentialIn = z
  .object({ authorization: z.string().nullish(), apiKey: z.string().nullish() })
  .nullish()
  // What is no text is a key that does not hold.
  .catch({ apiKey: '' })
  .transform((params) => bearerOf(params?.authorization) ?? params?.apiKey ?? null)

/**
 * Serves websockets with the engine of the HTTP side, so that masking and limits are the same.
 * @param options.callerOf who opened the connection; @param options.admit throws when a credential does not hold.
 */
export function createWebsocketDoor(options: {
  readonly yoga: GraphqlServer
  readonly callerOf: (request: IncomingMessage) => Caller
  readonly admit: (caller: Caller) => Promise<unknown>
  readonly log: Logger
}): WebsocketDoor {
  const { yoga, admit, log } = options
  const server = new WebSocketServer({ noServer: true, maxPayload: LONGEST_MESSAGE })
  const callers = new WeakMap<object, Caller>()

  const graphql = useServer(
    {
      onConnect: async ({ connectionParams: params, extra }) => {
        const caller = options.callerOf(extra.request)
        const credential = credentialIn.parse(params) ?? caller.credential
        callers.set(extra, { ...caller, credential })
        try {
          await admit({ ...caller, credential })
          return true
        } catch (error) {
          const { message } = maskError(error, log)
          extra.socket.close(error instanceof DomainError ? CloseCode.Forbidden : INTERNAL_ERROR, message)
          return false
        }
      },
      onSubscribe: async ({ extra, subscriptions }, _id, { query, variables, operationName }) => {
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
          return {
            schema: engine.schema,
            operationName,
            document,
            variableValues: variables,
            contextValue: await engine.contextFactory(),
            rootValue: { execute, subscribe },
          }
        } catch (error) {
          // Thrown on, a syntax error would close the socket and end the client's other operations.
          return [maskError(error, log)]
        }
      },
      execute: (args) => engineOf(args).execute(args),
      subscribe: (args) => engineOf(args).subscribe(args),
    },
    server,
  )

  return {
    upgrade(request, socket, head) {
      server.handleUpgrade(request, socket, head, (client) => {
        client.on('error', (error) => log.debug({ err: error }, 'websocket: error'))
        client.on('message', () => {
          if (client.bufferedAmount > MOST_UNREAD) client.terminate()
        })
        server.emit('connection', client, request)
      })
    },
    async close(graceMs) {
      const cut = setTimeout(() => {
        for (const client of server.clients) client.terminate()
      }, graceMs)
      await graphql.dispose()
      clearTimeout(cut)
    },
  }
}

type Engine = Pick<ReturnType<GraphqlServer['getEnveloped']>, 'execute' | 'subscribe'>

/** `onSubscribe` put the operation's engine there; the type of the library's root value is unknown. */
const engineOf = (args: ExecutionArgs) => args.rootValue as Engine
