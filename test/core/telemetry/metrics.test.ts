import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../../src/core/telemetry/metrics.ts'
import { healthRoutes } from '../../../src/http/health-routes.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }

test('serves counters, list health and process metrics in Prometheus format', async () => {
  let healthy = true
  const metrics = createMetrics(() => [{ id: 'spamhaus-zen', healthy }])
  metrics.lateness.observe(0.3)
  metrics.probes.inc({ kind: 'HTTP', outcome: 'UP' })
  metrics.inFlight.set(4)
  const app = healthRoutes(async () => ({ canServe: true, canWrite: true, checks: {} }), metrics)
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

test('shows when the last backup was made, if any', async () => {
  let lastAt: Date | null = null
  const metrics = createMetrics(
    () => [],
    () => ({ lastAt, bytes: 5, failures: 2 }),
  )
  expect(await metrics.text()).toContain('allclear_last_backup_timestamp_seconds 0\n')
  lastAt = new Date('2026-11-23T00:00:00Z')
  expect(await metrics.text()).toContain('allclear_last_backup_timestamp_seconds 1795392000\n')
  expect(await metrics.text()).toContain('allclear_backup_failures_total 2\n')
  expect(await createMetrics().text()).not.toContain('backup')
})

test('requires its token if one is set', async () => {
  const token = 'token-of-the-metrics'
  const app = healthRoutes(async () => ({ canServe: true, canWrite: true, checks: {} }), createMetrics(), token)
  for (const authorization of ['', 'Bearer ', `Bearer ${token}s`]) {
    const refused = await app.request('/metrics', { headers: { authorization } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refused.text()).not.toContain('allclear_')
  }
  expect((await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  expect((await app.request('/readyz')).status).toBe(200)
})

describe('names', () => {
  /** Following the rules of Prometheus (“Metric and label naming”, and `promtool check metrics`). */
  const notBaseUnits =
    /_(ms|milliseconds|micros|microseconds|nanoseconds|minutes|hours|days|kb|mb|kilobytes|megabytes|bits|percent|percentage)(_|$)/
  /** From Node.js: existing dashboards use these names. */
  const known = new Set([
    'nodejs_active_handles_total',
    'nodejs_active_requests_total',
    'nodejs_active_resources_total',
  ])

  test('follow the conventions, each with a help text', async () => {
    const all = await described()
    expect(all.length).toBeGreaterThan(20)
    for (const { name, type, help } of all.filter((each) => !known.has(each.name))) {
      expect(name).toMatch(/^(allclear|nodejs|process)(_[a-z0-9]+)+$/)
      expect(name).not.toMatch(notBaseUnits)
      expect(name).not.toMatch(/_(gauge|counter|histogram|summary|bucket|count|sum)(_|$)/)
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      expect(help, name).toMatch(/^\S.{10,}/)
      if (name.startsWith('allclear')) expect(help).toMatch(/[.]$/)
    }
  })

  test('are in the guide, with their types, and the dashboard uses no others', async () => {
    const own = (await described()).filter(({ name }) => name.startsWith('allclear'))
    const guide = readFileSync('docs/health.md', 'utf8')
    const rows = [...guide.matchAll(/^\| `(allclear_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
    expect(rows.sort()).toEqual(own.map(({ name, type }) => `${name} ${type}`).sort())
    const dashboard = readFileSync('deploy/grafana.json', 'utf8')
    const names = new Set((await described()).map(({ name }) => name))
    const asked = [...dashboard.matchAll(/\b(?:allclear|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name)
    expect(asked.length).toBeGreaterThan(10)
    expect(asked.map((name) => name.replace(/_bucket$/, '')).filter((name) => !names.has(name))).toEqual([])
  })

  async function described() {
    const backups = () => ({ lastAt: new Date(1000), bytes: 5, failures: 2 })
    const file = () => ({ appliedAt: new Date(1000), failure: null })
    const text = await createMetrics(() => [], backups, file).text()
    return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)/gm)].map(([, name = '', help = '', type = '']) => ({
      ...{ name, help, type },
    }))
  }
})
