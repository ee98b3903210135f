import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Allowance } from '../account/usage.ts'
import { allowanceOf } from '../account/usage.ts'
import { Invalid, LimitExceeded, NotFound, Unauthenticated } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { errorResponse } from '../http/errors.ts'
import { limitHeaders } from '../http/limit-headers.ts'
import { sendWhole } from '../http/send-whole.ts'
import type { CheckContext } from './check.ts'
import { bulkCheck, checkDomain, checkIp } from './check.ts'
import { bulkItemToJson, bulkRequest, reportText } from './rest-schema.ts'

/** Where the routes are mounted (specification §4.1). */
export const BLACKLIST_PATH = '/api/blacklist-monitor'

/** Contract §2: the largest body of a bulk check. */
const LARGEST_BODY = 64 * 1024

/** Who calls: known by a credential, and before that by the address alone. */
export interface RestCallers {
  /** @throws Unauthenticated when the credential (or, when it is null, one in the headers) does not hold. */
  contextOf(c: HttpContext, credential: string | null): Promise<CheckContext>
  visitorOf(c: HttpContext): CheckContext
}

interface Answer {
  /** JSON. */
  readonly body: string
  readonly allowance: Allowance
}

/** The three routes of the specification, and nothing else, under `BLACKLIST_PATH`. */
export function blacklistRoutes(callers: RestCallers): Hono {
  const app = new Hono()

  app.all('/ip', (c) =>
    get(c, async (ctx) => {
      const { report, allowance } = await checkIp(ctx, c.req.query('target'))
      return { body: reportText(report), allowance }
    }),
  )

  app.all('/domain', (c) =>
    get(c, async (ctx) => {
      const { report, allowance } = await checkDomain(ctx, c.req.query('target'))
      return { body: reportText(report), allowance }
    }),
  )

  app.all('/bulk', (c) =>
    answer(c, async () => {
      allowMethods(c, 'POST')
      const { targets, apiKey } = await readBulk(c)
      const ctx = await callers.contextOf(c, apiKey)
      return { ctx, work: async () => bulk(ctx, targets) }
    }),
  )

  app.all('*', (c) =>
    answer(c, () => {
      throw new NotFound('There is nothing at this path.')
    }),
  )

  function get(c: HttpContext, work: (ctx: CheckContext) => Promise<Answer>): Response | Promise<Response> {
    if (c.req.method === 'OPTIONS') return preflight(c)
    const begin = async () => {
      allowMethods(c, 'GET', 'HEAD')
      const ctx = await callers.contextOf(c, c.req.query('api_key') ?? null)
      return { ctx, work: () => work(ctx) }
    }
    return answer(c, begin, openHeaders)
  }

  /** Answers with what `begin` leads to, or with its error; every answer tells what is left of the caller's plan. */
  async function answer(
    c: HttpContext,
    begin: () => Promise<{ ctx: CheckContext; work: () => Promise<Answer> }>,
    common: Record<string, string> = closedHeaders,
  ): Promise<Response> {
    let begun: { ctx: CheckContext; work: () => Promise<Answer> } | undefined
    try {
      begun = await begin()
      const { body, allowance } = await begun.work()
      return sendWhole(c, body, 200, { ...common, ...limitHeaders(allowance, begun.ctx.now()) })
    } catch (error) {
      const ctx = begun?.ctx ?? callers.visitorOf(c)
      const allowance = await allowanceAfter(error, ctx)
      const headers = { ...common, ...(allowance === null ? {} : limitHeaders(allowance, ctx.now())) }
      for (const [name, value] of Object.entries(headers)) c.header(name, value)
      return errorResponse(c, error, ctx.now(), ctx.log)
    }
  }

  return app
}

async function bulk(ctx: CheckContext, targets: readonly unknown[]): Promise<Answer> {
  const { items, allowance } = await bulkCheck(ctx, targets)
  return { body: JSON.stringify(items.map(bulkItemToJson)), allowance }
}

/** @throws HTTPException 413, 415. @throws Invalid when the body is no JSON object with targets. */
async function readBulk(c: HttpContext): Promise<{ targets: readonly unknown[]; apiKey: string | null }> {
  if (!/^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? '')) {
    throw new HTTPException(415, { message: 'Send the body as Content-Type: application/json.' })
  }
  const parsed = bulkRequest.safeParse(parseJson(await readBody(c, LARGEST_BODY)))
  if (parsed.success) return { targets: parsed.data.targets, apiKey: parsed.data.api_key ?? null }
  switch (parsed.error.issues[0]?.path[0]) {
    case 'targets':
      throw new Invalid('NO_TARGETS', 'Send targets as an array of IP addresses and domains.')
    case 'api_key':
      throw new Unauthenticated('INVALID_API_KEY', 'The api_key is no text.')
    default:
      throw new Invalid('INVALID_JSON', 'The body is no JSON object.')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Invalid('INVALID_JSON', 'The body is not valid JSON.')
  }
}

function allowMethods(c: HttpContext, ...methods: readonly string[]): void {
  if (methods.includes(c.req.method)) return
  c.header('Allow', methods.join(', '))
  throw new HTTPException(405, { message: `This path takes ${methods[0]} only.` })
}

/** What scripts of other sites may read of an answer. */
const EXPOSED = 'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

const closedHeaders = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
/** Of the routes that scripts of other sites may call. */
const openHeaders = {
  ...closedHeaders,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
}

function preflight(c: HttpContext): Response {
  return c.body(null, 204, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET',
    'Access-Control-Allow-Headers': 'Authorization, X-API-Key',
    'Access-Control-Max-Age': '86400',
  })
}

/**
 * What is left of the caller's plan when a request has failed; a used-up plan says so itself. Null when that cannot be
 * found out, which is a second failure for the same reason as the first.
 */
async function allowanceAfter(
  error: unknown,
  ctx: CheckContext,
): Promise<Pick<Allowance, 'limit' | 'remaining' | 'resetsAt'> | null> {
  if (error instanceof LimitExceeded) return { limit: error.limit, remaining: 0, resetsAt: error.resetsAt }
  return allowanceOf(ctx).catch((cause: unknown) => {
    ctx.log.warn({ err: cause }, 'http: could not read what is left of a plan')
    return null
  })
}
