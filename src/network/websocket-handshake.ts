import { randomBytes } from 'node:crypto'
import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { reasonOf } from './reason.ts'

/** The outcome of a websocket’s opening handshake (RFC 6455 §4). `refused` has the status of the answer if not 101. */
export type Handshake =
  | { readonly kind: 'open' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'unreachable'; readonly reason: string }

/**
 * Opens a websocket as browsers do, and closes it at once. Does not follow redirects. Never rejects.
 * @param url an http:// or https:// URL with the path.
 * @param timeoutMs the timeout of the answer, in milliseconds.
 */
export function tryWebsocket(url: string, protocol: string, timeoutMs: number): Promise<Handshake> {
  return new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ kind: 'unreachable', reason: reasonOf(error) })
    const send = url.startsWith('https:') ? secureRequest : plainRequest
    const asked = send(url, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-protocol': protocol,
        'sec-websocket-key': randomBytes(16).toString('base64'),
      },
      signal: AbortSignal.timeout(timeoutMs),
    })
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve({ kind: 'open' })
    })
    asked.on('response', (response) => {
      response.resume()
      resolve({ kind: 'refused', status: response.statusCode ?? 0 })
      asked.destroy()
    })
    asked.on('error', fail)
    asked.end()
  })
}
