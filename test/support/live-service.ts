import { watchRevokedKeys } from '../../src/account/revoked-keys.ts'
import { createUsageCounters } from '../../src/account/usage.ts'
import { createWrongKeys } from '../../src/account/wrong-keys.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { openEventLog } from '../../src/eventlog/tail.ts'
import type { GraphContext } from '../../src/graphql/builder.ts'
import { createLiveSubscriptions } from '../../src/graphql/live.ts'
import { schema } from '../../src/graphql/schema.ts'
import { createGraphqlServer } from '../../src/graphql/server.ts'
import { createSharedExecution } from '../../src/graphql/shared-execution.ts'
import { createWebsocketDoor } from '../../src/graphql/websocket.ts'
import type { Parts } from '../../src/http/caller.ts'
import { callerOf, contextOf, visitorContext } from '../../src/http/caller.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { openChecks } from '../../src/monitoring/checks.ts'
import { seal } from '../monitoring/setup.ts'
import { testContext } from './context.ts'
import { silent } from './scratch.ts'

/** The GraphQL doors over a database that the caller has at hand, without what probes. */
export async function startLiveService(
  database: Pick<DatabaseHandle, 'prisma' | 'pool' | 'listen'>,
  settings: NodeJS.ProcessEnv = {},
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { config, now } = testContext(database.prisma, { settings })
  const usage = createUsageCounters(database.pool)
  const eventLog = await openEventLog({ database, now, log: silent })
  const revokedKeys = await watchRevokedKeys({ database, log: silent })
  const checks = await openChecks({ database, log: silent })
  const site = { baseUrl: 'https://allclear.example' }
  // Nothing is probed or paid, and no blacklist asked.
  const unused = {} as Pick<GraphContext, 'checker' | 'tools' | 'billing'>
  const wrongKeys = createWrongKeys(now)
  const parts: Parts = {
    config,
    db: database.prisma,
    usage,
    wrongKeys,
    ...unused,
    seal,
    checks,
    eventLog,
    site,
    now,
    log: silent,
  }
  const shared = createSharedExecution({ visitorContext: async () => visitorContext(parts, null), log: silent })
  const live = createLiveSubscriptions({
    contextOf: (caller) => contextOf(parts, caller),
    shared,
    revokedKeys,
    log: silent,
  })
  const yoga = createGraphqlServer({
    schema,
    contextOf: (...caller) => contextOf(parts, ...caller),
    live: live.plugin,
    log: silent,
  })
  const server = createHttpServer({
    router: (_request, response) => response.writeHead(404).end(),
    yoga,
    websocket: createWebsocketDoor({
      yoga,
      callerOf: (request) => callerOf(request, parts),
      admit: (caller) => contextOf(parts, caller),
      shared,
      revokedKeys,
      log: silent,
    }),
    callerOf: (request) => callerOf(request, parts),
  })
  const port = await server.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      live.close()
      await server.close(1000)
      await checks.close()
      await eventLog.close()
      await revokedKeys.close()
    },
  }
}
