import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

/**
 * Sends a body that is at hand as a whole, straight to the connection: a web Response made of it first would cost half of
 * the requests a second that pages are served with. It is made all the same where there is no connection, as in tests of the
 * router alone, and for HEAD, of which Hono makes a Response of its own.
 */
export function sendWhole(
  c: Context,
  body: Buffer<ArrayBuffer> | string | null,
  status: 200 | 304,
  headers: Readonly<Record<string, string>>,
): Response {
  const outgoing = (c.env as Partial<HttpBindings> | undefined)?.outgoing
  const whole = body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  if (outgoing === undefined || c.req.method === 'HEAD') return new Response(body, { status, headers: whole })
  outgoing.writeHead(status, whole)
  outgoing.end(body)
  return RESPONSE_ALREADY_SENT
}
