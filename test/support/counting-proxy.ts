import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that records requests to a service. */
export interface CountingProxy {
  readonly url: string
  /** The path of each request so far, in order. */
  readonly paths: string[]
  /** Closes the proxy and its connections, as if the service were gone. */
  stop(): void
}

/** Starts a proxy in front of a service on a free port of 127.0.0.1. It forwards websockets. */
export async function startCountingProxy(service: string): Promise<CountingProxy> {
  const paths: string[] = []
  const { port } = new URL(service)
  const server = createServer((incoming, outgoing) => {
    paths.push(incoming.url ?? '')
    const { method, url, headers } = incoming
    const onward = forward({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.on('upgrade', (incoming, socket, head) => {
    const onward = forward({ host: '127.0.0.1', port, path: incoming.url, headers: incoming.headers })
    onward.on('upgrade', (response, upstream) => {
      const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`)
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    onward.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, stop }
}
