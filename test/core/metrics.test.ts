import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/core/metrics.ts'
import { healthRoutes } from '../../src/http/health.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

test('serves counters, list health and process metrics in Prometheus format', async () => {
  let healthy = true
  const metrics = createMetrics(() => [{ id: 'spamhaus-zen', healthy }])
  metrics.lateness.observe(0.3)
  metrics.probes.inc({ kind: 'HTTP', outcome: 'UP' })
  metrics.inFlight.set(4)
  const app = healthRoutes(async () => ({ isReady: true, checks: {} }), metrics)
  const scrape = async () => {
    const answer = await app.request('/metrics')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    return (await answer.text()).split('\n')
  }
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'allclear_check_lateness_seconds_bucket{le="0.25"} 0',
      'allclear_check_lateness_seconds_bucket{le="0.5"} 1',
      'allclear_checks_total{kind="HTTP",outcome="UP"} 1',
      'allclear_checks_in_flight 4',
      'allclear_results_lost_total 0',
      `allclear_build_info{version="${version}",node="${process.version}"} 1`,
      'allclear_blacklist_healthy{list="spamhaus-zen"} 1',
      expect.stringMatching(/^nodejs_eventloop_lag_p99_seconds /),
    ]),
  )
  healthy = false
  expect(await scrape()).toContain('allclear_blacklist_healthy{list="spamhaus-zen"} 0')
  expect(await createMetrics().text()).not.toContain('spamhaus-zen')
})
