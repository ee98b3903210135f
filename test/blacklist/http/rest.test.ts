// @slow
import fc from 'fast-check'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { bulkJson, domainReportJson, ipReportJson } from '../../../src/blacklist/http/rest-schema.ts'
import { blacklists } from '../../../src/blacklist/list.ts'
import { errorJson } from '../../../src/http/response/error-schema.ts'
import { testApp } from '../../support/app.ts'
import { createGate, startDnsServer } from '../../support/dns-server.ts'
import { knownGeo } from '../../support/geo-files.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { connected, sendRaw } from '../../support/raw-http.ts'
import { runs } from '../../support/runs.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

/** An address with one listing and a location. */
const listed = '203.0.113.7'
const clean = '198.51.100.1'
/** An address for which the query of a list throws an internal error. */
const cursed = '198.51.100.66'
const behaviour = scriptedLists({
  '7.113.0.203.zen.spamhaus.org': ['127.0.0.2', '127.0.0.4'],
  'mail.example.com': [listed, '2001:db8::7'],
  'example.com.black.uribl.com': ['127.0.0.2'],
})
const lists = blacklists(undefined).map((list, index) =>
  index > 0
    ? list
    : {
        ...list,
        labels: (target: Parameters<typeof list.labels>[0]) => {
          if (target.kind === 'ip' && target.address === cursed) throw new Error('a secret detail')
          return list.labels(target)
        },
      },
)

const midnight = new Date('2026-11-21T00:00:00.000Z')
let now = new Date('2026-11-20T23:00:00.000Z')
const logged: string[] = []
const dns = await startDnsServer(behaviour)
const { baseUrl: url } = await testApp({
  dns,
  lists,
  now: () => now,
  log: pino({ level: 'warn' }, { write: (line: string) => logged.push(line) }),
  settings: { TRUST_PROXY: '127.0.0.1' },
})
const pro = await newOrganization(url, { pro: true })
const free = await newOrganization(url)

let clients = 0
/** Returns a client address without checks today. */
const fresh = () => `100.64.${clients >> 8}.${clients++ & 255}`

async function send(path: string, init: RequestInit & { readonly client?: string } = {}) {
  const headers = new Headers(init.headers)
  headers.set('x-forwarded-for', init.client ?? fresh())
  const response = await fetch(`${url}/api/blacklist-monitor${path}`, { ...init, headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: text === '' ? null : JSON.parse(text) }
}
const check = (kind: 'ip' | 'domain', target: string, init?: Parameters<typeof send>[1]) =>
  send(`/${kind}?target=${encodeURIComponent(target)}`, init)
const bulk = (body: unknown, headers: Record<string, string> = {}) =>
  send('/bulk', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const codeOf = ({ status, json }: Awaited<ReturnType<typeof send>>) => `${status} ${json?.error?.code}`

/** Asserts that the schema accepts the response, and that the response has no undocumented field. */
function expectShape(schema: z.ZodType, json: unknown) {
  expect(schema.parse(json)).toEqual(json)
}

const resultFields = ['name', 'listed', 'response', 'description', 'delist_url']
const reportFields = [
  'target',
  'target_type',
  'checked_at',
  'total_checked',
  'listed_count',
  'clean_count',
  'verdict',
  'results',
]

describe('a report', () => {
  test('on an address has every specified field', async () => {
    const { status, json, headers } = await check('ip', listed)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expectShape(ipReportJson, json)
    expect(Object.keys(json)).toEqual(expect.arrayContaining([...reportFields, 'geo']))
    expect(json).toMatchObject({
      target: listed,
      target_type: 'ip',
      total_checked: 6,
      listed_count: 1,
      clean_count: 5,
      failed_count: 0,
      geo: knownGeo,
      checked_at: '2026-11-20T23:00:00.000Z',
    })
    expect(json.verdict).toMatch(/\w/)
    for (const result of json.results) expect(Object.keys(result)).toEqual(expect.arrayContaining(resultFields))
    const [zen, spamCop] = json.results
    expect(zen).toMatchObject({ name: 'Spamhaus ZEN', listed: true, codes: ['127.0.0.2', '127.0.0.4'] })
    expect(zen.response).toContain('SBL')
    expect(spamCop).toMatchObject({ name: 'SpamCop', listed: false, response: null })
  })

  test('on a domain has the domain lists and one report per address', async () => {
    const { status, json } = await check('domain', 'Mail.Example.COM.')
    expect(status).toBe(200)
    expectShape(domainReportJson, json)
    expect(Object.keys(json)).toEqual(expect.arrayContaining(reportFields))
    expect(json).toMatchObject({
      target: 'mail.example.com',
      target_type: 'domain',
      total_checked: 14,
      listed_count: 2,
      clean_count: 12,
      resolved_ips: [listed, '2001:db8::7'],
      resolved_ips_truncated: false,
      resolution_failed: false,
    })
    expect(json.results.map(({ name }: { name: string }) => name)).toEqual(['SURBL multi', 'URIBL black'])
    expect(json.ip_reports.map(({ target }: { target: string }) => target)).toEqual([listed, '2001:db8::7'])
    expect(json.ip_reports[0].geo).toEqual(knownGeo)
  })

  test('is not cacheable and has no ETag', async () => {
    for (const { headers } of [await check('ip', clean), await check('ip', 'nonsense'), await bulk({})]) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('etag')).toBeNull()
    }
  })

  test('has no body for HEAD', async () => {
    const { status, text, headers } = await check('ip', clean, { method: 'HEAD' })
    expect([status, text, headers.get('x-ratelimit-limit')]).toEqual([200, '', '100'])
  })

  test.each([
    ['ip', ' 203.0.113.7 ', '203.0.113.7'],
    ['ip', '::ffff:203.0.113.7', '203.0.113.7'],
    ['ip', '2001:DB8:0:0::7', '2001:db8::7'],
    ['domain', 'BÜCHER.example', 'xn--bcher-kva.example'],
  ] as const)('of the %s %j shows the canonical target', async (kind, target, normalized) => {
    expect((await check(kind, target)).json.target).toBe(normalized)
  })
})

