import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll } from 'vitest'
import type { DatabaseHandle } from '../../src/database/client.ts'
import { LOG_CHANNEL } from '../../src/eventlog/event.ts'
import { errorResponse } from '../../src/http/errors.ts'
import { createPageCache } from '../../src/page/page-cache.ts'
import { createPainter } from '../../src/page/painter.ts'
import { pageDocuments } from '../../src/page/rest.ts'
import type { Clock } from '../../src/time.ts'
import { silent } from './scratch.ts'

/** The documents of status pages over HTTP, for the test file that calls this; closed after the file's tests. */
export async function startPageServer(
  database: Pick<DatabaseHandle, 'prisma' | 'listen'>,
  now: Clock,
): Promise<{ readonly url: string; readonly app: Hono }> {
  const app = new Hono()
  const server = createServer((request, response) => void getRequestListener(app.fetch)(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cache = createPageCache(now)
  const unlisten = await database.listen(LOG_CHANNEL, cache.forget)
  const painter = createPainter()
  app.route('/', pageDocuments({ site: { baseUrl: url }, db: database.prisma, cache, painter, now }))
  app.onError((error, c) => errorResponse(c, error, now(), silent))
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await unlisten()
    await painter.close()
  })
  return { url, app }
}
