/** The bare `node:http` server to compare with: it answers everything with the bytes and headers it was sent first. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

process.once('message', ({ rawHeaders, body }: { rawHeaders: string[]; body: string }) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, rawHeaders)
    response.end(body)
  })
  // A server that listens on an address has one with a port.
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
