import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'

const held = new WeakSet<Context>()

/**
 * Makes `sendAnswer` return the answer to a request instead of writing it, so that the caller can change its headers.
 */
export function holdAnswer(c: Context): void {
  held.add(c)
}

/** A complete answer. */
export interface Answer {
  readonly status: 200 | 304
  /** Including the length of the body. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer<ArrayBuffer> | string | null
}

/** Completes an answer with the length of its body. */
export function answerWith(
  body: Answer['body'],
  status: Answer['status'],
  headers: Readonly<Record<string, string>>,
): Answer {
  const complete = body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  return { status, headers: complete, body }
}

/**
 * Writes a complete answer directly to the connection, because a web Response would halve the requests per second of
 * pages. Returns a Response if there is no connection, as in tests of the router alone, and for HEAD, for which Hono
 * creates its own Response.
 */
export function sendAnswer(c: Context, answer: Answer): Response {
  const outgoing = (c.env as Partial<HttpBindings> | undefined)?.outgoing
  if (outgoing === undefined || c.req.method === 'HEAD' || held.has(c))
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  writeAnswer(outgoing, answer)
  return RESPONSE_ALREADY_SENT
}

/** Writes a complete answer to a connection. */
export function writeAnswer(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, headers)
  outgoing.end(body)
}
