import type { IncomingMessage, RequestListener } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { getRequestListener } from '@hono/node-server'
import type { Context as HttpContext } from 'hono'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { HTTPException } from 'hono/http-exception'
import { routePath } from 'hono/route'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import type { ProvenDomains } from '../account/custom-domain/proven-domains.ts'
import { certificateRoutes } from '../account/http/certificate.ts'
import { challengeRoutes } from '../account/http/challenge.ts'
import type { createLogoCache } from '../account/http/logo.ts'
import { logoRoutes } from '../account/http/logo.ts'
import { checksPerDay } from '../account/limits.ts'
import type { PageGuard } from '../account/page/page-guard.ts'
import { alertPages } from '../alerting/html/routes.tsx'
import { billingPages, successScript } from '../billing/html/routes.tsx'
import { billingPaths } from '../billing/http/openapi.ts'
import { billingRoutes } from '../billing/http/rest.ts'
import { webhookRoutes } from '../billing/http/webhook.ts'
import { BILLING_PATH } from '../billing/subscription/checkout.ts'
import type { VerifyStripe } from '../billing/subscription/stripe-verifier.ts'
import { startCheck } from '../blacklist/check.ts'
import type { ListInfos } from '../blacklist/html/landing.tsx'
import { checkPages, checkScript } from '../blacklist/html/routes.tsx'
import { blacklistPaths } from '../blacklist/http/openapi.ts'
import { BLACKLIST_PATH, blacklistRest } from '../blacklist/http/rest.ts'
import { isCheckable } from '../blacklist/target.ts'
import { configurationRoutes } from '../configuration/http/routes.ts'
import { consolePages, consoleScript, consoleSheet, pushScript } from '../console/html/routes.tsx'
import type { Config } from '../core/config.ts'
import { Invalid, NotFound } from '../core/errors.ts'
import { isLocalCaller } from '../core/request-route.ts'
import type { Metrics } from '../core/telemetry/metrics.ts'
import type { Tracer } from '../core/telemetry/tracing.ts'
import { refusedText } from '../database/connection/refused-text.ts'
import { unavailability } from '../database/connection/unavailable.ts'
import { docsPages, docsSheet } from '../docs/html/routes.tsx'
import { referenceRoutes, referenceSheet } from '../http/api-tools/api-reference.tsx'
import { graphiqlRoutes, graphiqlScript } from '../http/api-tools/graphiql.tsx'
import { createLibraries } from '../http/assets/libraries.ts'
import type { Readiness } from '../http/health-routes.ts'
import { healthRoutes } from '../http/health-routes.ts'
import { errorPage } from '../http/page/error-page.tsx'
import type { Site } from '../http/page/layout.tsx'
import { renderSynchronously } from '../http/page/synchronous-rendering.ts'
import { callerOf, routeOf } from '../http/request/caller.ts'
import { nodeRequest } from '../http/request/node-request.ts'
import { noteRoute } from '../http/request/request-span.ts'
import { errorResponse, logUnexpected } from '../http/response/errors.ts'
import { robotsRoutes } from '../http/robots.ts'
import { integrationPaths } from '../integration/http/openapi.ts'
import { integrationRoutes } from '../integration/http/routes.ts'
import { createReceiveLimits } from '../integration/receive.ts'
import type { HeartbeatParts } from '../monitoring/heartbeat/heartbeat.ts'
import { HEARTBEAT_PATH } from '../monitoring/heartbeat/heartbeat.ts'
import { heartbeatRoutes } from '../monitoring/http/heartbeat.ts'
import { heartbeatPaths } from '../monitoring/http/openapi.ts'
import { subscribeSheet, subscriptionPages } from '../notification/html/routes.tsx'
import { peoplePages } from '../people/html/routes.tsx'
import { sessionToken } from '../people/http/session-cookie.ts'
import { fileRoutes } from '../status/http/files.ts'
import { filePaths } from '../status/http/openapi.ts'
import { documentKinds } from '../status-page/document/document.ts'
import { embedRoutes, embedStylesheet } from '../status-page/html/embed.tsx'
import { respondMissingOnDomain, respondMissingPath } from '../status-page/html/missing-page.tsx'
import { liveScript, statusPages, statusStylesheet } from '../status-page/html/routes.tsx'
import { documentRoutes } from '../status-page/http/documents.ts'
import { answerHot } from '../status-page/http/hot-answers.ts'
import type { PageCache } from '../status-page/page-cache.ts'
import type { PngRenderer } from '../status-page/png-renderer.ts'
import { openApiDocument } from './openapi.ts'
import { isOfPage, pageGuardRoutes } from './page-guard-routes.ts'
import type { Dependencies } from './request-context.ts'
import { contextOf, visitorContext } from './request-context.ts'
import { describePaths, documentPaths, operationPaths, pagePaths } from './served-paths.ts'

