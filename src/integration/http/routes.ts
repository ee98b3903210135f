import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { Invalid } from '../../core/errors.ts'
import { randomText } from '../../core/id.ts'
import { readBytes } from '../../http/request/body.ts'
import { decodeText } from '../../http/request/content.ts'
import { nodeRequest } from '../../http/request/node-request.ts'
import { errorResponse } from '../../http/response/errors.ts'
import { INTEGRATION_PATH } from '../integration.ts'
import { fieldsOf } from '../kind/incoming.ts'
import { parsed } from '../kinds.ts'
import type { ReceiveContext } from '../receive.ts'
import { MAX_INCOMING_BYTES, receive, receiveEvent } from '../receive.ts'

/** The path to which PagerDuty's clients send events (Events API v2). */
export const ENQUEUE_PATH = '/v2/enqueue'

/** Creates the routes that receive alerts. The secret in the URL, or the routing key, authenticates the sender. */
export function integrationRoutes(contextOf: (c: HttpContext) => ReceiveContext): Hono {
  const app = new Hono()

  app.all(`${INTEGRATION_PATH}/:secret`, (c) =>
    answer(c, async (ctx) => {
      // Grafana can be configured to use PUT.
      requireMethod(c, ['POST', 'PUT'])
      const body = await readUtf8(c)
      await receive(ctx, c.req.param('secret'), { body, header: (name) => c.req.header(name) })
      return { received: true }
    }),
  )

  app.all(ENQUEUE_PATH, (c) =>
    answer(c, async (ctx) => {
      requireMethod(c, ['POST'])
      const event = fieldsOf(parsed((await readUtf8(c)).toString('utf8')))
      const { routing_key: key, dedup_key: given, event_action: action } = event
      if (typeof key !== 'string' || typeof action !== 'string')
        throw new Invalid('INVALID_INPUT', 'An event needs a routing_key and an event_action.')
      // PagerDuty's own limit is 255 characters. A longer key is kept, because a cut one would identify other alerts as well.
      const dedup = typeof given === 'string' && given !== '' ? given : randomText(32)
      await receiveEvent(ctx, key, { ...event, dedup_key: dedup })
      return { status: 'success', message: 'Event processed', dedup_key: dedup }
    }),
  )

  async function answer(c: HttpContext, work: (ctx: ReceiveContext) => Promise<object>): Promise<Response> {
    const ctx = contextOf(c)
    c.header('Cache-Control', 'no-store')
    try {
      return c.json(await work(ctx), 202)
    } catch (error) {
      return errorResponse(c, error, ctx.now(), ctx.log)
    }
  }

  return app
}

/** Reads a body that can be stored as text. Signatures are of its bytes. */
async function readUtf8(c: HttpContext): Promise<Buffer> {
  const body = await readBytes(nodeRequest(c), MAX_INCOMING_BYTES)
  decodeText(body, c.req.header('content-type'))
  return body
}

function requireMethod(c: HttpContext, methods: readonly string[]): void {
  if (methods.includes(c.req.method)) return
  c.header('Allow', methods.join(', '))
  throw new HTTPException(405, { message: `This path accepts ${methods.join(' or ')} only.` })
}
