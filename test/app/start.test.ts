// @slow
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { HOUR } from '../../src/core/time.ts'
import { testApp } from '../support/app.ts'
import { noon } from '../support/context.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate, succeed } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

test('maintenance starts and ends automatically, without a client', async () => {
  let time = noon
  const dns = await startDnsServer(scriptedLists())
  const { baseUrl } = await testApp({ dns, now: () => time })
  const { key } = await newOrganization(baseUrl)
  const { id } = await mutate(baseUrl, key, 'scheduleMaintenance', 'Maintenance', {
    title: 'Work',
    message: 'We work.',
    startsAt: new Date(noon.getTime() + HOUR),
    endsAt: new Date(noon.getTime() + 2 * HOUR),
  })
  const status = async () => {
    const query = 'query ($id: ID!) { node(id: $id) { ... on Maintenance { status } } }'
    return (await succeed(baseUrl, undefined, query, { id }))['status']
  }
  expect(await status()).toBe('SCHEDULED')
  time = new Date(noon.getTime() + HOUR)
  await expect.poll(status, { interval: 200 }).toBe('IN_PROGRESS')
  time = new Date(noon.getTime() + 2 * HOUR)
  await expect.poll(status, { interval: 200 }).toBe('COMPLETED')
})

test('a worker serves only health and metrics', async () => {
  const dns = await startDnsServer(scriptedLists())
  const { baseUrl } = await testApp({ dns, settings: { ROLE: 'worker' } })
  const statusOf = async (path: string, init: RequestInit = {}) => (await fetch(baseUrl + path, init)).status
  for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusOf(path), path).toBe(200)
  const others = [
    '/',
    '/graphql',
    '/docs',
    '/pricing',
    '/status/acme',
    '/check/192.0.2.1',
    '/favicon.svg',
    '/healthz/x',
  ]
  for (const path of others) expect(await statusOf(path, { headers: { accept: 'text/html' } }), path).toBe(404)
  expect(await statusOf('/api/blacklist-monitor/ip?target=192.0.2.1')).toBe(404)
  expect(await statusOf('/api/v1/heartbeats/00000000000000000000000000000000', { method: 'POST' })).toBe(404)
  const query = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ __typename }"}' }
  expect(await statusOf('/graphql', query)).toBe(404)
  const [error] = await once(new WebSocket(`${baseUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws'), 'error')
  expect(String(error)).toContain('404')
})

test('metrics can be served on a separate port', async () => {
  const dns = await startDnsServer(scriptedLists())
  const port = await freePort()
  const { baseUrl } = await testApp({ dns, settings: { METRICS_PORT: String(port), METRICS_TOKEN: 'x'.repeat(16) } })
  const statusOf = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).status
  const authorized = { headers: { authorization: `Bearer ${'x'.repeat(16)}` } }
  const own = `http://127.0.0.1:${port}`
  expect(await statusOf(`${baseUrl}/metrics`, authorized)).toBe(404)
  expect(await statusOf(`${own}/metrics`)).toBe(401)
  expect(await statusOf(`${own}/metrics`, authorized)).toBe(200)
  for (const url of [baseUrl, own]) expect(await statusOf(`${url}/readyz`)).toBe(200)
  expect(await statusOf(`${own}/status`)).toBe(404)
})
