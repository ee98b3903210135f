import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
const app = await testApp({ dns })
afterAll(() => dns.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.baseUrl + path, { headers: { accept: 'text/html', 'accept-encoding': 'gzip', ...headers } })

describe('compression', () => {
  test.each([
    '/',
    '/pricing',
    '/docs',
    '/docs/reference',
    '/docs/search?q=mail',
    '/graphql',
    '/openapi.json',
    '/sign-in',
  ])('%s is compressed', async (path) => {
    const response = await get(path)
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip'])
    expect(response.headers.get('vary')).toMatch(/accept-encoding/i)
    expect(await (await get(path, { 'accept-encoding': 'identity' })).text()).toBe(await response.text())
  })

  test('a status page is compressed once, and keeps its ETag', async () => {
    const { slug } = await newOrganization(app.baseUrl)
    const response = await get(`/status/${slug}`)
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(response.headers.get('etag')).toMatch(/^"/)
    expect(await response.text()).toContain('</html>')
  })

  test('short answers to programs are not compressed', async () => {
    for (const path of ['/api/blacklist-monitor/ip?target=203.0.113.7', '/readyz']) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('content-encoding')]).toEqual([path, 200, null])
      await response.body?.cancel()
    }
  })
})

test('an owner’s colour is served with the assets', async () => {
  expect((await get('/assets/theme.7c3aed.css')).status).toBe(200)
})

test.each(['/docs', '/docs/reference', '/graphql', '/openapi.json'])('%s can be cached by everyone', async (path) => {
  const first = await get(path)
  await first.body?.cancel()
  const etag = first.headers.get('etag') ?? ''
  expect(etag).not.toBe('')
  expect((await get(path, { 'if-none-match': etag })).status).toBe(304)
  expect(first.headers.get('cache-control')).toBe('public, no-cache')
})