/** The scripts and style sheets of pages, which `loadAssets` bundles. */
export const pageAssets = [
  checkScript,
  consoleScript,
  consoleSheet,
  docsSheet,
  embedStylesheet,
  graphiqlScript,
  liveScript,
  pushScript,
  referenceSheet,
  statusStylesheet,
  subscribeSheet,
  successScript,
]

/** All served paths, as `/openapi.json` describes them. */
export const servedPaths: ZodOpenApiPathsObject = {
  ...blacklistPaths,
  ...heartbeatPaths,
  ...integrationPaths,
  ...filePaths,
  ...billingPaths,
  ...describePaths([...pagePaths, ...documentPaths(documentKinds), ...operationPaths]),
}

/** The dependencies of the routes. */
export interface RouterOptions {
  readonly dependencies: Dependencies
  readonly site: Site
  readonly pageCache: PageCache
  readonly pageGuard: PageGuard
  readonly domains: ProvenDomains
  readonly logos: ReturnType<typeof createLogoCache>
  readonly pngRenderer: PngRenderer
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
  readonly heartbeats: HeartbeatParts
  readonly readiness: () => Promise<Readiness>
  /** Null: requests are not traced. */
  readonly tracer: Tracer | null
  readonly verifyStripe: VerifyStripe
  /** Called after a change, so that its author sees it at once. */
  readonly onChange: (organizationId: string) => void
  /** Aborts when the service stops. */
  readonly closing: AbortSignal
}

/**
 * Creates the listener for everything but GraphQL: REST, pages, documentation, assets and health. Checks and hot
 * answers bypass Hono, which would cost them a third of their speed.
 */
export function createRouter(options: RouterOptions): RequestListener {
  renderSynchronously()
  const { dependencies } = options
  const rest = blacklistRest({
    visitorOf: (request) => visitorContext(dependencies, callerOf(request, dependencies)),
    contextOf(request, credential, cancellation) {
      const caller = callerOf(request, dependencies)
      return contextOf(dependencies, { ...caller, credential: credential ?? caller.credential }, cancellation)
    },
  })
  const pages = getRequestListener(createRoutes(options).fetch, { hostname: HOSTNAME })
  const hot = { cache: options.pageCache, guard: options.pageGuard }
  return (request, response) => {
    if (answerHot(hot, request, response)) return
    const target = requestTarget(request)
    if (isUnder(BLACKLIST_PATH, target)) {
      if (options.tracer) noteRoute(request, blacklistRoute(target))
      rest(request, response, target)
    } else void pages(request, response)
  }
}

