import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Certified } from './certificate.ts'

/** A received request. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a receiver answers. */
export interface ReceiverAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A server on loopback that keeps the requests it receives. */
export interface Receiver {
  readonly port: number
  readonly url: string
  /** Every request, in order. */
  readonly received: Received[]
  /** Resolves once this many matching requests have arrived. */
  arrived(count: number, matches?: (request: Received) => boolean): Promise<Received[]>
  /** Its answer; 200 by default. */
  answer: (request: Received) => ReceiverAnswer | Promise<ReceiverAnswer>
  close(): Promise<void>
}

/** Starts a receiver, with TLS if a certificate is given; the caller closes it. */
export async function startReceiver(certified?: Certified): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const server = certified ? createTlsServer({ ...certified }) : createServer()
  server.on('request', async (request, response) => {
    const { method = '', url = '', headers } = request
    const sent = await text(request).catch(() => null)
    // The sender ended in the middle of its request.
    if (sent === null) return
    const came = { method, path: url, headers, body: sent }
    received.push(came)
    const { status, headers: own = {}, body = '' } = await receiver.answer(came)
    response.writeHead(status, own).end(body)
    for (const check of waiting) check()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on an address has one with a port.
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    port,
    url: `http${certified ? 's' : ''}://127.0.0.1:${port}`,
    received,
    answer: () => ({ status: 200 }),
    arrived: (count, matches = () => true) =>
      new Promise((resolve) => {
        const check = () => {
          const found = received.filter(matches)
          if (found.length < count) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      }),
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
  return receiver
}