describe('an invalid request', () => {
  test.each([
    ['/ip', '400 MISSING_TARGET'],
    ['/ip?target=', '400 MISSING_TARGET'],
    ['/ip?target=%20', '400 MISSING_TARGET'],
    ['/ip?target=example.com', '400 INVALID_TARGET'],
    ['/ip?target=2130706433', '400 INVALID_TARGET'],
    ['/ip?target=0x7f.1', '400 INVALID_TARGET'],
    ['/ip?target=%00', '400 INVALID_TARGET'],
    ['/ip?target=%ff%fe', '400 INVALID_TARGET'],
    ['/ip?target=%', '400 INVALID_TARGET'],
    ['/ip?target=10.0.0.1', '400 TARGET_NOT_PUBLIC'],
    ['/ip?target=::1', '400 TARGET_NOT_PUBLIC'],
    ['/ip?target[]=203.0.113.7', '400 MISSING_TARGET'],
    ['/domain', '400 MISSING_TARGET'],
    ['/domain?target=203.0.113.7', '400 INVALID_TARGET'],
    ['/domain?target=https://example.com/x', '400 INVALID_TARGET'],
    ['/domain?target=a@example.com', '400 INVALID_TARGET'],
    ['/domain?target=co.uk', '400 INVALID_TARGET'],
    [`/domain?target=${'a'.repeat(5000)}`, '400 INVALID_TARGET'],
    ['/ip?target=203.0.113.7&api_key=wrong', '401 INVALID_API_KEY'],
    ['/ip?target=203.0.113.7&api_key=', '401 INVALID_API_KEY'],
    ['', '404 NOT_FOUND'],
    ['/', '404 NOT_FOUND'],
    ['/nothing', '404 NOT_FOUND'],
    ['/ip/', '404 NOT_FOUND'],
    ['/IP', '404 NOT_FOUND'],
  ])('%s: %s', async (path, expected) => {
    const client = fresh()
    const refused = await send(path, { client })
    expect(codeOf(refused)).toBe(expected)
    expectShape(errorJson, refused.json)
    expect(refused.json.error.message).toMatch(/\.$/)
    expectLimit(refused.headers, 100, 100)
  })

  test.each([
    ['POST', '/ip', 'GET, HEAD'],
    ['DELETE', '/ip', 'GET, HEAD'],
    ['PUT', '/domain', 'GET, HEAD'],
    ['GET', '/bulk', 'POST'],
    ['PATCH', '/bulk', 'POST'],
  ])('%s %s: 405 with the Allow header', async (method, path, allow) => {
    const refused = await send(path, { method })
    expect(codeOf(refused)).toBe('405 METHOD_NOT_ALLOWED')
    expect(refused.headers.get('allow')).toBe(allow)
    expectLimit(refused.headers, 100, 100)
  })

  test('the wrong kind of target gets a hint', async () => {
    expect((await check('ip', 'example.com')).json.error.message).toContain('Use the domain check')
    expect((await check('domain', listed)).json.error.message).toContain('Use the IP check')
  })

  test('401 explains how to authenticate', async () => {
    const { headers } = await check('ip', clean, { headers: { 'x-api-key': 'wrong' } })
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  test('an internal error hides its details and is logged with its id', async () => {
    const broken = await check('ip', cursed)
    expect(codeOf(broken)).toBe('500 INTERNAL')
    expectShape(errorJson, broken.json)
    expect(broken.text).not.toContain('secret detail')
    expectLimit(broken.headers, 100, 99)
    const entry = logged.find((line) => line.includes(broken.json.error.error_id))
    expect(entry).toContain('a secret detail')
  })
})

function expectLimit(headers: Headers, limit: number, remaining: number) {
  const seconds = (midnight.getTime() - now.getTime()) / 1000
  expect(Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')))).toEqual({
    'ratelimit-policy': `"daily";q=${limit};w=86400`,
    ratelimit: `"daily";r=${remaining};t=${seconds}`,
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(midnight.getTime() / 1000),
  })
}

describe('limits', () => {
  test('count accepted requests, and every response shows the remaining quota', async () => {
    const client = fresh()
    expectLimit((await check('ip', clean, { client })).headers, 100, 99)
    expectLimit((await check('ip', 'nonsense', { client })).headers, 100, 99)
    expectLimit((await send('/nothing', { client })).headers, 100, 99)
    expectLimit((await check('domain', 'mail.example.com', { client })).headers, 100, 98)
  })

  test('grant exactly 100 of 250 concurrent requests; the others get Retry-After until UTC midnight', async () => {
    const client = fresh()
    const answers = await Promise.all(Array.from({ length: 250 }, () => check('ip', clean, { client })))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
    expect(refused).toHaveLength(150)
    for (const { headers, json } of refused) {
      expect(headers.get('retry-after')).toBe('3600')
      expectLimit(headers, 100, 0)
      expect(json.error).toMatchObject({ code: 'DAILY_LIMIT_EXCEEDED', limit: 100, resets_at: midnight.toISOString() })
    }
  })

  test('reset at UTC midnight', async () => {
    const client = fresh()
    await Promise.all(Array.from({ length: 100 }, () => check('ip', clean, { client })))
    const before = now
    now = new Date(midnight.getTime() - 1)
    const last = await check('ip', clean, { client })
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, '1'])
    now = midnight
    expect((await check('ip', clean, { client })).headers.get('x-ratelimit-remaining')).toBe('99')
    now = before
  })

  test('apply to a whole IPv6 /64 and ignore a forged proxy hop', async () => {
    expectLimit((await check('ip', clean, { client: '2001:db8:5::1' })).headers, 100, 99)
    expectLimit((await check('ip', clean, { client: '2001:db8:5::2' })).headers, 100, 98)
    expectLimit((await check('ip', clean, { client: '2001:db8:6::1, 2001:db8:5::3' })).headers, 100, 97)
  })
})

