import type { IncomingMessage, ServerResponse } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import type { Allowance } from '../../account/quota.ts'
import { allowanceOf } from '../../account/quota.ts'
import { Invalid, LimitExceeded, NotFound, Unauthenticated } from '../../core/errors.ts'
import { bodyLimits } from '../../core/input-limits.ts'
import { unavailability } from '../../database/connection/unavailable.ts'
import { readBody } from '../../http/request/body.ts'
import { mediaTypeOf } from '../../http/request/media-type.ts'
import { toRestError } from '../../http/response/errors.ts'
import { limitHeaders } from '../../http/response/limit-headers.ts'
import type { CheckContext, CheckResult } from '../check.ts'
import { bulkCheck, checkDomain, checkIp } from '../check.ts'
import { bulkItemToJson, bulkRequest, reportBytes } from './rest-schema.ts'

/** The path prefix of the routes (specification §4.1). */
export const BLACKLIST_PATH = '/api/blacklist-monitor'

/** The maximum size of a bulk request's body, in bytes (contract §2). */
const MAX_BODY_BYTES = bodyLimits.check.most

/** Identifies callers by credential, or only by client address. */
export interface RestCallers {
  /** @throws Unauthenticated when the credential is invalid; null: the one in the headers. */
  contextOf(
    request: IncomingMessage,
    credential: string | null,
    cancellation?: CheckContext['cancellation'],
  ): Promise<CheckContext>
  visitorOf(request: IncomingMessage): CheckContext
}

interface Route {
  readonly methods: readonly string[]
  /** @throws DomainError or HTTPException when the request cannot be read. */
  read(request: IncomingMessage, query: URLSearchParams): CheckRequest | Promise<CheckRequest>
}

/** A parsed request. */
interface CheckRequest {
  /** The API key that is not in the headers; null: there is none. */
  readonly credential: string | null
  check(ctx: CheckContext): Promise<CheckResponse>
}

interface CheckResponse {
  /** JSON. */
  readonly body: Buffer
  readonly allowance: Allowance
}

const routes: ReadonlyMap<string, Route> = new Map([
  [`${BLACKLIST_PATH}/ip`, singleCheck(checkIp)],
  [`${BLACKLIST_PATH}/domain`, singleCheck(checkDomain)],
  [`${BLACKLIST_PATH}/bulk`, { methods: ['POST'], read: readBulk }],
])

/** Serves the three routes of the specification under `BLACKLIST_PATH`. Answers 404 for any other path. */
export function blacklistRest(
  callers: RestCallers,
): (request: IncomingMessage, response: ServerResponse, target: Pick<URL, 'pathname' | 'search'>) => void {
  /** Answers a request with its result or an error, and the caller's rate-limit headers. */
  async function answer(
    route: Route | undefined,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const cancellation = { signal: { aborted: false } }
    response.on('close', () => {
      cancellation.signal.aborted = !response.writableFinished
      if (cancellation.signal.aborted) ctx?.checker.releaseAborted()
    })
    const common = route ? corsHeaders : baseHeaders
    let ctx: CheckContext | undefined
    try {
      if (route === undefined) throw new NotFound('No route matches this path.')
      allowMethods(request, response, route.methods)
      const { credential, check } = await route.read(request, query)
      ctx = await callers.contextOf(request, credential, cancellation)
      const { body, allowance } = await check(ctx)
      sendJson(response, 200, [...common, ...limitHeaders(allowance, ctx.now())], body)
    } catch (error) {
      ctx ??= await identifyCallerAfter(error, request)
      const allowance = await readAllowanceAfter(error, ctx)
      const limits = allowance === null ? [] : limitHeaders(allowance, ctx.now())
      const { status, headers, body } = toRestError(error, ctx.now(), ctx.log)
      sendJson(
        response,
        status,
        [...common, ...limits, ...Object.entries(headers).flat()],
        Buffer.from(JSON.stringify(body)),
      )
    }
  }

  /** Identifies the caller of a failed request by its headers, unless the headers caused the error. */
  async function identifyCallerAfter(error: unknown, request: IncomingMessage): Promise<CheckContext> {
    const visitor = callers.visitorOf(request)
    return error instanceof Unauthenticated || unavailability(error)
      ? visitor
      : callers.contextOf(request, null).catch(() => visitor)
  }

  return (request, response, { pathname, search }) => {
    const route = routes.get(pathname)
    if (request.method === 'OPTIONS' && route) response.writeHead(204, preflightHeaders(route)).end()
    else void answer(route, new URLSearchParams(search), request, response)
  }
}

