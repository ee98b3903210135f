import { expect, test } from 'vitest'
import { sections } from '../../src/docs/contents.ts'
import { docsPages, docsSheet } from '../../src/docs/html/routes.tsx'
import { loadAssets } from '../../src/http/assets/assets.ts'
import { nestingFaults, repeatedIds } from '../support/markup.ts'

const slugs = sections.flatMap((section) => section.slugs)
const site = { assets: await loadAssets([docsSheet]), baseUrl: 'https://allclear.example' }
const app = docsPages(site)
const read = async (path: string) => (await app.request(path)).text()

test.each(['/docs', '/docs/search?q=monitor', '/docs/search', ...slugs.map((slug) => `/docs/${slug}`)])(
  '%s is well-formed',
  async (path) => {
    const html = await read(path)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
    expect(html.match(/<h1>/g)).toHaveLength(1)
  },
)

test('the index links to every guide, the API reference and the OpenAPI description', async () => {
  const html = await read('/docs')
  for (const path of [...slugs.map((slug) => `/docs/${slug}`), '/docs/reference', '/openapi.json', '/graphql']) {
    expect(html).toContain(`<a href="${path}"`)
  }
})

test('a guide has a menu, its contents and links to its neighbours', async () => {
  const html = await read('/docs/monitors')
  expect(html).toContain('<a href="/docs/monitors" aria-current="page">')
  expect(html).toContain('<a href="#heartbeat">Heartbeat</a>')
  expect(html).toContain('<a rel="prev" href="/docs/feeds">')
  expect(html).toContain('<a rel="next" href="/docs/uptime">')
  expect(html).toContain('<link rel="canonical" href="https://allclear.example/docs/monitors"/>')
})

test('examples use the address of this service', async () => {
  const html = await read('/docs/graphql')
  expect(html).toContain('https://allclear.example/graphql')
  expect(html).toContain('wss://allclear.example/graphql')
  expect(html).not.toContain('localhost:4000')
})

test.each(['br', 'gzip', 'identity'])(
  'a page is sent with the encoding %s, and 304 while it is unchanged',
  async (encoding) => {
    const headers = { 'accept-encoding': encoding }
    const response = await app.request('/docs/uptime', { headers })
    expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
    expect(response.headers.get('cache-control')).toBe('public, no-cache')
    expect(response.headers.get('vary')).toBe('accept-encoding')
    const etag = response.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/)
    const again = await app.request('/docs/uptime', { headers: { ...headers, 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  },
)

test.each(['/docs/nothing', '/docs/constructor', '/docs/README', '/docs/images/nothing.png', '/docs/uptime/more'])(
  '%s is not found',
  async (path) => {
    expect((await app.request(path)).status).toBe(404)
  },
)

test('images are served', async () => {
  const response = await app.request('/docs/images/report.png')
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(
    Buffer.from(await response.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
})

test('a trailing slash redirects to the index', async () => {
  const response = await app.request('/docs/')
  expect([response.status, response.headers.get('location')]).toEqual([301, '/docs'])
})

test('a search shows the escaped query and its results, or that there are none', async () => {
  const found = await read('/docs/search?q=heartbeat')
  expect(found).toContain('value="heartbeat"')
  expect(found).toContain('<a href="/docs/monitors#heartbeat">')
  const none = await read(`/docs/search?q=${encodeURIComponent('"><b>zzzz')}`)
  expect(none).toContain('Nothing found.')
  expect(none).toContain('value="&quot;&gt;&lt;b&gt;zzzz"')
  expect(none).toContain('noindex')
})