/** Creates the Hono routes; `/openapi.json` describes each of them, and those of checks. */
export function createRoutes(options: RouterOptions): Hono<{ Bindings: HttpBindings }> {
  const { dependencies, site, pngRenderer, metrics, heartbeats, readiness, verifyStripe, closing } = options
  const { config, eventLog } = dependencies
  const visitorIn = (c: HttpContext) => visitorContext(dependencies, callerOf(nodeRequest(c), dependencies))
  const contextIn = (c: HttpContext, credential: string | null = null) => {
    const caller = callerOf(nodeRequest(c), dependencies)
    return contextOf(dependencies, { ...caller, credential: credential ?? caller.credential }, c.req.raw)
  }
  const personIn = (c: HttpContext) => {
    const request = nodeRequest(c)
    const caller = { ...callerOf(request, dependencies), request, credential: null, organization: null }
    return contextOf(dependencies, { ...caller, session: sessionToken(c, site) ?? undefined }, c.req.raw)
  }
  const clientOf = (c: HttpContext) => callerOf(nodeRequest(c), dependencies).address
  const payers = { contextOf: contextIn, visitorOf: visitorIn }

  const libraries = createLibraries()

  const app = new Hono<{ Bindings: HttpBindings }>()
  if (options.tracer)
    app.use(async (c, next) => {
      await next()
      // The route of the last handler that ran: `*` if no route matched, and only middleware ran.
      const route = routePath(c)
      if (!route.endsWith('*')) noteRoute(nodeRequest(c), route)
    })
  // Before all routes that could show something of a private page.
  app.route(
    '/',
    pageGuardRoutes({ site, guard: options.pageGuard, visitorOf: visitorIn, personOf: personIn, callerOf: contextIn }),
  )
  // Compresses answers under these paths that do not come from the pages' cache: a missing page, a form, an error.
  const zip = compress({ encoding: 'gzip' })
  for (const path of ['/metrics', '/status', '/status/*', `${BILLING_PATH}/*`]) app.get(path, zip)
  app.route('/', healthRoutes(readiness, config.METRICS_PORT === undefined ? metrics : null, config.METRICS_TOKEN))
  app.route('/', robotsRoutes())
  app.route(BILLING_PATH, webhookRoutes({ visitorOf: visitorIn, verifyStripe }))
  app.route(BILLING_PATH, billingRoutes({ site, eventLog, closing, ...payers }))
  app.route(
    HEARTBEAT_PATH,
    heartbeatRoutes((c) => ({ ...visitorIn(c), ...heartbeats })),
  )
  const receiveLimits = createReceiveLimits()
  app.route(
    '/',
    integrationRoutes((c) => ({ ...visitorIn(c), receiveLimits })),
  )
  app.route('/', fileRoutes({ site, ...payers }))
  app.route(
    '/',
    referenceRoutes(site, () => openApiDocument(site.baseUrl, servedPaths)),
  )
  app.route('/', configurationRoutes())
  app.route('/', challengeRoutes(dependencies))
  app.route('/', certificateRoutes({ domains: options.domains, site: dependencies.site }))
  app.route('/', logoRoutes({ db: dependencies.db, logos: options.logos }))
  app.route('/', graphiqlRoutes(site, libraries))
  app.route('/', libraries.routes)
  // Before the pages at the root, which belong to the status page on a custom domain.
  const pageSource = dependencies.pages
  app.route('/', documentRoutes({ ...pageSource, pngRenderer }))
  app.route('/', statusPages(pageSource))
  app.route('/', embedRoutes(pageSource))
  app.route('/', site.assets.routes)
  // Routes before this one compress their answers themselves, if at all, and once.
  app.get('*', zip)
  app.route('/', docsPages(site))
  app.route('/', subscriptionPages({ site, contextOf: visitorIn }))
  app.route('/', alertPages({ site, contextOf: visitorIn }))
  app.route('/', peoplePages({ site, contextOf: personIn }))
  app.route('/', consolePages({ site, contextOf: personIn, onChange: options.onChange, pngRenderer }))
  app.route('/', billingPages({ site, config, ...payers }))
  app.route(
    '/',
    checkPages({
      site,
      log: dependencies.log,
      checksPerDay: { free: checksPerDay.FREE, pro: checksPerDay.PRO },
      isSignUpOpen: config.SIGNUP === 'open',
      lists: () => listInfos(dependencies),
      resolvers: (c) =>
        isLocalCaller(routeOf(nodeRequest(c), clientOf(c))) ? config.DNS_SERVERS.map(({ address }) => address) : null,
      ownAddress: (c) => (isCheckable(clientOf(c)) ? clientOf(c) : null),
      start: (c, input) => startCheck(visitorIn(c), input),
    }),
  )

  app.notFound(async (c) => {
    if (wantsJson(c))
      return errorResponse(c, new NotFound('No route matches this path.'), dependencies.now(), dependencies.log)
    const missing = isOfPage(c.req.path) ? respondMissingOnDomain : respondMissingPath
    return (await missing(c, pageSource)) ?? errorPage(c, site, { status: 404 })
  })
  app.onError((error, c) => {
    if (wantsJson(c)) return errorResponse(c, error, dependencies.now(), dependencies.log)
    if (error instanceof NotFound) return errorPage(c, site, { status: 404 })
    // Such a text names nothing that exists.
    if (refusedText(error)) return errorPage(c, site, { status: 404 })
    if (error instanceof HTTPException && error.status < 500) return c.text(error.message, error.status)
    if (error instanceof Invalid) return c.text(error.message, 422)
    const unavailable = unavailability(error)
    if (unavailable) return errorPage(c, site, { status: 503, retryAfter: unavailable.retryAfter })
    return errorPage(c, site, { status: 500, requestId: logUnexpected(error, dependencies.log) })
  })
  return app
}

