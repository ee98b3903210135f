import type { GraphQLSchema } from 'graphql'
import { watchRevokedKeys } from './account/revoked-keys.ts'
import { createWrongKeys } from './account/wrong-keys.ts'
import { stripeVerifier } from './billing/stripe.ts'
import type { DatabaseHandle } from './database/client.ts'
import { LOG_CHANNEL } from './eventlog/event.ts'
import { openEventLog } from './eventlog/tail.ts'
import { createLiveSubscriptions } from './graphql/live.ts'
import { createGraphqlServer } from './graphql/server.ts'
import { createSharedExecution } from './graphql/shared-execution.ts'
import { createWebsocketDoor } from './graphql/websocket.ts'
import type { Assets } from './http/assets.ts'
import { loadAssets } from './http/assets.ts'
import type { Parts } from './http/caller.ts'
import { callerOf, contextOf, visitorContext } from './http/caller.ts'
import type { Site } from './http/layout.tsx'
import type { RouterOptions } from './http/router.ts'
import { createRouter, pageAssets } from './http/router.ts'
import type { createHttpServer } from './http/server.ts'
import { createPageCache } from './page/page-cache.ts'
import { createPainter } from './page/painter.ts'

/** What serving takes that needs no database. */
export interface Loaded {
  readonly assets: Assets
  readonly schema: GraphQLSchema
}

/**
 * Loads what serving takes while the database opens.
 * @throws when an asset does not compile.
 */
export async function loadWeb(): Promise<Loaded> {
  // Another process bundles them. The schema is last, for it keeps this thread busy, and others have begun by then.
  const assets = await loadAssets(pageAssets)
  const { schema } = await import('./graphql/schema.ts')
  return { assets, schema }
}

/** What is needed to serve, all of which a process that only works has too. */
export interface WebOptions extends Pick<RouterOptions, 'metrics' | 'beats' | 'readiness'> {
  readonly parts: Omit<Parts, 'wrongKeys' | 'eventLog' | 'site'>
  readonly loaded: Loaded
  readonly site: Pick<Site, 'baseUrl'>
  readonly database: DatabaseHandle
}

/** What serves GraphQL, REST and pages; a process that only works has none of it. */
export interface Web {
  readonly doors: Pick<Parameters<typeof createHttpServer>[0], 'router' | 'yoga' | 'websocket'>
  /** Loads what is better loaded before it is asked for. The start does not wait for that. */
  prepare(): void
  /** Ends what has no end of its own, for requests to end; before the server closes. */
  end(): void
}

/**
 * Opens what serves.
 * @param started is told how to close each part, which is to be done after the server.
 * @throws when the database cannot be asked to listen.
 */
export async function openWeb(options: WebOptions, started: (() => Promise<void> | void)[]): Promise<Web> {
  const { loaded, database, metrics, beats, readiness } = options
  const { assets, schema } = loaded
  const { config, now, log } = options.parts
  // Not a copy: its address may be known only when we listen.
  const site: Site = Object.assign(options.site, { assets })
  const pageCache = createPageCache(now)
  const eventLog = await openEventLog({ database, now, log, missed: pageCache.forget })
  started.push(function events() {
    return eventLog.close()
  })
  const revokedKeys = await watchRevokedKeys({ database, log })
  started.push(() => revokedKeys.close())
  started.push(await database.listen(LOG_CHANNEL, pageCache.forget))
  const painter = createPainter()
  started.push(() => painter.close())

  const parts: Parts = { ...options.parts, site, eventLog, wrongKeys: createWrongKeys(options.parts.now) }
  const closing = new AbortController()
  const stripe = stripeVerifier(log)
  const router = createRouter({
    parts,
    site,
    pageCache,
    painter,
    metrics,
    beats,
    readiness,
    verifyStripe: stripe.verify,
    closing: closing.signal,
  })
  const shared = createSharedExecution({ visitorContext: async () => visitorContext(parts, null), log })
  const live = createLiveSubscriptions({ contextOf: (caller) => contextOf(parts, caller), shared, revokedKeys, log })
  const yoga = createGraphqlServer({
    schema,
    contextOf: (...caller) => contextOf(parts, ...caller),
    live: live.plugin,
    log,
  })
  const websocket = createWebsocketDoor({
    yoga,
    callerOf: (request) => callerOf(request, parts),
    admit: (caller) => contextOf(parts, caller),
    shared,
    revokedKeys,
    log,
  })
  return {
    doors: { router, yoga, websocket },
    prepare() {
      if (config.STRIPE_WEBHOOK_SECRET !== undefined) void stripe.prepare()
    },
    end() {
      closing.abort()
      live.close()
    },
  }
}
