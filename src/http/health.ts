import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Metrics } from '../metrics.ts'

/** Whether the process can do its work, and what it found of each part: `ok`, or in a word what is wrong. */
export interface Readiness {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, string>>
}

/**
 * `/healthz`: the process runs. `/readyz`: it can do its work, or 503 while it cannot, with what is wrong, so that a load
 * balancer sends callers elsewhere. `/metrics`: what the process counts of its own work.
 */
export function healthRoutes(
  readiness: () => Promise<Readiness>,
  metrics: Pick<Metrics, 'text' | 'contentType'>,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, headers))
  app.get('/readyz', async (c) => {
    const { isReady, checks } = await readiness()
    return c.json({ status: isReady ? 'ready' : 'not ready', checks }, isReady ? 200 : 503, headers)
  })
  app.get('/metrics', async (c) =>
    c.body(await metrics.text(), 200, { ...headers, 'content-type': metrics.contentType }),
  )
  return app
}

const headers = { 'cache-control': 'no-store' }
