import { Hono } from 'hono'

/**
 * `/healthz`: the process runs. `/readyz`: it can serve, or 503 while it cannot (its database does not answer, or it is
 * shutting down), so that a load balancer sends callers elsewhere.
 */
export function healthRoutes(isReady: () => Promise<boolean>): Hono {
  const app = new Hono()
  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, headers))
  app.get('/readyz', async (c) =>
    (await isReady()) ? c.json({ status: 'ready' }, 200, headers) : c.json({ status: 'not ready' }, 503, headers),
  )
  return app
}

const headers = { 'cache-control': 'no-store' }