describe('keys', () => {
  const places: [string, (key: string) => ReturnType<typeof send>][] = [
    ['Authorization: Bearer', (key) => check('ip', clean, { headers: { authorization: `Bearer ${key}` } })],
    ['authorization in lower case', (key) => check('ip', clean, { headers: { authorization: `bearer  ${key} ` } })],
    ['X-API-Key', (key) => check('domain', 'example.com', { headers: { 'x-api-key': key } })],
    ['?api_key=', (key) => send(`/ip?target=${clean}&api_key=${key}`)],
    [
      'X-API-Key beside the Basic of a proxy',
      (key) => check('ip', clean, { headers: { authorization: 'Basic dTpw', 'x-api-key': key } }),
    ],
    ['the body of a bulk check', (key) => bulk({ targets: [clean], api_key: key })],
    ['the header of a bulk check', (key) => bulk({ targets: [clean] }, { 'x-api-key': key })],
    ['the Bearer of a bulk check', (key) => bulk({ targets: [clean] }, { authorization: `Bearer ${key}` })],
  ]

  test.each(places)('of the pro plan count per organization: %s', async (_, ask) => {
    const answer = await ask(pro.key)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-limit')).toBe('1000')
  })

  test.each(places)('that are invalid are rejected: %s', async (_, ask) => {
    expect(codeOf(await ask('ac_wrong'))).toBe('401 INVALID_API_KEY')
    expect(codeOf(await ask('x'.repeat(10_000)))).toBe('401 INVALID_API_KEY')
  })

  test('without the pro plan allow single checks, which count by address', async () => {
    const client = fresh()
    const headers = { 'x-api-key': free.key }
    expectLimit((await check('ip', clean, { client, headers })).headers, 100, 99)
    expectLimit((await check('ip', clean, { client })).headers, 100, 98)
  })

  test('are invalid as soon as they are revoked', async () => {
    const { data } = await post(url, {
      key: pro.key,
      query:
        'mutation { createApiKey(input: { name: "Short-lived", scope: READ }) { ... on CreateApiKeyPayload { id secret } } }',
    })
    const { id, secret } = (data?.['createApiKey'] ?? {}) as { id?: string; secret: string }
    const headers = { 'x-api-key': secret }
    expect((await check('ip', clean, { headers })).status).toBe(200)
    await post(url, {
      key: pro.key,
      query: 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { __typename } }',
      variables: { id },
    })
    expect(codeOf(await check('ip', clean, { headers }))).toBe('401 INVALID_API_KEY')
    expect(codeOf(await bulk({ targets: [clean], api_key: secret }))).toBe('401 INVALID_API_KEY')
  })

  test.each([
    ['Basic credentials', { authorization: 'Basic dXNlcjpwYXNz' }, 200],
    ['Digest credentials', { authorization: 'Digest username="x", realm="y"' }, 200],
    ['an empty Authorization', { authorization: '' }, 200],
    ['Bearer without a token', { authorization: 'Bearer ' }, 401],
    ['Bearer with two tokens', { authorization: 'Bearer a b' }, 200],
    ['an empty X-API-Key', { 'x-api-key': '' }, 401],
  ])('%s: %#', async (_, headers, status) => {
    expect((await check('ip', clean, { headers })).status).toBe(status)
  })

  test('in the URL take precedence over headers, and Authorization over X-API-Key', async () => {
    const headers = { authorization: `Bearer ${pro.key}`, 'x-api-key': 'ac_wrong' }
    expect((await check('ip', clean, { headers })).status).toBe(200)
    expect((await send(`/ip?target=${clean}&api_key=ac_wrong`, { headers })).status).toBe(401)
    const twice = await sendRaw(
      url,
      `GET /api/blacklist-monitor/ip?target=${clean} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${pro.key}\r\nX-API-Key: ${pro.key}\r\nConnection: close\r\n\r\n`,
    )
    expect(twice).toMatch(/^HTTP\/1.1 401 /)
  })
})

