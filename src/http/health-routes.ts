import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { isEqualInConstantTime } from '../core/constant-time.ts'
import type { Metrics } from '../core/telemetry/metrics.ts'
import { bearerOf } from './request/caller.ts'

/** Whether the process is ready, and the state of each part: `ok`, or a word for the problem. */
export interface Readiness {
  /** Whether it can serve: without a database, what it remembers. */
  readonly canServe: boolean
  /** Whether it can do all of its work, which needs to write. */
  readonly canWrite: boolean
  readonly checks: Readonly<Record<string, string>>
}

/**
 * Creates the health routes. `/healthz`: the process runs. `/readyz`: the process can serve, or 503 with the problem, so
 * that load balancers route around it; `/readyz?for=writes`: it can do all of its work. `/metrics`: the metrics of the process.
 * @param metrics null: another port serves them.
 * @param metricsToken the token that `/metrics` requires; absent: none.
 */
export function healthRoutes(
  readiness: () => Promise<Readiness>,
  metrics: Pick<Metrics, 'text' | 'contentType'> | null,
  metricsToken?: string,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, headers))
  app.get('/readyz', async (c) => {
    const purpose = c.req.query('for') ?? 'visitors'
    if (!purposes.has(purpose)) return c.json({ status: 'unknown purpose', purposes: [...purposes] }, 400, headers)
    const { canServe, canWrite, checks } = await readiness()
    const isReady = purpose === 'writes' ? canWrite : canServe
    return c.json({ status: isReady ? 'ready' : 'not ready', checks }, isReady ? 200 : 503, headers)
  })
  if (metrics === null) return app
  app.get('/metrics', async (c) => {
    if (
      metricsToken !== undefined &&
      !isEqualInConstantTime(bearerOf(c.req.header('authorization')) ?? '', metricsToken)
    ) {
      return c.text('Send METRICS_TOKEN as a bearer token.\n', 401, { ...headers, 'www-authenticate': 'Bearer' })
    }
    return c.body(await metrics.text(), 200, { ...headers, 'content-type': metrics.contentType })
  })
  return app
}

/** What an instance can be ready for. */
const purposes: ReadonlySet<string> = new Set(['visitors', 'writes'])

const headers = { 'cache-control': 'no-store' }
