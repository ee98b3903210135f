import type { IncomingMessage, RequestListener } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { getRequestListener } from '@hono/node-server'
import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { checksPerDay } from '../account/plan.ts'
import { challengeRoutes } from '../account/rest.ts'
import { BILLING_PATH } from '../billing/checkout.ts'
import { billingPages, successScript } from '../billing/html.tsx'
import { billingPaths } from '../billing/openapi.ts'
import { billingRoutes } from '../billing/rest.ts'
import type { VerifyStripe } from '../billing/stripe.ts'
import { webhookRoutes } from '../billing/webhook.ts'
import { startCheck } from '../blacklist/check.ts'
import type { ListInfos } from '../blacklist/html/landing.tsx'
import { checkPages, checkScript } from '../blacklist/html.tsx'
import { blacklistPaths } from '../blacklist/openapi.ts'
import { BLACKLIST_PATH, blacklistRest } from '../blacklist/rest.ts'
import { isCheckable } from '../blacklist/target.ts'
import { unavailability } from '../database/unavailable.ts'
import { NotFound } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import type { BeatParts } from '../monitoring/heartbeat.ts'
import { heartbeatPaths } from '../monitoring/openapi.ts'
import { HEARTBEAT_PATH, heartbeatRoutes } from '../monitoring/rest.ts'
import { subscribeSheet, subscriptionPages } from '../notification/html.tsx'
import { documentKinds } from '../page/document.ts'
import { liveScript, statusPages, statusSheet } from '../page/html.tsx'
import type { PageCache } from '../page/page-cache.ts'
import type { Painter } from '../page/painter.ts'
import { pageDocuments } from '../page/rest.ts'
import type { Parts } from './caller.ts'
import { callerOf, contextOf, visitorContext } from './caller.ts'
import { docsRoutes, docsScript } from './docs.tsx'
import { errorPage } from './error-page.tsx'
import { errorResponse, logUnexpected } from './errors.ts'
import { explorerScript, graphiqlRoutes } from './graphiql.tsx'
import type { Readiness } from './health.ts'
import { healthRoutes } from './health.ts'
import { incoming } from './incoming.ts'
import type { Site } from './layout.tsx'
import { createLibraries } from './libraries.ts'
import { isLocalCaller } from './local-caller.ts'
import { openApiDocument } from './openapi.ts'
import { robotsRoutes } from './robots.ts'
import { describeServed, documentsServed, operationServed, pagesServed } from './served-paths.ts'

/** The scripts and style sheets of single pages, to be bundled by `loadAssets`. */
export const pageAssets = [
  checkScript,
  docsScript,
  explorerScript,
  liveScript,
  statusSheet,
  subscribeSheet,
  successScript,
]

/** Every path that is served, as `/openapi.json` describes it. */
export const servedPaths: ZodOpenApiPathsObject = {
  ...blacklistPaths,
  ...heartbeatPaths,
  ...billingPaths,
  ...describeServed([...pagesServed, ...documentsServed(documentKinds), ...operationServed]),
}

/** What routes are made of. */
export interface RouterOptions {
  readonly parts: Parts
  readonly site: Site
  readonly pageCache: PageCache
  readonly painter: Painter
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly beats: BeatParts
  readonly readiness: () => Promise<Readiness>
  readonly verifyStripe: VerifyStripe
  /** Aborts when the service stops. */
  readonly closing: AbortSignal
}

/**
 * Everything that is served but GraphQL: REST, pages, documentation, assets and health. Checks are not led through Hono,
 * which would cost them a third of their speed.
 */
export function createRouter(options: RouterOptions): RequestListener {
  const { parts } = options
  const rest = blacklistRest({
    visitorOf: (request) => visitorContext(parts, callerOf(request, parts)),
    contextOf(request, credential, leaving) {
      const caller = callerOf(request, parts)
      return contextOf(parts, { ...caller, credential: credential ?? caller.credential }, leaving)
    },
  })
  const pages = getRequestListener(createRoutes(options).fetch, { hostname: HOSTNAME })
  return (request, response) => {
    const target = requestTarget(request)
    if (isUnder(BLACKLIST_PATH, target)) rest(request, response, target)
    else void pages(request, response)
  }
}

