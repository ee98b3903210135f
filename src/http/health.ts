import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Metrics } from '../metrics.ts'

/**
 * `/healthz`: the process runs. `/readyz`: it can serve, or 503 while it cannot (its database does not answer, or it is
 * shutting down), so that a load balancer sends callers elsewhere. `/metrics`: what the process counts of its own work.
 */
export function healthRoutes(
  isReady: () => Promise<boolean>,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, headers))
  app.get('/readyz', async (c) =>
    (await isReady()) ? c.json({ status: 'ready' }, 200, headers) : c.json({ status: 'not ready' }, 503, headers),
  )
  app.get('/metrics', async (c) =>
    c.body(await metrics.text(), 200, { ...headers, 'content-type': metrics.contentType }),
  )
  return app
}

const headers = { 'cache-control': 'no-store' }
