import type { IncomingMessage } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { assertValidSchema } from 'graphql'
import type { Logger } from 'pino'
import { createKnownKeys } from '../account/api-key/known-keys.ts'
import type { RevokedKeys } from '../account/api-key/revoked-keys.ts'
import { watchRevokedKeys } from '../account/api-key/revoked-keys.ts'
import { createWrongKeys } from '../account/api-key/wrong-keys.ts'
import { createProvenDomains } from '../account/custom-domain/proven-domains.ts'
import { createLogoCache } from '../account/http/logo.ts'
import { pageKeysOfGraphql } from '../account/http/page-keys.ts'
import { createPageGuard } from '../account/page/page-guard.ts'
import { createStripeVerifier } from '../billing/subscription/stripe-verifier.ts'
import { openFileLimit } from '../core/process/open-files.ts'
import type { DatabaseHandle } from '../database/client.ts'
import { announcedEvents, listenToLogs } from '../event-log/event.ts'
import { openEventLog } from '../event-log/tail.ts'
import { createCostCheck } from '../graphql/document/cost-check.ts'
import { createDocumentCache } from '../graphql/document/document-cache.ts'
import { closeIntrospection } from '../graphql/document/introspection.ts'
import { createPersistedQueries } from '../graphql/document/persisted-queries.ts'
import { createLiveSubscriptions } from '../graphql/subscription/live-subscriptions.ts'
import { createSharedExecution } from '../graphql/subscription/shared-execution.ts'
import { createAnswerCache } from '../graphql/transport/answer-cache.ts'
import { createGraphqlServer } from '../graphql/transport/server.ts'
import { createWebsocketServer, MAX_CONNECTIONS } from '../graphql/transport/websocket.ts'
import type { Assets } from '../http/assets/assets.ts'
import { loadAssets } from '../http/assets/assets.ts'
import type { Site } from '../http/page/layout.tsx'
import { callerOf } from '../http/request/caller.ts'
import type { createHttpServer } from '../http/server.ts'
import { sessionOfRequest } from '../people/http/session-cookie.ts'
import { createKnownSessions } from '../people/session.ts'
import { readSizes } from '../status/page/sizes.ts'
import { createPageCache } from '../status-page/page-cache.ts'
import { createPngRenderer } from '../status-page/png-renderer.ts'
import type { Dependencies } from './request-context.ts'
import { contextOf, visitorContext } from './request-context.ts'
import type { RouterOptions } from './router.ts'
import { createRouter, pageAssets } from './router.ts'
import { createHostCheck } from './served-hosts.ts'
import type { Closers } from './stop.ts'

/** The parts of the web server that need no database. */
export interface LoadedWeb {
  readonly assets: Assets
  readonly schema: GraphQLSchema
}

/**
 * Loads these parts while the database opens.
 * @throws when an asset does not compile, or the schema is invalid.
 */
export async function loadWeb(): Promise<LoadedWeb> {
  // Another process bundles the assets, while the schema blocks this thread.
  const [assets, { schema }] = await Promise.all([loadAssets(pageAssets), import('./schema.ts')])
  // Remembered by the schema, so that the first request does not wait for it.
  assertValidSchema(schema)
  return { assets, schema }
}

/** The dependencies of the web server, all of which a worker has too. */
export interface WebOptions extends Pick<RouterOptions, 'metrics' | 'heartbeats' | 'readiness' | 'tracer'> {
  readonly dependencies: Omit<
    Dependencies,
    'knownKeys' | 'knownSessions' | 'pageGuard' | 'wrongKeys' | 'eventLog' | 'site' | 'pages'
  >
  readonly loaded: LoadedWeb
  readonly site: Pick<Site, 'baseUrl'>
  readonly database: DatabaseHandle
}

/** The web server's handlers for GraphQL, REST and pages. */
export interface Web {
  readonly handlers: Pick<
    Parameters<typeof createHttpServer>[0],
    'router' | 'graphql' | 'websocket' | 'callerOf' | 'isServed'
  >
  /** Loads modules that are needed later, in the background. */
  preload(): void
  /** Ends requests that would stay open, such as event streams, before the server closes. */
  end(): void
}

/**
 * Creates the web server.
 * @param closers receives functions that close its parts, to be called after the server has closed.
 * @throws when `LISTEN` fails.
 */
export async function openWeb(options: WebOptions, closers: Closers): Promise<Web> {
  const { loaded, database, metrics, heartbeats, readiness, tracer } = options
  const { config, db, now, log } = options.dependencies
  // Not a copy: its address may become known only when the server listens.
  const site: Site = Object.assign(options.site, { assets: loaded.assets })
  const opened = await openCaches(options, closers)
  const { pageCache, logos, pageGuard, domains, eventLog, invalidate } = opened
  const knownKeys = await createKnownKeys({ database })
  closers.push(() => knownKeys.close())
  const knownSessions = await createKnownSessions(database)
  closers.push(() => knownSessions.close())
  const pngRenderer = createPngRenderer()
  closers.push(() => pngRenderer.close())
  const dependencies: Dependencies = {
    ...options.dependencies,
    site,
    pages: { site, guard: pageGuard, db, cache: pageCache, now },
    eventLog,
    knownKeys,
    knownSessions,
    pageGuard,
    onChanged(organizationId, events) {
      pageGuard.invalidate(organizationId, events)
      domains.invalidate(events)
    },
    wrongKeys: createWrongKeys(now),
  }
  const closing = new AbortController()
  const stripe = createStripeVerifier(log)
  const router = createRouter({
    dependencies,
    site,
    pageCache,
    pageGuard,
    domains,
    logos,
    pngRenderer,
    metrics,
    heartbeats,
    readiness,
    tracer,
    verifyStripe: stripe.verify,
    onChange: invalidate,
    closing: closing.signal,
  })
  closers.push(closeIntrospection)
  const graphql = createGraphql({ schema: loaded.schema, dependencies, site, tracer, ...opened })
  return {
    handlers: { router, ...graphql.handlers, isServed: createHostCheck(config, domains) },
    preload() {
      if (config.STRIPE_WEBHOOK_SECRET !== undefined) void stripe.preload()
    },
    end() {
      closing.abort()
      graphql.endStreams()
    },
  }
}