/** The routes that Hono leads; `/openapi.json` describes each, and those of the blacklist checks. */
export function createRoutes(options: RouterOptions): Hono<{ Bindings: HttpBindings }> {
  const { parts, site, pageCache, painter, metrics, beats, readiness, verifyStripe, closing } = options
  const { config, eventLog } = parts
  const visitorIn = (c: HttpContext) => visitorContext(parts, callerOf(incoming(c), parts))
  const contextIn = (c: HttpContext, credential: string | null = null) => {
    const caller = callerOf(incoming(c), parts)
    return contextOf(parts, { ...caller, credential: credential ?? caller.credential }, c.req.raw)
  }
  const payers = { contextOf: contextIn, visitorOf: visitorIn }

  const libraries = createLibraries()

  const app = new Hono<{ Bindings: HttpBindings }>()
  app.route('/', healthRoutes(readiness, metrics))
  app.route('/', robotsRoutes())
  app.route(BILLING_PATH, webhookRoutes({ visitorOf: visitorIn, verifyStripe }))
  app.route(BILLING_PATH, billingRoutes({ site, eventLog, closing, ...payers }))
  app.route(
    HEARTBEAT_PATH,
    heartbeatRoutes((c) => ({ ...visitorIn(c), ...beats })),
  )
  app.route(
    '/',
    docsRoutes(site, libraries, () => openApiDocument(site.baseUrl, servedPaths)),
  )
  app.route('/', challengeRoutes(parts))
  app.route('/', graphiqlRoutes(site, libraries))
  app.route('/', libraries.routes)
  app.route('/', subscriptionPages({ site, contextOf: visitorIn }))
  // Before the pages of the root, which is the status page's own on an owner's domain.
  app.route('/', pageDocuments({ site, db: parts.db, cache: pageCache, painter, now: parts.now }))
  app.route('/', statusPages({ site, db: parts.db, cache: pageCache, now: parts.now }))
  app.route('/', site.assets.routes)
  app.route('/', billingPages({ site, config, ...payers }))
  app.route(
    '/',
    checkPages({
      site,
      log: parts.log,
      checksPerDay: { free: checksPerDay.FREE, pro: checksPerDay.PRO },
      lists: () => listInfos(parts),
      resolvers: (c) => (isLocalCaller(incoming(c)) ? config.DNS_SERVERS.map(({ address }) => address) : null),
      ownAddress: (c) => {
        const { address } = callerOf(incoming(c), parts)
        return isCheckable(address) ? address : null
      },
      start: (c, input) => startCheck(visitorIn(c), input),
    }),
  )

  app.notFound((c) =>
    wantsJson(c)
      ? errorResponse(c, new NotFound('There is nothing at this path.'), parts.now(), parts.log)
      : errorPage(c, site, { status: 404 }),
  )
  app.onError((error, c) => {
    if (wantsJson(c)) return errorResponse(c, error, parts.now(), parts.log)
    if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
    const unavailable = unavailability(error)
    if (unavailable) return errorPage(c, site, { status: 503, retryAfter: unavailable.retryAfter })
    return errorPage(c, site, { status: 500, requestId: logUnexpected(error, parts.log) })
  })
  return app
}

/** What is served where only work is done: how the process is doing, and nothing else. */
export function workerRouter({ readiness, metrics }: Pick<RouterOptions, 'readiness' | 'metrics'>): RequestListener {
  const listener = getRequestListener(healthRoutes(readiness, metrics).fetch, { hostname: HOSTNAME })
  return (request, response) => void listener(request, response)
}

/** The host of requests that name none. */
const HOSTNAME = 'localhost'

/** The path and query that a request names; cut by hand, for a URL made of it would cost five times as much. */
function requestTarget({ url = '' }: IncomingMessage): Pick<URL, 'pathname' | 'search'> {
  const end = url.indexOf('?')
  return end < 0 ? { pathname: url, search: '' } : { pathname: url.slice(0, end), search: url.slice(end) }
}

function isUnder(path: string, { pathname }: Pick<URL, 'pathname'>): boolean {
  return pathname === path || pathname.startsWith(`${path}/`)
}

/** Scripts are told of errors in JSON, browsers by a page. */
function wantsJson(c: HttpContext): boolean {
  return c.req.path.startsWith('/api/') || !(c.req.header('accept') ?? '').includes('text/html')
}

function listInfos({ checker }: Parts): ListInfos {
  const of = (kind: 'ip' | 'domain') =>
    checker.lists
      .filter((list) => list.kind === kind)
      .map((list) => ({
        name: list.name,
        description: list.description,
        health: checker.lookup.health.of(list).status,
      }))
  return { ip: of('ip'), domain: of('domain') }
}
