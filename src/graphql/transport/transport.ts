import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ConnectionInitMessage, ServerOptions } from 'graphql-ws'
import { CloseCode, makeServer } from 'graphql-ws'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { SECOND } from '../../core/time.ts'
import { takeInTurns } from './turn.ts'

/** A websocket, the stream under it, and the request that opened it. */
export interface Connection {
  readonly socket: WebSocket
  readonly stream: Duplex
  readonly request: IncomingMessage
  /** The client's address. */
  readonly address: string
}

/** Close code of RFC 6455 §7.4.1. Clients reconnect after it, but not after the library's own 4500. */
export const INTERNAL_ERROR = 1011
/** The interval of pings. A client that has not answered one when the next is due is disconnected. */
const PING_INTERVAL = 12 * SECOND
/**
 * The maximum length of a close reason, in bytes (RFC 6455 §5.5). ws throws above it, and some reasons contain clients'
 * ids.
 */
const MAX_REASON_BYTES = 123

/**
 * Serves `graphql-transport-ws` with the library's core. Its own adapter for ws is not used, because it writes clients'
 * errors to the console instead of the log.
 */
export function createTransport(
  options: ServerOptions<ConnectionInitMessage['payload'], Connection>,
  log: Logger,
): (connection: Connection) => void {
  const protocol = makeServer(options)

  return (connection) => {
    const { socket, address } = connection
    // For an invalid or too long frame, ws closes the connection itself with the right code.
    socket.on('error', (error) => log.debug({ err: error }, 'websocket: error'))
    keepAlive(socket)
    const failed = (error: unknown) => {
      if (isOfServers(error)) return socket.close(CloseCode.BadRequest, 'Only servers send messages of this type.')
      log.error({ err: error }, 'websocket: unexpected error')
      socket.close(INTERNAL_ERROR, 'An unexpected error occurred on the server.')
    }
    const ended = protocol.opened(
      {
        protocol: socket.protocol,
        // A failed send closes the socket, which is handled below.
        send: (text) => new Promise((resolve) => socket.send(text, () => resolve())),
        close: (code, reason = '') => socket.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? '' : reason),
        onMessage: (take) => takeInTurns(socket, address, (message) => void take(message).catch(failed)),
      },
      connection,
    )
    socket.once('close', (code, reason) => void ended(code, String(reason)).catch(failed))
  }
}

/** Whether the library failed because a client sent a message that only servers send. It has no other sign of that. */
const isOfServers = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Unexpected message of type ')

function keepAlive(socket: WebSocket): void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const pings = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, PING_INTERVAL)
  socket.once('close', () => clearInterval(pings))
}
