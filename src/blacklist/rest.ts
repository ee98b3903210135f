import type { IncomingMessage, ServerResponse } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import type { Allowance } from '../account/usage.ts'
import { allowanceOf } from '../account/usage.ts'
import { unavailability } from '../database/unavailable.ts'
import { Invalid, LimitExceeded, NotFound, Unauthenticated } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { errorAnswer } from '../http/errors.ts'
import { limitHeaders } from '../http/limit-headers.ts'
import type { CheckContext, Checked } from './check.ts'
import { bulkCheck, checkDomain, checkIp } from './check.ts'
import { bulkItemToJson, bulkRequest, reportBytes } from './rest-schema.ts'

/** What the paths of the routes begin with (specification §4.1). */
export const BLACKLIST_PATH = '/api/blacklist-monitor'

/** Contract §2: the largest body of a bulk check. */
const LARGEST_BODY = 64 * 1024

/** Who calls: known by a credential, and before that by the address alone. */
export interface RestCallers {
  /** @throws Unauthenticated when the credential (or, when it is null, one in the headers) does not hold. */
  contextOf(
    request: IncomingMessage,
    credential: string | null,
    leaving?: CheckContext['leaving'],
  ): Promise<CheckContext>
  visitorOf(request: IncomingMessage): CheckContext
}

interface Route {
  readonly methods: readonly string[]
  /** @throws DomainError or HTTPException when the request cannot be read. */
  read(request: IncomingMessage, query: URLSearchParams): Asked | Promise<Asked>
}

/** What a request asks for. */
interface Asked {
  /** The key it names outside its headers. */
  readonly credential: string | null
  check(ctx: CheckContext): Promise<Answer>
}

interface Answer {
  /** JSON. */
  readonly body: Buffer
  readonly allowance: Allowance
}

const routes: ReadonlyMap<string, Route> = new Map([
  [`${BLACKLIST_PATH}/ip`, single(checkIp)],
  [`${BLACKLIST_PATH}/domain`, single(checkDomain)],
  [`${BLACKLIST_PATH}/bulk`, { methods: ['POST'], read: readBulk }],
])

/** Serves the three routes of the specification, and nothing else, under `BLACKLIST_PATH`. */
export function blacklistRest(
  callers: RestCallers,
): (request: IncomingMessage, response: ServerResponse, target: Pick<URL, 'pathname' | 'search'>) => void {
  /** Answers with what the request asks for, or with an error; every answer tells what is left of the caller's plan. */
  async function answer(
    route: Route | undefined,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const leaving = { signal: { aborted: false } }
    response.on('close', () => {
      leaving.signal.aborted = !response.writableFinished
      if (leaving.signal.aborted) ctx?.checker.dismiss()
    })
    const common = route ? openHeaders : closedHeaders
    let ctx: CheckContext | undefined
    try {
      if (route === undefined) throw new NotFound('There is nothing at this path.')
      allowMethods(request, response, route.methods)
      const { credential, check } = await route.read(request, query)
      ctx = await callers.contextOf(request, credential, leaving)
      const { body, allowance } = await check(ctx)
      send(response, 200, [...common, ...limitHeaders(allowance, ctx.now())], body)
    } catch (error) {
      ctx ??= await callerDespite(error, request)
      const allowance = await allowanceAfter(error, ctx)
      const limits = allowance === null ? [] : limitHeaders(allowance, ctx.now())
      const { status, headers, body } = errorAnswer(error, ctx.now(), ctx.log)
      send(
        response,
        status,
        [...common, ...limits, ...Object.entries(headers).flat()],
        Buffer.from(JSON.stringify(body)),
      )
    }
  }

  /** Who sent what could not be read, for what is left of their plan: by the headers, unless those are what is wrong. */
  async function callerDespite(error: unknown, request: IncomingMessage): Promise<CheckContext> {
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

function single(check: (ctx: CheckContext, target: string | null) => Promise<Checked>): Route {
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

/** @throws HTTPException 413, 415. @throws Invalid when the body is no JSON object with targets. */
async function readBulk(request: IncomingMessage): Promise<Asked> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new HTTPException(415, { message: 'Send the body as Content-Type: application/json.' })
  }
  const parsed = bulkRequest.safeParse(parseJson(await readBody(request, LARGEST_BODY)))
  if (parsed.success) {
    const { targets, api_key: credential = null } = parsed.data
    return { credential, check: (ctx) => bulk(ctx, targets) }
  }
  const [member, index] = parsed.error.issues[0]?.path ?? []
  switch (member) {
    case 'targets':
      if (index !== undefined) throw new Invalid('INVALID_TARGET', `targets[${String(index)}] is no text.`)
      throw new Invalid('NO_TARGETS', 'Send targets as an array of IP addresses and domains.')
    case 'api_key':
      throw new Unauthenticated('INVALID_API_KEY', 'The api_key is no text.')
    default:
      throw new Invalid('INVALID_JSON', 'The body is no JSON object.')
  }
}

async function bulk(ctx: CheckContext, targets: readonly string[]): Promise<Answer> {
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
  throw new HTTPException(405, { message: `This path takes ${methods[0]} only.` })
}

/** Sends an answer as a whole; `headers` are names and values by turns. */
function send(response: ServerResponse, status: number, headers: readonly string[], body: Buffer): void {
  response.writeHead(status, [...headers, 'Content-Length', String(body.length)])
  response.end(body)
}

const closedHeaders = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']

/** What scripts of other sites may read of an answer. */
const EXPOSED = 'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

const openHeaders = [...closedHeaders, 'Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED]

/** What scripts of other sites are told when they ask whether they may call a route. */
const preflightHeaders = ({ methods }: Route) => ({
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': methods[0],
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-API-Key',
  'Access-Control-Max-Age': '86400',
})

/**
 * What is left of the caller's plan when a request has failed; a used-up plan says so itself. Null when that cannot be
 * found out, which is a second failure for the same reason as the first.
 */
async function allowanceAfter(
  error: unknown,
  ctx: CheckContext,
): Promise<Pick<Allowance, 'limit' | 'remaining' | 'resetsAt'> | null> {
  if (error instanceof LimitExceeded) return { limit: error.limit, remaining: 0, resetsAt: error.resetsAt }
  // Asking the database again would only take as long again.
  if (unavailability(error)) return null
  return allowanceOf(ctx).catch((cause: unknown) => {
    ctx.log.warn({ err: cause }, 'http: could not read what is left of a plan')
    return null
  })
}
