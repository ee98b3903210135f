// @slow
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate } from '../support/filled-organization.ts'
import { websocketClient } from '../support/graphql-client.ts'
import { nginxMissing, startEdge } from '../support/nginx.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

test.runIf(process.env['CI'])('nginx is installed', () => {
  expect(nginxMissing).toBeNull()
})

describe.skipIf(nginxMissing !== null)(`behind a cache (skipped: ${nginxMissing})`, async () => {
  if (nginxMissing !== null) return
  const dns = await startDnsServer(scriptedLists())
  const app = await testApp({ dns })
  afterAll(() => dns.close())
  const origin = await startCountingProxy(app.baseUrl)
  const { url: edge, stop } = await startEdge(origin.url)
  atTheEnd(stop)
  atTheEnd(async () => origin.stop())
  const acme = await filledOrganization(app.baseUrl, {
    startsAt: new Date('2030-01-01T00:00:00Z'),
    endsAt: new Date('2030-01-01T02:00:00Z'),
  })
  const page = `/status/${acme.slug}`
  const query = `/graphql?${new URLSearchParams({ query: `{ statusPage(slug: "${acme.slug}") { name services { name } } }` })}`
  beforeEach(() => origin.paths.splice(0))

  const get = (path: string, headers: Record<string, string> = {}) => fetch(edge + path, { headers })

  test.each([
    page,
    `${page}/history`,
    `${page}/api/v2/summary.json`,
    `${page}/history.atom`,
    `${page}/badge.svg`,
    query,
  ])('many requests for %s at once are one request to the service', async (path) => {
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => get(path, { 'x-forwarded-for': '192.0.2.1' })),
    )
    const bodies = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(bodies).size).toBe(1)
    expect(origin.paths).toEqual([path])
  })

  test('the change of an event has its own address, and is available at once', async () => {
    const before = await (await get(page)).text()
    const version = /data-version="([^"]+)"/.exec(before)?.[1] ?? ''
    const client = websocketClient(edge)
    const events = client.iterate<{ statusPageEvents: { cursor: string } }>({
      query:
        'subscription ($slug: String!, $after: String!) { statusPageEvents(slug: $slug, after: $after) { cursor } }',
      variables: { slug: acme.slug, after: /data-cursor="([^"]+)"/.exec(before)?.[1] },
    })
    const next = events.next()
    await mutate(app.baseUrl, acme.key, 'updateService', 'Service', { id: acme.ids.Service, name: 'API at the edge' })
    const cursor = (await next).value?.data?.statusPageEvents.cursor ?? ''
    expect(await (await get(page)).text()).toBe(before)
    const address = `${page}?since=${version}&at=${cursor}`
    const [changes] = await Promise.all(Array.from({ length: 50 }, async () => (await get(address)).text()))
    expect(changes).toContain('API at the edge')
    expect(origin.paths.filter((path) => path === address)).toHaveLength(1)
    await client.dispose()
  })

  test('a caller with a key never gets a visitor’s answer, and vice versa', async () => {
    const kinds = { visitor: {}, key: { authorization: `Bearer ${acme.key}` }, other: { 'x-api-key': acme.key } }
    const who = `/graphql?${new URLSearchParams({ query: '{ organization { id } }' })}`
    for (const _turn of [1, 2]) {
      for (const [kind, headers] of Object.entries(kinds)) {
        const answer = await (await get(who, headers)).text()
        expect(answer.includes(acme.id), `${kind}: ${answer}`).toBe(kind !== 'visitor')
      }
      await (await get(query)).text()
      const identified: Record<string, string>[] = [
        { authorization: `Bearer ${acme.key}` },
        { authorization: `Bearer ${operatorToken}`, 'x-organization': acme.slug },
      ]
      for (const headers of identified) {
        expect((await get(query, headers)).headers.get('x-cache')).toBe('MISS')
      }
    }
  })

  test.each([
    '/api/blacklist-monitor/ip?target=203.0.113.1',
    '/readyz',
    '/metrics',
    '/check/203.0.113.1',
    '/status/nobody',
  ])('%s is never cached', async (path) => {
    for (const _turn of [1, 2]) await (await get(path)).text()
    expect(origin.paths).toEqual([path, path])
  })

  test('a page is answered while the service is down, with its time', async () => {
    const fresh = await get(`${page}/history`)
    const [body, time] = [await fresh.text(), fresh.headers.get('last-modified')]
    origin.stop()
    // After some seconds the cache asks the service again.
    await expect
      .poll(async () => (await get(`${page}/history`)).headers.get('x-cache'), { interval: 500 })
      .toMatch(/^(STALE|UPDATING)$/)
    const stale = await get(`${page}/history`)
    expect([stale.status, await stale.text(), stale.headers.get('last-modified')]).toEqual([200, body, time])
  })
})
