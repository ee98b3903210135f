import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { NotFound } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { decodeContent } from '../../http/request/content.ts'
import { errorResponse } from '../../http/response/errors.ts'
import type { HeartbeatContext, Signal } from '../heartbeat/heartbeat.ts'
import { recordSignal } from '../heartbeat/heartbeat.ts'
import { parseRunId } from '../heartbeat/runs.ts'
import type { HeartbeatQuery } from './heartbeat-query.ts'
import { heartbeatQuery } from './heartbeat-query.ts'

/** How many bytes of a body are kept. A job may send all of its output. */
const MAX_READ_BYTES = 10 * 1024
/** How many bytes of a body are received before the response is sent. */
const MAX_RECEIVED_BYTES = bodyLimits.heartbeat.most
const METHODS = ['GET', 'POST', 'PUT', 'HEAD']

/** Creates the routes under `HEARTBEAT_PATH` that jobs call. The token in the path authenticates the caller. */
export function heartbeatRoutes(contextOf: (c: HttpContext) => HeartbeatContext): Hono {
  const app = new Hono()

  app.all('/:token/:signal?', (c) =>
    answer(c, async (ctx) => {
      if (!METHODS.includes(c.req.method)) {
        c.header('Allow', METHODS.join(', '))
        throw new HTTPException(405, { message: `This path accepts ${METHODS.join(', ')} only.` })
      }
      const word = c.req.param('signal')
      // Nothing is read that the description of the API does not have.
      const query = heartbeatQuery.parse(c.req.query())
      const signal = word === undefined ? pushSignal(query) : signalOf(word)
      if (signal === null) throw new NotFound('No route matches this path.')
      const { rid, msg = '' } = query
      const runId = rid === undefined ? null : parseRunId(rid)
      const body = await readBeginning(c)
      await recordSignal(ctx, c.req.param('token'), { signal, runId, text: body || msg })
    }),
  )

  app.all('*', (c) =>
    answer(c, () => {
      throw new NotFound('No route matches this path.')
    }),
  )

  async function answer(c: HttpContext, work: (ctx: HeartbeatContext) => Promise<void>): Promise<Response> {
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

/**
 * Returns the signal of a request without a word at the end of its path: success, unless it has the parameters of Uptime
 * Kuma's push address. There, every status but `up` is down, and `ping` is a time in milliseconds.
 */
function pushSignal({ status = '', ping = '' }: HeartbeatQuery): Signal {
  const measured = /^\d{1,9}(?:\.\d+)?$/.test(ping) ? { latencyMs: Number(ping) } : {}
  const isUp = status === '' || status.toLowerCase() === 'up'
  return isUp ? { kind: 'success', ...measured } : { kind: 'failure', exitCode: null, ...measured }
}

/** Returns the signal that the end of the path names, as in the API of healthchecks.io; null: it is unknown. */
function signalOf(word: string): Signal | null {
  if (word === '0') return { kind: 'success' }
  if (word === 'start' || word === 'log') return { kind: word }
  if (word === 'fail') return { kind: 'failure', exitCode: null }
  const exitCode = /^[1-9]\d{0,2}$/.test(word) ? Number(word) : Number.NaN
  return exitCode <= 255 ? { kind: 'failure', exitCode } : null
}

/** Reads the beginning of a body. Does not reject a long or an unreadable body, because the job did run. */
async function readBeginning(c: HttpContext): Promise<string> {
  if (c.req.method !== 'POST' && c.req.method !== 'PUT') return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of c.req.raw.body ?? []) {
    if (size < MAX_READ_BYTES) chunks.push(chunk)
    size += chunk.length
    if (size <= MAX_RECEIVED_BYTES) continue
    // The rest, which is not read, would block the next request on this connection.
    c.header('Connection', 'close')
    break
  }
  const coding = c.req.header('content-encoding')
  const bytes = await decodeContent(Buffer.concat(chunks), coding, MAX_RECEIVED_BYTES).catch(() => Buffer.alloc(0))
  return outputText(bytes.subarray(0, MAX_READ_BYTES))
}

/** Returns the text of a job's output: UTF-8, of which the end may be cut, or else Latin-1, as old systems print. */
function outputText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}
