import { watchRevokedKeys } from '../../src/account/api-key/revoked-keys.ts'
import { createWrongKeys } from '../../src/account/api-key/wrong-keys.ts'
import { createPageGuard } from '../../src/account/page/page-guard.ts'
import { createQuota } from '../../src/account/quota.ts'
import type { Dependencies } from '../../src/app/request-context.ts'
import { contextOf, visitorContext } from '../../src/app/request-context.ts'
import { schema } from '../../src/app/schema.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { announcedEvents, listenToLogs } from '../../src/event-log/event.ts'
import { openEventLog } from '../../src/event-log/tail.ts'
import { createCostCheck } from '../../src/graphql/document/cost-check.ts'
import { createDocumentCache } from '../../src/graphql/document/document-cache.ts'
import { createPersistedQueries } from '../../src/graphql/document/persisted-queries.ts'
import { createLiveSubscriptions } from '../../src/graphql/subscription/live-subscriptions.ts'
import { createSharedExecution } from '../../src/graphql/subscription/shared-execution.ts'
import { createGraphqlServer } from '../../src/graphql/transport/server.ts'
import { createWebsocketServer } from '../../src/graphql/transport/websocket.ts'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { callerOf } from '../../src/http/request/caller.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { openResultFeed } from '../../src/monitoring/result/result-feed.ts'
import { readSizes } from '../../src/status/page/sizes.ts'
import { liveScript, statusStylesheet } from '../../src/status-page/html/routes.tsx'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import { seal } from '../monitoring/setup.ts'
import { testContext } from './context.ts'
import { silent } from './scratch.ts'

/** GraphQL over HTTP and websocket over a database that the caller provides, without probes. */
export async function startLiveService(
  database: Pick<DatabaseHandle, 'prisma' | 'pool' | 'listen'>,
  settings: NodeJS.ProcessEnv = {},
  maxConnections?: number,
  maxStreamsPerClient?: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { config, now } = testContext(database.prisma, { settings })
  const usage = createQuota(database.pool)
  const eventLog = await openEventLog({ database, now, log: silent })
  const revokedKeys = await watchRevokedKeys({ database, log: silent })
  const checks = await openResultFeed({ database, log: silent })
  const site = { baseUrl: 'https://allclear.example' }
  // Nothing is probed or paid, and no blacklist is queried.
  const unused = {} as Pick<Dependencies, 'checker' | 'tools' | 'billing'>
  const wrongKeys = createWrongKeys(now)
  const cache = createPageCache(now)
  const pageGuard = createPageGuard({ db: database.prisma, now, log: silent, seal, hold: revokedKeys.hold })
  const unlisten = await listenToLogs(database, (organizationId, announcement) => {
    cache.invalidate(organizationId)
    pageGuard.invalidate(organizationId, announcedEvents(announcement))
  })
  const parts: Dependencies = {
    config,
    db: database.prisma,
    usage,
    wrongKeys,
    ...unused,
    mailer: null,
    backups: null,
    configurationFile: null,
    seal,
    resultFeed: checks,
    eventLog,
    pageGuard,
    onChanged: pageGuard.invalidate,
    site,
    pages: {
      site: { ...site, assets: await loadAssets([liveScript, statusStylesheet]) },
      guard: pageGuard,
      db: database.prisma,
      cache,
      now,
    },
    now,
    log: silent,
  }
  const shared = createSharedExecution({ visitorContext: async () => visitorContext(parts, null), log: silent, now })
  const live = createLiveSubscriptions({
    contextOf: (caller) => contextOf(parts, caller),
    shared,
    revokedKeys,
    log: silent,
    now,
    ...(maxStreamsPerClient !== undefined && { maxStreamsPerClient }),
  })
  const checkCost = createCostCheck(readSizes)
  const yoga = createGraphqlServer({
    schema,
    checkCost,
    contextOf: (...caller) => contextOf(parts, ...caller),
    live: live.plugin,
    persisted: createPersistedQueries(),
    documents: createDocumentCache(),
    onMutation: () => {},
    log: silent,
    now,
  })
  const server = createHttpServer({
    router: (_request, response) => response.writeHead(404).end(),
    graphql: yoga,
    websocket: createWebsocketServer({
      yoga,
      checkCost,
      callerOf: (request) => callerOf(request, parts),
      authenticate: (caller) => contextOf(parts, caller),
      shared,
      revokedKeys,
      log: silent,
      now,
      ...(maxConnections !== undefined && { maxConnections }),
    }),
    callerOf: (request) => callerOf(request, parts),
  })
  const port = await server.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      live.close()
      await server.close(1000)
      await unlisten()
      await checks.close()
      await eventLog.close()
      await revokedKeys.close()
    },
  }
}
