import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

const held = new WeakSet<Context>()

/** Has the answer to a request returned whole, so that whoever has called this may change its headers. */
export function holdAnswer(c: Context): void {
  held.add(c)
}

/**
 * Writes a complete body straight to the connection: a web Response would halve the requests per second of pages. Returns
 * a Response where there is no connection, as in tests of the router alone, and for HEAD, for which Hono creates its own
 * Response.
 */
export function sendBody(
  c: Context,
  body: Buffer<ArrayBuffer> | string | null,
  status: 200 | 304,
  headers: Readonly<Record<string, string>>,
): Response {
  const outgoing = (c.env as Partial<HttpBindings> | undefined)?.outgoing
  const headersWithLength = body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  if (outgoing === undefined || c.req.method === 'HEAD' || held.has(c))
    return new Response(body, { status, headers: headersWithLength })
  outgoing.writeHead(status, headersWithLength)
  outgoing.end(body)
  return RESPONSE_ALREADY_SENT
}
