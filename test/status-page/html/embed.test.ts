import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { atTheEnd } from '../../support/at-the-end.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { mutate } from '../../support/filled-organization.ts'
import { newOrganization } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
atTheEnd(() => dns.close())
const { baseUrl: url } = await testApp({ dns })
const { slug, key, id } = await newOrganization(url)
const { id: serviceId } = await mutate(url, key, 'createService', 'Service', { name: 'API', status: 'OPERATIONAL' })
const line = (query = '') => fetch(`${url}/status/${slug}/embed${query}`)
const policyOf = ({ headers }: Response) => headers.get('content-security-policy') ?? ''
const allow = (origins: string[]) =>
  mutate<{ embedOrigins: string[] }>(
    url,
    key,
    'updatePageEmbedding',
    'StatusPage',
    { pageId: id, origins },
    'embedOrigins',
  )

test('can be framed by the sites that the owner lists', async () => {
  expect(policyOf(await line())).toContain("frame-ancestors 'none'")
  const { embedOrigins } = await allow(['https://www.example.com/', 'http://localhost:3000', 'https://www.example.com'])
  expect(embedOrigins).toEqual(['https://www.example.com', 'http://localhost:3000'])
  await expect
    .poll(async () => policyOf(await line()))
    .toMatch(/frame-ancestors https:\/\/www\.example\.com http:\/\/localhost:3000$/)
  expect(policyOf(await line())).toMatch(/^default-src 'none'; style-src 'self'; /)
  await expect(allow(['https://a.example; script-src *'])).rejects.toThrow(/ValidationError|must be an origin/)
})

test('shows the status in its language, and opens the page in a new tab', async () => {
  expect(await (await line()).text()).toContain('All services are operational')
  await mutate(url, key, 'createIncident', 'Incident', {
    ...{ title: 'Slow', status: 'INVESTIGATING', impact: 'MAJOR', message: 'x' },
    services: [{ serviceId, status: 'PARTIAL_OUTAGE' }],
  })
  await expect.poll(async () => (await line()).text()).toContain('Partial outage: API')
  const german = await (await line('?language=de&theme=dark')).text()
  expect(german).toContain('<html lang="de" dir="ltr" data-theme="dark">')
  expect(german).toContain('Teilausfall: <bdi lang="">API</bdi>')
  expect(german).toContain(`href="${url}/status/${slug}/de" target="_blank" rel="noopener"`)
  expect(german).not.toMatch(/<script|<form|style=/)
  expect(await (await line('?theme="><script>&language=xx')).text()).toContain('<html lang="en" dir="ltr"><head>')
})

test('a missing page has the owner’s look and language', async () => {
  for (const path of ['incidents/none', 'services/none', 'history?month=never', 'nothing/here']) {
    const response = await fetch(`${url}/status/${slug}/${path}`, { headers: { accept: 'text/html' } })
    const html = await response.text()
    expect([path, response.status]).toEqual([path, 404])
    expect(html).toContain('<h1>Page not found</h1>')
    expect(html).toContain(`<a class="name" href="/status/${slug}">`)
    expect(html).not.toContain('Blacklist')
  }
  const german = await fetch(`${url}/status/${slug}/de/nichts`, { headers: { accept: 'text/html' } })
  expect(await german.text()).toContain('Seite nicht gefunden')
})

test('an unknown path of a private page reveals nothing', async () => {
  const html = await (await fetch(`${url}/status/${slug}/access/a/b`, { headers: { accept: 'text/html' } })).text()
  expect(html).not.toContain('class="name"')
})

test('is not found without a page', async () => {
  expect((await fetch(`${url}/status/nobody-here/embed`)).status).toBe(404)
})