describe('a bulk check', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `198.51.100.${(index % 60) + 1}`)
  const asPro = (targets: unknown) => bulk({ targets, api_key: pro.key })

  test.each([1, 20])('of %i targets keeps their order and counts as one check', async (count) => {
    const before = Number((await asPro([clean])).headers.get('x-ratelimit-remaining'))
    const { status, json, headers } = await asPro(many(count))
    expect(status).toBe(200)
    expectShape(bulkJson, json)
    expect(json.map(({ target }: { target: string }) => target)).toEqual(many(count))
    expect(Number(headers.get('x-ratelimit-remaining'))).toBe(before - 1)
  })

  test.each([
    [0, '400 NO_TARGETS'],
    [21, '400 TOO_MANY_TARGETS'],
    [3000, '400 TOO_MANY_TARGETS'],
  ])('of %i targets is rejected: %s', async (count, expected) => {
    const refused = await asPro(many(count))
    expect(codeOf(refused)).toBe(expected)
    expect(refused.headers.get('x-ratelimit-limit')).toBe('1000')
  })

  test('of 10,000 targets is rejected for its size, or for their number if they are short', async () => {
    expect(codeOf(await asPro(many(10_000)))).toBe('413 PAYLOAD_TOO_LARGE')
    expect(codeOf(await asPro(Array.from({ length: 10_000 }, () => 'a')))).toBe('400 TOO_MANY_TARGETS')
  })

  test('accepts addresses, domains, duplicates, and invalid targets, which do not affect the others', async () => {
    const targets = [
      listed,
      'mail.example.com',
      listed,
      'nonsense',
      '',
      '10.0.0.1',
      'a@b.example',
      '\ud800',
      'é'.repeat(300),
    ]
    const { status, json } = await asPro(targets)
    expect(status).toBe(200)
    expectShape(bulkJson, json)
    expect(
      json.map((item: { target_type?: string; error?: { code: string } }) => item.target_type ?? item.error?.code),
    ).toEqual([
      'ip',
      'domain',
      'ip',
      'INVALID_TARGET',
      'MISSING_TARGET',
      'TARGET_NOT_PUBLIC',
      'INVALID_TARGET',
      'INVALID_TARGET',
      'INVALID_TARGET',
    ])
    expect(json[3]).toEqual({ target: 'nonsense', error: { code: 'INVALID_TARGET', message: expect.any(String) } })
    expect(json[8].target).toHaveLength(253)
  })

  test.each(['1', 'null', 'true', '{"toString":1}', '["203.0.113.7"]', `${'['.repeat(10_000)}${']'.repeat(10_000)}`])(
    'with an item that is not a string is rejected as a whole and costs nothing',
    async (item) => {
      const before = (await bulk('{', { 'x-api-key': pro.key })).headers.get('x-ratelimit-remaining')
      const refused = await bulk(`{"api_key":"${pro.key}","targets":["${clean}",${item}]}`, { 'x-api-key': pro.key })
      expect(codeOf(refused)).toBe('400 INVALID_TARGET')
      expect(refused.json.error.message).toBe('targets[1] must be a string.')
      expect(refused.headers.get('x-ratelimit-remaining')).toBe(before)
    },
  )

  test.each([
    ['{', '400 INVALID_JSON'],
    ['', '400 INVALID_JSON'],
    ['null', '400 INVALID_JSON'],
    ['[]', '400 INVALID_JSON'],
    ['"text"', '400 INVALID_JSON'],
    [`${'['.repeat(30_000)}`, '400 INVALID_JSON'],
    ['{}', '400 NO_TARGETS'],
    ['{"targets":"203.0.113.7"}', '400 NO_TARGETS'],
    ['{"targets":{"0":"203.0.113.7","length":1}}', '400 NO_TARGETS'],
    ['{"targets":["203.0.113.7"],"api_key":7}', '401 INVALID_API_KEY'],
    ['{"targets":["203.0.113.7"],"api_key":""}', '401 INVALID_API_KEY'],
    ['{"targets":["203.0.113.7"]}', '401 API_KEY_REQUIRED'],
    ['{"targets":[]}', '401 API_KEY_REQUIRED'],
    ['{"__proto__":{"targets":["203.0.113.7"],"api_key":"x"}}', '400 NO_TARGETS'],
  ])('with the body %j is rejected: %s', async (body, expected) => {
    const refused = await bulk(body)
    expect(codeOf(refused)).toBe(expected)
    expectLimit(refused.headers, 100, 100)
    expect(refused.headers.get('cache-control')).toBe('no-store')
  })

  test('with an invalid body shows the remaining quota of the key in its headers', async () => {
    const limitOf = async (key: string) => (await bulk('{', { 'x-api-key': key })).headers.get('x-ratelimit-limit')
    expect([await limitOf(pro.key), await limitOf(free.key), await limitOf('ac_wrong')]).toEqual(['1000', '100', '100'])
  })

  test('requires the pro plan', async () => {
    const refused = await bulk({ targets: [clean], api_key: free.key })
    expect(codeOf(refused)).toBe('403 PRO_PLAN_REQUIRED')
    expectLimit(refused.headers, 100, 100)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json5', 'application/jsonp', ''])(
    'sent as %j is refused: 415',
    async (type) => {
      expect(codeOf(await bulk({ targets: [clean], api_key: pro.key }, { 'content-type': type }))).toBe(
        '415 UNSUPPORTED_MEDIA_TYPE',
      )
    },
  )

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    'may be sent as %j',
    async (type) => {
      expect((await bulk({ targets: [clean], api_key: pro.key }, { 'content-type': type })).status).toBe(200)
    },
  )

  test('accepts a body of at most 64 KiB, with or without Content-Length', async () => {
    const bodyOf = (size: number) => JSON.stringify({ targets: [clean], api_key: pro.key }).padEnd(size)
    const chunked = (size: number) =>
      send('/bulk', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Blob([bodyOf(size)]).stream(),
        duplex: 'half',
      } as RequestInit)
    expect((await bulk(bodyOf(65_536))).status).toBe(200)
    expect((await chunked(65_536)).status).toBe(200)
    for (const refused of [await bulk(bodyOf(65_537)), await chunked(65_537)]) {
      expect(codeOf(refused)).toBe('413 PAYLOAD_TOO_LARGE')
      expectLimit(refused.headers, 100, 100)
    }
  })

  test('with an endless body is rejected early', async () => {
    const socket = await connected(url)
    socket.on('error', () => undefined)
    socket.write(
      'POST /api/blacklist-monitor/bulk HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const answered = new Promise<string>((resolve) => socket.setEncoding('utf8').once('data', resolve))
    socket.write(chunk)
    socket.write(chunk)
    expect(await answered).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  })
})

