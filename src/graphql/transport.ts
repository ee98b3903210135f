import type { IncomingMessage } from 'node:http'
import type { ConnectionInitMessage, ServerOptions } from 'graphql-ws'
import { makeServer } from 'graphql-ws'
import type { Logger } from 'pino'
import type { WebSocket } from 'ws'
import { SECOND } from '../time.ts'

/** What is known of a connection beside what is said on it. */
export interface Connection {
  readonly socket: WebSocket
  readonly request: IncomingMessage
}

/** Close code of RFC 6455 §7.4.1 after which clients try again, which they do not after the library's own 4500. */
export const INTERNAL_ERROR = 1011
/** How often clients are asked whether they are there; who has not answered when the next is due is cut off. */
const KEEP_ALIVE = 12 * SECOND
/** The longest reason a close may give, in bytes (RFC 6455 §5.5); ws throws at a longer one, and clients' ids are in some. */
const LONGEST_REASON = 123

/**
 * Speaks `graphql-transport-ws` on sockets, with the library's core. Its own adapter for ws is not used: it writes whatever
 * a client does wrong to the console, past the log.
 */
export function createTransport(
  options: ServerOptions<ConnectionInitMessage['payload'], Connection>,
  log: Logger,
): (connection: Connection) => void {
  const protocol = makeServer(options)

  return ({ socket, request }) => {
    // A frame that is no frame, or too long: ws closes the connection itself, with the code that says so.
    socket.on('error', (error) => log.debug({ err: error }, 'websocket: error'))
    keepAlive(socket)
    const failed = (error: unknown) => {
      log.error({ err: error }, 'websocket: unexpected error')
      socket.close(INTERNAL_ERROR, 'Something went wrong on our side.')
    }
    const ended = protocol.opened(
      {
        protocol: socket.protocol,
        // What does not go out is the closing of the socket, which is told below.
        send: (text) => new Promise((resolve) => socket.send(text, () => resolve())),
        close: (code, reason = '') => socket.close(code, Buffer.byteLength(reason) > LONGEST_REASON ? '' : reason),
        onMessage: (take) => void socket.on('message', (data) => void take(String(data)).catch(failed)),
      },
      { socket, request },
    )
    socket.once('close', (code, reason) => void ended(code, String(reason)).catch(failed))
  }
}

function keepAlive(socket: WebSocket): void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const asking = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, KEEP_ALIVE)
  socket.once('close', () => clearInterval(asking))
}
