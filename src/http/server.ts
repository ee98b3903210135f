import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpBindings } from '@hono/node-server'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { GraphqlServer } from '../graphql/server.ts'
import type { WebsocketDoor } from '../graphql/websocket.ts'
import type { Caller } from './caller.ts'

/** The one HTTP server: GraphQL and its websockets at `/graphql`, everything else in the router. */
export interface HttpServer {
  /** Starts to listen; gives the port. @throws the system's error when the port is taken or not allowed. */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting, lets what runs finish for at most `graceMs`, then ends it. */
  close(graceMs: number): Promise<void>
}

/** Joins the doors to one server. GraphQL is not led through the router, which would cost it a quarter of its speed. */
export function createHttpServer(doors: {
  readonly router: Hono<{ Bindings: HttpBindings }>
  readonly yoga: GraphqlServer
  readonly websocket: WebsocketDoor
  readonly callerOf: (request: IncomingMessage) => Caller
}): HttpServer {
  const { router, yoga, websocket, callerOf } = doors
  // The router's pages must not see a replaced global Response: GraphQL runs beside it.
  const listener = getRequestListener(router.fetch, { overrideGlobalObjects: false })
  const server = createServer((request, response) => {
    if (isGraphql(request)) void yoga(request, response, { caller: callerOf(request) })
    else void listener(request, response)
  })
  server.on('upgrade', (request, socket, head) => {
    if (isGraphql(request)) websocket.upgrade(request, socket, head)
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  })

  return {
    listen: (port, host) => listen(server, port, host),
    async close(graceMs) {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await Promise.all([websocket.close(graceMs), stopped])
      clearTimeout(cut)
    },
  }
}

function isGraphql({ url = '' }: IncomingMessage): boolean {
  return url === '/graphql' || url.startsWith('/graphql?') || url.startsWith('/graphql/')
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}
