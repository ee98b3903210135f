import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** Returns Node's request behind a context of the router, for data that a web Request lacks or provides slowly. */
export function nodeRequest(c: Context): IncomingMessage {
  return (c as Context<{ Bindings: HttpBindings }>).env.incoming
}
