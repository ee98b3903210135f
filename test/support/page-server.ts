import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll } from 'vitest'
import { pageLookupOf } from '../../src/account/page/page-guard.ts'
import type { Clock } from '../../src/core/time.ts'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { listenToLogs } from '../../src/event-log/event.ts'
import { errorResponse } from '../../src/http/response/errors.ts'
import { documentRoutes } from '../../src/status-page/http/documents.ts'
import { createPageCache } from '../../src/status-page/page-cache.ts'
import { createPngRenderer } from '../../src/status-page/png-renderer.ts'
import { silent } from './scratch.ts'

/** The documents of status pages over HTTP, for the test file that calls this; closed after its tests. */
export async function startPageServer(
  database: Pick<DatabaseHandle, 'prisma' | 'listen'>,
  now: Clock,
): Promise<{ readonly url: string; readonly app: Hono }> {
  const app = new Hono()
  const server = createServer((request, response) => void getRequestListener(app.fetch)(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cache = createPageCache(now)
  const unlisten = await listenToLogs(database, cache.invalidate)
  const guard = pageLookupOf({ db: database.prisma })
  const pngRenderer = createPngRenderer()
  app.route('/', documentRoutes({ site: { baseUrl: url }, guard, db: database.prisma, cache, pngRenderer, now }))
  app.onError((error, c) => errorResponse(c, error, now(), silent))
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await unlisten()
    await pngRenderer.close()
  })
  return { url, app }
}
