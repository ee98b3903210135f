import { expect, test } from 'vitest'
import { robotsRoutes } from '../../src/http/robots.ts'

test('robots.txt excludes checks and APIs, but no indexable page', async () => {
  const response = await robotsRoutes().request('/robots.txt')
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const [agent, ...rules] = (await response.text()).trim().split('\n')
  expect(agent).toBe('User-agent: *')
  const left = rules.map((rule) => new RegExp(`^${rule.replace('Disallow: ', '').replaceAll('*', '.*')}`))
  const allowed = (path: string) => !left.some((rule) => rule.test(path))
  for (const path of ['/check/192.0.2.7', '/api/v2/summary.json', '/graphql', '/status/acme/api/v2/status.json']) {
    expect([path, allowed(path)]).toEqual([path, false])
  }
  for (const path of ['/', '/status/acme', '/status/acme/incidents/inc_1', '/history', '/docs', '/checks']) {
    expect([path, allowed(path)]).toEqual([path, true])
  }
})
