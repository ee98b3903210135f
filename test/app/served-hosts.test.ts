// @slow
import { createClient } from 'graphql-ws'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { testApp } from '../support/app.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { serveUnder } from '../support/own-domain.ts'
import { rawGet } from '../support/raw-get.ts'
import { sendRaw } from '../support/raw-http.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const dns = await startDnsServer(scriptedLists())
const rebound = 'rebound.evil.example'
/** What browsers send after the name of a page that they show has been led here. */
const asBrowsers: readonly Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { origin: `http://${rebound}` },
]
const sentence = (host: string) =>
  `This service does not answer to the host ${host}. If it should, set BASE_URL to its public address, or add the name to ALLOWED_HOSTS.\n`

/** Starts a service at a port of its own. */
async function serve(settings: NodeJS.ProcessEnv) {
  const port = await freePort()
  const database = await testDatabase()
  await testApp({ dns, database, settings: { PORT: String(port), ...settings } })
  return { url: `http://127.0.0.1:${port}`, port, database }
}

describe('while BASE_URL is set', async () => {
  const { url, port, database } = await serve({
    BASE_URL: 'https://allclear.example',
    ALLOWED_HOSTS: 'allclear,status.lan',
  })
  const acme = await newOrganization(url)
  const domain = `${acme.slug}.status.example`
  await serveUnder(testContext(database.prisma), acme.id, domain)
  const ask = (host: string, path = '/pricing') => rawGet(url + path, { host, accept: 'text/html' })

  test.each([
    ...['allclear.example', 'ALLCLEAR.example.', 'allclear.example:443', 'allclear', 'allclear:4000', 'status.lan'],
    ...['localhost', `localhost:${port}`, 'a.localhost', `127.0.0.1:${port}`, '10.1.2.3', '[::1]:4000', domain],
    ...[domain.toUpperCase(), `${domain}.`, `${domain}:8443`],
  ])('answers to %s', async (host) => {
    expect((await ask(host, '/robots.txt')).status).toBe(200)
    expect((await ask(host, '/graphql?query={__typename}')).status).toBe(200)
  })

  test.each([
    rebound,
    `${rebound}:${port}`,
    'example',
    'a.allclear.example',
    `x.${domain}`,
    'allclear.example.evil.example',
  ])('refuses %s everywhere, with a sentence that names the settings', async (host) => {
    const paths = ['/', '/robots.txt', '/graphql?query={__typename}', '/metrics', '/console', `/status/${acme.slug}`]
    for (const path of [...paths, '/assets/style.css', '/api/blacklist-monitor/ip?target=127.0.0.2', '/nothing']) {
      const answer = await ask(host, path)
      expect([path, answer.status, String(answer.body)]).toEqual([path, 421, sentence(host)])
      expect(answer.headers).toMatchObject({
        ...{ 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' },
        'content-type': 'text/plain; charset=utf-8',
      })
    }
    const body = '{"query":"{__typename}"}'
    const head = `Host: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    expect(await sendRaw(url, `POST /graphql HTTP/1.1\r\n${head}\r\n${body}`)).toMatch(/^HTTP\/1.1 421 /)
    expect(await sendRaw(url, `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1.1 421 /)
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n'
    const refused = await sendRaw(url, `GET /graphql HTTP/1.1\r\nHost: ${host}\r\n${upgrade}${key}\r\n`)
    expect(refused).toMatch(/^HTTP\/1.1 421 Misdirected Request\r\n/)
    expect(refused).toContain(sentence(host))
    const h2c = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'
    expect(await sendRaw(url, `GET / HTTP/1.1\r\nHost: ${host}\r\n${h2c}\r\n`)).toMatch(/^HTTP\/1.1 421 /)
  })

  test('answers health checks and questions about certificates under every name, and without one', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/healthz?x',
      '/.well-known/allclear-certificate?domain=allclear.example',
    ]) {
      expect([path, (await ask(rebound, path)).status]).toEqual([path, 200])
      expect(await sendRaw(url, `GET ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 /)
    }
    for (const path of ['/healthz/', '/healthz/../metrics', '//healthz', '/healthz%2f', '/Healthz'])
      expect([path, (await ask(rebound, path)).status]).toEqual([path, 421])
  })

  test('answers to a domain from the moment that it is proven until it is removed', async () => {
    const beta = await newOrganization(url)
    const name = `${beta.slug}.status.example`
    expect((await ask(name, '/')).status).toBe(421)
    await serveUnder(testContext(database.prisma), beta.id, name)
    await expect.poll(async () => (await ask(name, '/')).status).toBe(200)
    await mutate(url, beta.key, 'removeDomain', 'StatusPage', { pageId: await pageOf(url, beta.key) }, 'id')
    await expect.poll(async () => (await ask(name, '/')).status).toBe(421)
  })

  test('serves proven domains amid a flood of other names', async () => {
    const flood = Array.from({ length: 300 }, (_, nth) => ask(`n${nth}.evil.example`))
    expect((await ask(domain, '/')).status).toBe(200)
    expect((await Promise.all(flood)).every(({ status }) => status === 421)).toBe(true)
  })

  test('an address gives no right under the domain of another organization', async () => {
    const beta = await newOrganization(url)
    const name = `${beta.slug}.status.example`
    await serveUnder(testContext(database.prisma), beta.id, name)
    await openToAddresses(url, acme.key)
    for (const [host, status] of [
      ['127.0.0.1', 200],
      ['allclear.example', 200],
      ['allclear', 200],
      [name, 401],
      [domain, 200],
    ] as const) {
      const path = `/status/${acme.slug}/api/v2/summary.json`
      expect([host, (await rawGet(url + path, { host })).status]).toEqual([host, status])
    }
    expect((await rawGet(`${url}/api/v2/summary.json`, { host: domain })).status).toBe(200)
  })
})

describe('with METRICS_TOKEN', async () => {
  const token = 'a-token-of-24-characters'
  const { url } = await serve({ BASE_URL: 'https://allclear.example', METRICS_TOKEN: token })
  test('metrics are served under every name', async () => {
    const authorization = `Bearer ${token}`
    expect((await rawGet(`${url}/metrics`, { host: 'allclear-1', authorization })).status).toBe(200)
    expect((await rawGet(`${url}/metrics`, { host: 'allclear-1' })).status).toBe(401)
    expect((await rawGet(`${url}/`, { host: 'allclear-1', authorization })).status).toBe(421)
  })
})

describe('while BASE_URL is unset', async () => {
  const { url } = await serve({ ALLOWED_HOSTS: 'status.lan' })
  const acme = await newOrganization(url)
  await openToAddresses(url, acme.key)
  const page = `statusPage(slug: "${acme.slug}") { name cursor }`
  const own = ['127.0.0.1:4000', 'localhost', 'status.lan', '[::1]']

  test('answers to every name', async () => {
    for (const host of [rebound, 'nas.lan', 'allclear'])
      expect((await rawGet(`${url}/pricing`, { host, accept: 'text/html' })).status).toBe(200)
  })

  test('metrics without a token are served only under names that nobody else can lead here', async () => {
    for (const host of own) expect([host, (await rawGet(`${url}/metrics`, { host })).status]).toEqual([host, 200])
    for (const path of ['/metrics', '/metrics?x']) {
      const { status, body } = await rawGet(url + path, { host: rebound })
      expect([status, String(body)]).toEqual([421, sentence(rebound)])
    }
    expect(await sendRaw(url, 'GET /metrics HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /)
  })

  test('an address opens a page only under such names: pages and documents', async () => {
    const at = `/status/${acme.slug}`
    const paths = [
      '',
      '/history',
      '/history.rss',
      '/badge.svg',
      '/embed',
      '/api/v2/summary.json',
      '/maintenance.ics',
      '/picture.png',
    ]
    for (const path of paths) {
      for (const host of own)
        expect([path, host, (await rawGet(url + at + path, { host })).status]).toEqual([path, host, 200])
      for (const more of asBrowsers) {
        const { status, body } = await rawGet(url + at + path, { host: rebound, ...more })
        expect([path, status]).toEqual([path, 401])
        expect(String(body)).not.toContain(acme.slug)
      }
    }
  })

  test('an address opens a page only under such names: GraphQL', async () => {
    const query = `{ ${page} }`
    for (const host of [...own, rebound]) {
      const got = await rawGet(`${url}/graphql?query=${encodeURIComponent(query)}`, {
        host,
        accept: 'application/json',
      })
      const body = JSON.stringify({ query })
      const head = `Host: ${host}\r\nOrigin: http://${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`
      const posted = await sendRaw(url, `POST /graphql HTTP/1.1\r\n${head}\r\n${body}`)
      const results = [String(got.body), posted.slice(posted.indexOf('{')), await overWebsocket(host, query)]
      for (const result of results) {
        if (host === rebound) expect(result).toContain('UNAUTHENTICATED')
        else expect([host, result]).toEqual([host, expect.stringContaining('"cursor"')])
      }
    }
  })

  /** Runs a query over a websocket that a page on this host opens. */
  async function overWebsocket(host: string, query: string): Promise<string> {
    class OnHost extends WebSocket {
      constructor(address: string, protocols: string | string[]) {
        super(address, protocols, { headers: { host }, origin: `http://${host}` })
      }
    }
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: OnHost,
      retryAttempts: 0,
    })
    const result = await new Promise<string>((resolve) =>
      client.subscribe(
        { query },
        {
          next: (value) => resolve(JSON.stringify(value)),
          error: (error) => resolve(JSON.stringify(error)),
          complete() {},
        },
      ),
    )
    await client.dispose()
    return result
  }
})

