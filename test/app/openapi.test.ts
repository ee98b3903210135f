import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { freePort } from '../support/free-port.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

interface Documented {
  readonly headers?: Record<string, unknown>
  readonly content: { readonly 'application/json': { readonly schema: object } }
}
interface Operation {
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, Documented>>
}
interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<'get' | 'post' | 'put', Operation>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

const dns = await startDnsServer(
  scriptedLists({ 'mail.example.com': ['203.0.113.7'], '7.113.0.203.zen.spamhaus.org': ['127.0.0.2'] }),
)
const settings = { TRUST_PROXY: '127.0.0.1' }
const { baseUrl: url } = await testApp({ dns, settings })
const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
const { key } = await newOrganization(url, { pro: true })

/** A validator for one of the document's schemas, with every object made strict. */
function validatorOf(schema: object): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas }).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  )
  return z.fromJSONSchema(JSON.parse(text))
}

test('the description is public OpenAPI 3.1', async () => {
  const { headers } = await fetch(`${url}/openapi.json`)
  expect(document.openapi).toMatch(/^3\.1\./)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(document.info.version).toBe(version)
  for (const path of ['/api/blacklist-monitor/bulk', '/api/v1/billing/btcpay/webhook', '/metrics', '/status/{slug}']) {
    expect(document.paths).toHaveProperty([path])
  }
})

test('its server URL has the port that was picked', () => {
  expect(document.servers).toEqual([{ url }])
  expect(new URL(url).port).not.toBe('0')
})

