import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Certified } from './certificate.ts'

/** A server on 127.0.0.1 with a handler for each connection, until the test ends. */
export interface TcpServer {
  readonly port: number
  /** The number of connections so far. */
  readonly connections: number
}

/** Starts one; with a certificate it speaks TLS. */
export async function startTcpServer(serve: (socket: Socket) => void, certified?: Certified): Promise<TcpServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = certified ? createTlsServer({ ...certified }) : createServer()
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  server.on(certified ? 'secureConnection' : 'connection', (socket: Socket | TLSSocket) => {
    socket.on('error', () => undefined)
    serve(socket)
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await once(server.close(), 'close')
  })
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    port,
    get connections() {
      return connections
    },
  }
}

/** Starts a server that sends these bytes after a request, and keeps the connection open or closes it. */
export function startScript(answer: string | Buffer, certified?: Certified, keepOpen = false): Promise<TcpServer> {
  return startTcpServer((socket) => {
    socket.once('data', () => {
      socket.write(answer)
      if (!keepOpen) socket.end()
    })
  }, certified)
}