describe('a worker', async () => {
  const { url } = await serve({ ROLE: 'worker', BASE_URL: 'https://allclear.example', ALLOWED_HOSTS: 'worker-1' })
  test('answers health checks under every name, and metrics under its own', async () => {
    for (const host of [rebound, 'worker-1', '127.0.0.1'])
      expect((await rawGet(`${url}/healthz`, { host })).status).toBe(200)
    expect((await rawGet(`${url}/metrics`, { host: 'worker-1' })).status).toBe(200)
    expect((await rawGet(`${url}/metrics`, { host: '10.0.0.3:4000' })).status).toBe(200)
    expect((await rawGet(`${url}/metrics`, { host: rebound })).status).toBe(421)
  })
})

async function pageOf(url: string, key: string): Promise<string> {
  const query = encodeURIComponent('{ organization { pages { id } } }')
  const { body } = await rawGet(`${url}/graphql?query=${query}`, { authorization: `Bearer ${key}` })
  return JSON.parse(String(body)).data.organization.pages[0].id
}

/** Opens the page of an organization to callers from this machine. */
async function openToAddresses(url: string, key: string): Promise<void> {
  const access = { kind: 'ADDRESSES', ranges: ['127.0.0.0/8', '::1/128'] }
  await mutate(url, key, 'updatePageAccess', 'PageAccess', { pageId: await pageOf(url, key), access }, 'kind')
}