interface HealthOptions extends Pick<RouterOptions, 'readiness' | 'metrics'> {
  readonly dependencies: { readonly config: Pick<Config, 'METRICS_PORT' | 'METRICS_TOKEN'> }
}

/** Creates the listener of a worker: only health, and metrics unless they have a port of their own. */
export function workerRouter(options: HealthOptions): RequestListener {
  return healthListener(options, options.dependencies.config.METRICS_PORT === undefined)
}

/** Creates the listener of `METRICS_PORT`. */
export function metricsRouter(options: HealthOptions): RequestListener {
  return healthListener(options, true)
}

function healthListener({ readiness, metrics, dependencies }: HealthOptions, servesMetrics: boolean): RequestListener {
  const health = healthRoutes(readiness, servesMetrics ? metrics : null, dependencies.config.METRICS_TOKEN)
  const listener = getRequestListener(health.fetch, { hostname: HOSTNAME })
  return (request, response) => void listener(request, response)
}

/** Returns the route of a check by REST, for traces. */
function blacklistRoute({ pathname }: Pick<URL, 'pathname'>): string {
  const name = pathname.slice(BLACKLIST_PATH.length + 1)
  return ['ip', 'domain', 'bulk'].includes(name) ? `${BLACKLIST_PATH}/${name}` : BLACKLIST_PATH
}

/** The host of requests without one. */
const HOSTNAME = 'localhost'

/** Returns the path and query of a request. Splits them directly, because parsing a URL takes five times as long. */
function requestTarget({ url = '' }: IncomingMessage): Pick<URL, 'pathname' | 'search'> {
  const end = url.indexOf('?')
  return end < 0 ? { pathname: url, search: '' } : { pathname: url.slice(0, end), search: url.slice(end) }
}

function isUnder(path: string, { pathname }: Pick<URL, 'pathname'>): boolean {
  return pathname === path || pathname.startsWith(`${path}/`)
}

/** Returns whether errors are sent as JSON, not as a page. */
function wantsJson(c: HttpContext): boolean {
  return c.req.path.startsWith('/api/') || !(c.req.header('accept') ?? '').includes('text/html')
}

function listInfos({ checker }: Dependencies): ListInfos {
  const of = (kind: 'ip' | 'domain') =>
    checker.lists
      .filter((list) => list.kind === kind)
      .map((list) => ({
        name: list.name,
        description: list.description,
        health: checker.lookup.health.get(list).status,
      }))
  return { ip: of('ip'), domain: of('domain') }
}