function singleCheck(check: (ctx: CheckContext, target: string | null) => Promise<CheckResult>): Route {
  return {
    methods: ['GET', 'HEAD'],
    read: (_request, query) => ({
      credential: query.get('api_key'),
      async check(ctx) {
        const { report, allowance } = await check(ctx, query.get('target'))
        return { body: reportBytes(report), allowance }
      },
    }),
  }
}

/**
 * Reads a bulk request.
 * @throws HTTPException 413, 415.
 * @throws Invalid when the body is not a JSON object with targets.
 */
async function readBulk(request: IncomingMessage): Promise<CheckRequest> {
  if (mediaTypeOf(request.headers['content-type'])?.essence !== 'application/json') {
    throw new HTTPException(415, { message: 'Set Content-Type to application/json.' })
  }
  const parsed = bulkRequest.safeParse(parseJson(await readBody(request, MAX_BODY_BYTES)))
  if (parsed.success) {
    const { targets, api_key: credential = null } = parsed.data
    return { credential, check: (ctx) => runBulkCheck(ctx, targets) }
  }
  const [member, index] = parsed.error.issues[0]?.path ?? []
  switch (member) {
    case 'targets':
      if (index !== undefined) throw new Invalid('INVALID_TARGET', `targets[${String(index)}] must be a string.`)
      throw new Invalid('NO_TARGETS', 'targets must be an array of IP addresses and domains.')
    case 'api_key':
      throw new Unauthenticated('INVALID_API_KEY', 'api_key must be a string.')
    default:
      throw new Invalid('INVALID_JSON', 'The body must be a JSON object.')
  }
}

async function runBulkCheck(ctx: CheckContext, targets: readonly string[]): Promise<CheckResponse> {
  const { items, allowance } = await bulkCheck(ctx, targets)
  return { body: Buffer.from(JSON.stringify(items.map(bulkItemToJson))), allowance }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Invalid('INVALID_JSON', 'The body is not valid JSON.')
  }
}

/** @throws HTTPException 405. */
function allowMethods(request: IncomingMessage, response: ServerResponse, methods: readonly string[]): void {
  if (methods.includes(request.method ?? '')) return
  response.setHeader('Allow', methods.join(', '))
  throw new HTTPException(405, { message: `This path accepts ${methods[0]} only.` })
}

/** Sends a response. `headers` alternates names and values. */
function sendJson(response: ServerResponse, status: number, headers: readonly string[], body: Buffer): void {
  response.writeHead(status, [...headers, 'Content-Length', String(body.length)])
  response.end(body)
}

const baseHeaders = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']

/** Headers that cross-origin scripts may read. */
const EXPOSED_HEADERS =
  'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

const corsHeaders = [
  ...baseHeaders,
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED_HEADERS,
]

/** Returns the headers of a CORS preflight response. */
const preflightHeaders = ({ methods }: Route) => ({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': methods[0],
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key',
  'Access-Control-Max-Age': '86400',
})

/**
 * Returns the caller's remaining allowance after a failed request; null: it cannot be read, for the same reason for
 * which the request failed. A `LimitExceeded` error already contains it.
 */
async function readAllowanceAfter(
  error: unknown,
  ctx: CheckContext,
): Promise<Pick<Allowance, 'limit' | 'remaining' | 'resetsAt'> | null> {
  if (error instanceof LimitExceeded) return { limit: error.limit, remaining: 0, resetsAt: error.resetsAt }
  // A query for the allowance would fail too.
  if (unavailability(error)) return null
  return allowanceOf(ctx).catch((cause: unknown) => {
    ctx.log.warn({ err: cause }, 'blacklist: could not read the remaining quota')
    return null
  })
}
