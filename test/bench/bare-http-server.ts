/**
 * The bare `node:http` server to compare with: it answers every request with the bytes and headers of the first message
 * that it received.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

process.once('message', ({ status, rawHeaders, body }: { status: number; rawHeaders: string[]; body: string }) => {
  // In hexadecimal, because it may be compressed.
  const bytes = Buffer.from(body, 'hex')
  const server = createServer((_request, response) => {
    response.writeHead(status, rawHeaders)
    response.end(bytes)
  })
  // A server that listens on an address has one with a port.
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
