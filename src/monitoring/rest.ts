import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { NotFound } from '../errors.ts'
import { errorResponse } from '../http/errors.ts'
import type { BeatContext, Signal } from './heartbeat.ts'
import { takeSignal } from './heartbeat.ts'

/** Where the routes are mounted (contract §6). */
export const HEARTBEAT_PATH = '/api/v1/heartbeats'

/** How much of a body is looked at; a job may send all of its output. */
const READ = 10 * 1024
/** How much of it is taken from the network before it is answered all the same. */
const TAKEN = 1024 * 1024
const METHODS = ['GET', 'POST', 'HEAD']

/** The addresses that watched jobs call, under `HEARTBEAT_PATH`; the token in the path is all the caller has to know. */
export function heartbeatRoutes(contextOf: (c: HttpContext) => BeatContext): Hono {
  const app = new Hono()

  app.all('/:token/:signal?', (c) =>
    answer(c, async (ctx) => {
      if (!METHODS.includes(c.req.method)) {
        c.header('Allow', METHODS.join(', '))
        throw new HTTPException(405, { message: `This path takes ${METHODS.join(', ')} only.` })
      }
      const signal = signalOf(c.req.param('signal'))
      if (signal === null) throw new NotFound('There is nothing at this path.')
      await takeSignal(ctx, c.req.param('token'), signal, await beginningOf(c))
    }),
  )

  app.all('*', (c) =>
    answer(c, () => {
      throw new NotFound('There is nothing at this path.')
    }),
  )

  async function answer(c: HttpContext, work: (ctx: BeatContext) => Promise<void>): Promise<Response> {
    const ctx = contextOf(c)
    c.header('Cache-Control', 'no-store')
    try {
      await work(ctx)
      return c.json({ ok: true })
    } catch (error) {
      return errorResponse(c, error, ctx.now(), ctx.log)
    }
  }

  return app
}

/** What a job says by the end of the address it calls, in healthchecks.io's words; null: nothing that is known. */
function signalOf(word: string | undefined): Signal | null {
  if (word === undefined || word === '0') return { kind: 'success' }
  if (word === 'start') return { kind: 'start' }
  if (word === 'fail') return { kind: 'failure', exitCode: null }
  const exitCode = /^[1-9]\d{0,2}$/.test(word) ? Number(word) : Number.NaN
  return exitCode <= 255 ? { kind: 'failure', exitCode } : null
}

/** How a body begins. What is too long is not refused: the job did run, and that is what counts. */
async function beginningOf(c: HttpContext): Promise<string> {
  if (c.req.method !== 'POST') return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    if (size < READ) chunks.push(chunk)
    size += chunk.length
    if (size <= TAKEN) continue
    // What has not been read stands in the way of another request.
    c.header('Connection', 'close')
    break
  }
  return Buffer.concat(chunks).subarray(0, READ).toString('utf8')
}
