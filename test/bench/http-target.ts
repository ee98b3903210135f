/** A server for monitors to probe, in its own process: it answers every request at once, and reports its port. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((_request, response) => response.end('ok'))
server.keepAliveTimeout = 1
// A server that listens on an address has one with a port.
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
