import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { createServer, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { StartError } from '../errors.ts'
import type { GraphqlServer } from '../graphql/server.ts'
import type { WebsocketDoor } from '../graphql/websocket.ts'
import { SECOND } from '../time.ts'
import type { Caller } from './caller.ts'
import { hostRefusal, originForm } from './host.ts'

/** The one HTTP server: GraphQL and its websockets at `/graphql`, everything else in the router. */
export interface HttpServer {
  /** Starts to listen; gives the port. @throws StartError when the port is taken or not allowed. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, lets what runs finish for at most `graceMs`, then ends it. */
  close(graceMs: number): Promise<void>
}

/** How long a request may take to come in, in milliseconds: the largest has some 128 KiB. Then Node answers with 408. */
const SLOWEST_REQUEST = 60 * SECOND

/**
 * How long a connection is kept between requests, in milliseconds: longer than proxies keep theirs (nginx and the load
 * balancers of AWS: 60 s), which would otherwise send requests into connections that are just being closed.
 */
const IDLE_CONNECTION = 75 * SECOND
const timeouts = { requestTimeout: SLOWEST_REQUEST, keepAliveTimeout: IDLE_CONNECTION }

/** Joins the doors to one server. GraphQL is not led through the router, which would cost it a quarter of its speed. */
export function createHttpServer(doors: {
  readonly router: RequestListener
  /** Null: there is no GraphQL, and neither are there websockets. */
  readonly yoga: GraphqlServer | null
  readonly websocket: WebsocketDoor | null
  readonly callerOf: (request: IncomingMessage) => Caller
}): HttpServer {
  const { router, yoga, websocket, callerOf } = doors
  let running = 0
  let closing = false
  const endWhenIdle = () => {
    if (closing && running === 0) server.closeAllConnections()
  }
  const ended = () => {
    running -= 1
    endWhenIdle()
  }
  const server = createServer({ requireHostHeader: false, ...timeouts }, (request, response) => {
    running += 1
    if (closing) response.setHeader('Connection', 'close')
    response.on('close', ended)
    const refusal = hostRefusal(request)
    if (refusal !== null) {
      response.writeHead(400, refusalHeaders).end(`${refusal}\n`)
      return
    }
    request.url = originForm(request.url ?? '')
    if (yoga && isGraphql(request) && !isForExplorer(request))
      void yoga(request, response, { caller: callerOf(request) })
    else router(request, response)
  })
  server.on('upgrade', (request, socket, head) => {
    // Node has taken its own listener off, and an error that nobody listens for ends the process.
    socket.on('error', () => socket.destroy())
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') answerAsItIs(server, request, socket)
    else if (hostRefusal(request) !== null) refuse(socket, '400 Bad Request')
    else if (closing) refuse(socket, '503 Service Unavailable')
    else if (websocket && isGraphql(request)) websocket.upgrade(request, socket, head)
    else refuse(socket, '404 Not Found')
  })

  return {
    listen: (port, host) => listen(server, port, host),
    async close(graceMs) {
      closing = true
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
      // Connections that carry no request, such as those that browsers open beforehand, are not waited for.
      endWhenIdle()
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await Promise.all([websocket?.close(graceMs), stopped])
      clearTimeout(cut)
    },
  }
}

/**
 * Answers a request that offers to go on in another protocol, such as HTTP/2, which a server may ignore (RFC 9110 §7.8):
 * Node, once it listens for upgrades, takes every such offer for one. Its body, if it has one, is lost.
 */
function answerAsItIs(server: Server, request: IncomingMessage, socket: Duplex): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  // What an HTTP server hands over is a TCP socket.
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end(() => socket.destroy()))
  server.emit('request', request, response)
}

/** Answers an offer that is not taken, and closes the connection without waiting for the client to do so. */
function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => socket.destroy())
}

const refusalHeaders = { Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8' }

function isGraphql({ url = '' }: IncomingMessage): boolean {
  return /^\/graphql\/?(\?|$)/.test(url)
}

/** Whether a browser opens the address, which shows GraphiQL. */
function isForExplorer({ method, headers: { accept = '' } }: IncomingMessage): boolean {
  return method === 'GET' && accept.includes('text/html')
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (cause: Error) =>
      reject(new StartError(`Cannot listen on port ${port} of ${host}: ${cause.message}.`, { cause }))
    server.once('error', refused)
    server.listen(port, host, () => {
      server.off('error', refused)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