test('accepts a request target in absolute form (RFC 9112 §3.2.2), but not a path with two leading slashes', async () => {
  const ask = (target: string) => sendRaw(url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const path = `/api/blacklist-monitor/ip?target=${clean}`
  expect(await ask(`http://x${path}`)).toMatch(/^HTTP\/1.1 200 .*"target":"198\.51\.100\.1"/s)
  expect(await ask(`//any.example${path}`)).toMatch(/^HTTP\/1.1 404 /)
})

describe('cross-origin scripts', () => {
  test('may read every response of the GET routes with its rate-limit headers', async () => {
    for (const { headers } of [
      await check('ip', clean),
      await check('domain', 'nonsense'),
      await check('ip', cursed),
    ]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toContain('RateLimit')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test('may send their key after a preflight', async () => {
    const { status, headers } = await send('/ip', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://other.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toBe('GET')
    expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization')
  })

  test('may use bulk checks after a preflight', async () => {
    const { status, headers } = await send('/bulk', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://other.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toBe('Authorization, Content-Type, X-API-Key')
    for (const body of [{}, { targets: [clean], api_key: pro.key }]) {
      expect((await bulk(body)).headers.get('access-control-allow-origin')).toBe('*')
    }
  })
})

test('a check ends when its client disconnects, without waiting for queries', async () => {
  const target = '198.51.100.200'
  const name = '200.100.51.198.zen.spamhaus.org'
  const asked = () => dns.queries.filter((query) => query.name === name).length
  const gate = createGate()
  dns.behave(async (query) => {
    if (query.name === name) await gate.opened
    return behaviour(query)
  })
  const before = dns.queries.length
  const leaving = new AbortController()
  const left = fetch(`${url}/api/blacklist-monitor/ip?target=${target}`, { signal: leaving.signal })
  await dns.seen(before + 6)
  leaving.abort()
  await expect(left).rejects.toThrow()
  for (let trip = 0; trip < 3; trip++) await fetch(`${url}/healthz`)
  const askedBefore = asked()
  gate.open()
  expect((await check('ip', target)).json.failed_count).toBe(0)
  expect(asked()).toBe(askedBefore + 1)
  dns.behave(behaviour)
})

test('every route answers any text as a target with a report or an error with a known code', async () => {
  const known = new Set(['MISSING_TARGET', 'INVALID_TARGET', 'TARGET_NOT_PUBLIC'])
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefx.:%[]/-@é１。 \u0000') }),
    fc.domain(),
    fc.ipV4(),
    fc.ipV6(),
    fc.webUrl(),
    fc.emailAddress(),
  )
  const headers = { 'x-api-key': pro.key }
  await fc.assert(
    fc.asyncProperty(odd, fc.constantFrom('ip' as const, 'domain' as const), async (text, kind) => {
      const query = new URLSearchParams({ target: text })
      const { status, json } = await send(`/${kind}?${query}`, { headers })
      if (status === 200) expectShape(kind === 'ip' ? ipReportJson : domainReportJson, json)
      else {
        expect(status).toBe(400)
        expect(known).toContain(json.error.code)
      }
    }),
    runs(50, 150),
  )
})