/** Drops the cached content of an organization; null: of all organizations. */
interface Cache {
  invalidate(organizationId: string | null): void
}

/** Opens the event log, and the caches that it invalidates. */
async function openCaches({ dependencies, site, database }: WebOptions, closers: Closers) {
  const { db, now, log, seal } = dependencies
  const domains = createProvenDomains({ db, site, now })
  const pageCache = createPageCache(now)
  const logos = createLogoCache(now)
  const caches: Cache[] = [pageCache, logos]
  const invalidate = (organizationId: string | null) => {
    for (const cache of caches) cache.invalidate(organizationId)
  }
  const revokedKeys = await watchRevokedKeys({ database, log })
  closers.push(() => revokedKeys.close())
  const pageGuard = createPageGuard({ db, now, log, seal, hold: revokedKeys.hold })
  const onMissed = (organizationId: string) => {
    invalidate(organizationId)
    pageGuard.invalidate(organizationId)
    domains.invalidate()
  }
  const eventLog = await openEventLog({ database, now, log, onMissed })
  closers.push(function events() {
    return eventLog.close()
  })
  const unlisten = await listenToLogs(database, (organizationId, announcement) => {
    invalidate(organizationId)
    const events = announcedEvents(announcement)
    pageGuard.invalidate(organizationId, events)
    domains.invalidate(events)
  })
  closers.push(unlisten)
  return { pageCache, logos, caches, invalidate, revokedKeys, pageGuard, domains, eventLog }
}

/** Creates the handlers of GraphQL: over HTTP, as event streams, and over websockets. */
function createGraphql(options: {
  readonly schema: GraphQLSchema
  readonly dependencies: Dependencies
  readonly site: Site
  readonly tracer: WebOptions['tracer']
  /** Receives the cache of answers. */
  readonly caches: Cache[]
  readonly invalidate: (organizationId: string | null) => void
  readonly revokedKeys: RevokedKeys
}): { readonly handlers: Omit<Web['handlers'], 'router' | 'isServed'>; endStreams(): void } {
  const { schema, dependencies, site, tracer, caches, invalidate, revokedKeys } = options
  const { now, log } = dependencies
  const graphqlCallerOf = (request: IncomingMessage) => {
    const { cookies: pageCookies, isCrossSite } = pageKeysOfGraphql(request, site)
    return { ...callerOf(request, dependencies), session: sessionOfRequest(request, site), pageCookies, isCrossSite }
  }
  // Not for websockets, which would keep the request in memory as long as they are open.
  const withRequest = (request: IncomingMessage) => Object.assign(graphqlCallerOf(request), { request })
  const shared = createSharedExecution({ visitorContext: async () => visitorContext(dependencies, null), log, now })
  const live = createLiveSubscriptions({
    contextOf: (caller) => contextOf(dependencies, caller),
    shared,
    revokedKeys,
    log,
    now,
  })
  const checkCost = createCostCheck(readSizes)
  const persisted = createPersistedQueries()
  const documents = createDocumentCache()
  const yoga = createGraphqlServer({
    schema,
    checkCost,
    contextOf: (...caller) => contextOf(dependencies, ...caller),
    live: live.plugin,
    persisted,
    documents,
    // Callers see their own changes at once, before the log's notification arrives. The empty id belongs to no
    // organization.
    onMutation: (organizationId) => invalidate(organizationId ?? ''),
    log,
    now,
    tracer,
  })
  const answers = createAnswerCache({ schema, server: yoga, persisted, documents, log, now })
  caches.push(answers)
  const websocket = createWebsocketServer({
    yoga,
    checkCost,
    callerOf: graphqlCallerOf,
    authenticate: (caller) => contextOf(dependencies, caller),
    shared,
    revokedKeys,
    log,
    now,
    tracer,
    maxConnections: roomForWebsockets(log),
  })
  return { handlers: { graphql: answers.handle, websocket, callerOf: withRequest }, endStreams: live.close }
}

/** Returns how many websockets may be open, besides the files, connections and requests that the process needs. */
function roomForWebsockets(log: Logger): number {
  const files = openFileLimit()
  const room = Math.floor(Math.min(MAX_CONNECTIONS, files - Math.min(1000, files / 5)))
  if (room < MAX_CONNECTIONS)
    log.info(
      { openFiles: files, websockets: room },
      'http: serving fewer websockets, because the limit of open files is low (ulimit -n)',
    )
  return room
}