test('its server URL is BASE_URL, whatever the Host header', async () => {
  const port = await freePort()
  const app = await testApp({ dns, settings: { ...settings, PORT: String(port), BASE_URL: 'https://checks.example/' } })
  expect(app.baseUrl).toBe('https://checks.example')
  const { servers } = (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as Document
  expect(servers).toEqual([{ url: 'https://checks.example' }])
})

describe('responses match the description', () => {
  const ip = '/api/blacklist-monitor/ip'
  const domain = '/api/blacklist-monitor/domain'
  const bulk = '/api/blacklist-monitor/bulk'
  const post = (targets: unknown, apiKey?: string, type = 'application/json') => ({
    method: 'POST',
    headers: { 'content-type': type },
    body: JSON.stringify({ targets, ...(apiKey && { api_key: apiKey }) }),
  })
  const client = { 'x-forwarded-for': '192.0.2.99' }

  test.each([
    [ip, '?target=203.0.113.7', {}, 200],
    [ip, '?target=2001:db8::7', {}, 200],
    [ip, '', {}, 400],
    [ip, '?target=203.0.113.7&api_key=x', {}, 401],
    [ip, '', { method: 'PUT' }, 405],
    [domain, '?target=mail.example.com', {}, 200],
    [domain, '?target=10.0.0.1', {}, 400],
    [bulk, '', post(['203.0.113.7', 'mail.example.com', 'x'], key), 200],
    [bulk, '', post([]), 401],
    [bulk, '', post([], key), 400],
    [bulk, '', post([], key, 'text/plain'), 415],
    [bulk, '', post(['x'.repeat(70_000)], key), 413],
  ])('%s%s, case %#', async (path, query, init: RequestInit, status) => {
    const response = await fetch(`${url}${path}${query}`, { ...init, headers: { ...init.headers, ...client } })
    expect(response.status).toBe(status)
    const { get, post } = document.paths[path] ?? {}
    const described = (get ?? post)?.responses[status]
    const body: unknown = await response.json()
    expect(validatorOf(described?.content['application/json'].schema ?? {}).parse(body)).toEqual(body)
    const names = Object.keys(described?.headers ?? {})
    expect(names).toHaveLength(5)
    for (const name of names) expect(response.headers.has(name), name).toBe(true)
  })
})

test.each([
  ['', 'GET', 404],
  ['/fail', 'POST', 404],
  ['/7', 'PATCH', 405],
  ['/start?rid=1', 'POST', 400],
])('heartbeat responses match the description, by %s %s', async (rest, method, status) => {
  const response = await fetch(`${url}/api/v1/heartbeats/nobody${rest}`, { method })
  expect(response.status).toBe(status)
  const described =
    document.paths[`/api/v1/heartbeats/{token}${rest.replace('7', '{exitCode}').replace(/\?.*/, '')}`]?.get?.responses[
      status
    ]
  const body: unknown = await response.json()
  expect(validatorOf(described?.content['application/json'].schema ?? {}).parse(body)).toEqual(body)
})

describe('the description of heartbeats has what the routes accept', () => {
  const base = '/api/v1/heartbeats/{token}'
  const words = ['', '/start', '/log', '/fail', '/{exitCode}']

  test('each word at the end of the path, and no other', async () => {
    const paths = Object.keys(document.paths).filter((path) => path.startsWith(base))
    expect(paths.toSorted()).toEqual(words.map((word) => `${base}${word}`).toSorted())
    for (const word of words) {
      const [described, unknown] = await Promise.all(
        [word.replace('{exitCode}', '7'), `${word}s`].map(async (end) => {
          const response = await fetch(`${url}/api/v1/heartbeats/nobody${end}`)
          return ((await response.json()) as { error: { message: string } }).error.message
        }),
      )
      expect([described, word && unknown]).toEqual([
        'No heartbeat has this token.',
        word && 'No route matches this path.',
      ])
    }
  })

  test('each parameter, with every method', () => {
    const namesOf = (operation: Operation | undefined) =>
      operation?.parameters?.filter((each) => each.in === 'query').map(({ name }) => name)
    const expected = { '': ['rid', 'status', 'ping', 'msg'], '/start': ['rid'], '/log': ['rid'] }
    for (const word of words) {
      const { get, post, put } = document.paths[`${base}${word}`] ?? {}
      const names = { '/fail': ['rid', 'msg'], '/{exitCode}': ['rid', 'msg'], ...expected }[word]
      expect([get, post, put].map(namesOf), word).toEqual([names, names, names])
      expect(Object.keys(get?.responses ?? {}), word).toEqual(['200', '400', '404', '405', '500', '503'])
    }
  })

  test('any type, coding and charset of a body: the job did run', async () => {
    const headers = [
      ['content-type', 'application/x-unknown'],
      ['content-type', 'text/plain; charset=utf-16'],
      ['content-encoding', 'zstd'],
      ['content-encoding', 'gzip'],
    ] as const
    for (const [name, value] of headers) {
      const init = { method: 'POST', headers: { [name]: value }, body: 'Done' }
      expect((await fetch(`${url}/api/v1/heartbeats/nobody`, init)).status).toBe(404)
    }
  })
})

describe('billing responses match the description', () => {
  const billing = '/api/v1/billing'
  const json = { accept: 'application/json' }

  test.each([
    ['/status', '/status', { headers: { authorization: `Bearer ${key}` } }, 200],
    ['/status', '/status', {}, 401],
    ['/success', '/success', { headers: json }, 200],
    ['/cancel', '/cancel', { headers: json }, 200],
    ['/cancel', '/cancel', { method: 'PUT' }, 405],
    ['/checkout/{tier}', '/checkout/gold', {}, 404],
    ['/checkout/{tier}', '/checkout/pro', {}, 401],
    ['/checkout/{tier}', '/checkout/pro', { headers: { authorization: `Bearer ${key}` } }, 503],
    ['/webhook', '/webhook', { method: 'POST', body: '{}' }, 503],
    ['/webhook', '/webhook', { method: 'POST', body: 'x'.repeat(300_000) }, 413],
    ['/btcpay/webhook', '/btcpay/webhook', { method: 'POST', body: '{}' }, 503],
  ])('%s as %s, case %#', async (path, asked, init: RequestInit, status) => {
    const response = await fetch(`${url}${billing}${asked}`, { ...init, redirect: 'manual' })
    expect(response.status).toBe(status)
    const { get, post } = document.paths[billing + path] ?? {}
    const described = (get ?? post)?.responses[status]
    const body: unknown = await response.json()
    expect(validatorOf(described?.content['application/json'].schema ?? {}).parse(body)).toEqual(body)
  })
})

describe('the API reference', () => {
  test('shows every operation of the API, its members and its answers, and no page for people', async () => {
    const response = await fetch(`${url}/docs/reference`)
    const page = await response.text()
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'; (?!.*(?:https?:|\*|unsafe))/)
    expect(page).not.toContain('<script')
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { tags }]) => ({ path, method, isShown: !tags.includes('Pages') })),
    )
    expect(operations.filter(({ isShown }) => isShown).length).toBeGreaterThan(70)
    for (const { path, method, isShown } of operations) {
      const heading = `<span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code>`
      expect(page.includes(heading), heading).toBe(isShown)
    }
    const members = /id="object-BlacklistResult".*?<\/section>/s.exec(page)?.[0].match(/<th scope="row"><code>[^<]*/g)
    expect(members?.map((each) => each.replace(/.*>/, ''))).toEqual(
      Object.keys((document.components.schemas['BlacklistResult'] as { properties?: object }).properties ?? {}),
    )
    expect(page).toContain(`curl &#39;${url}/api/blacklist-monitor/ip?target=192.0.2.7&#39;`)
    expect(page.replaceAll(/<[^>]*>/g, '')).not.toContain('`')
    expect(page).toContain('with a <code>status</code> other than')
    // Each link within it leads somewhere.
    const named = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    const ids = new Set(named)
    expect(ids.size).toBe(named.length)
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(targets.filter((id) => !ids.has(id))).toEqual([])
  })
})
