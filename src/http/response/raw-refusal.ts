import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { privateHeaders } from './private-response.ts'

/** Refuses a request whose answer Node cannot write, such as an upgrade, and closes the connection without waiting. */
export function refuseConnection(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): void {
  const all = {
    ...privateHeaders,
    ...(body !== '' && { 'Content-Type': 'text/plain; charset=utf-8' }),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}
