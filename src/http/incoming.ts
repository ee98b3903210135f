import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** The request of Node's under a context of the router, for what a web Request does not tell or would make dear. */
export function incoming(c: Context): IncomingMessage {
  return (c as Context<{ Bindings: HttpBindings }>).env.incoming
}
