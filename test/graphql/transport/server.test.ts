// @slow
import type { Socket } from 'node:net'
import { getIntrospectionQuery } from 'graphql'
import pino from 'pino'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { blacklists } from '../../../src/blacklist/list.ts'
import { testApp } from '../../support/app.ts'
import { createGate, startDnsServer } from '../../support/dns-server.ts'
import {
  liveTransports,
  newOrganization,
  post,
  type Result,
  transports,
  websocketClient,
} from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

/** A target that fails for one list: an internal error. */
const cursed = '198.51.100.66'
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
const logged: string[] = []
const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({
  dns,
  lists,
  log: pino({ level: 'error' }, { write: (line: string) => logged.push(line) }),
})
const { key } = await newOrganization(url, { pro: true })

/** Returns the code of each error. */
const codesOf = (results: readonly Result[]) =>
  results.flatMap(({ errors }) => errors ?? []).map(({ extensions }) => extensions?.['code'])

async function used(): Promise<unknown> {
  return (await post(url, { key, query: '{ organization { usage { checks { used } } } }' })).data
}

const times = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, n) => of(n))
const creating = 'mutation ($input: CreateMonitorsInput!) { createMonitors(input: $input) { __typename } }'
const subscribing = 'mutation ($input: SubscribeInput!) { subscribe(input: $input) { __typename } }'
const reading = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
const introspecting =
  'query ($deprecated: Boolean) { __type(name: "Query") { fields(includeDeprecated: $deprecated) { name } } }'
const wide = (count: number) => Object.fromEntries(times(count, (n) => [`nam${n}`, 1]))

/** Documents, their variables, and the code of the only error. */
const hostileVariables: readonly (readonly [string, string, Record<string, unknown>, string])[] = [
  ['an object of 8,999 unknown members', creating, { input: { items: [wide(8999)] } }, 'OPERATION_TOO_LARGE'],
  ['unknown members in many objects', creating, { input: { items: times(90, () => wide(90)) } }, 'BAD_USER_INPUT'],
  ['40,000 empty objects', creating, { input: { items: times(40_000, () => ({})) } }, 'OPERATION_TOO_LARGE'],
  ['an unknown member of 120,000 letters', creating, { input: { ['n'.repeat(120_000)]: 1 } }, 'BAD_USER_INPUT'],
  ['a text of 100,000 letters in place of an object', creating, { input: 'x'.repeat(100_000) }, 'BAD_USER_INPUT'],
  ['9,000 unknown topics', subscribing, { input: { topics: times(9000, (n) => `INCIDEN${n}`) } }, 'BAD_USER_INPUT'],
  ['lists in place of ids', reading, { ids: times(5000, () => [[]]) }, 'OPERATION_TOO_LARGE'],
  ['objects in place of ids', reading, { ids: times(90, () => wide(90)) }, 'BAD_USER_INPUT'],
  ['members of a truth value', introspecting, { deprecated: wide(90) }, 'BAD_USER_INPUT'],
  ['members that no variable needs', '{ __typename }', { more: times(20_000, () => ({})) }, 'OPERATION_TOO_LARGE'],
]

describe.each(transports)('over $name', ({ run }) => {
  test('masks an unexpected error and logs it with the returned id', async () => {
    const results = await run(url, { key, query: `{ checkIp(target: "${cursed}") { __typename } }` })
    expectMasked(results)
    expect(results[0]?.errors?.[0]).toMatchObject({ path: ['checkIp'] })
  })

  test('reports syntax errors and unknown fields', async () => {
    expect((await run(url, { query: '{' }))[0]?.errors?.[0]?.message).toMatch(/^Syntax Error/)
    expect((await run(url, { query: '{ nothing }' }))[0]?.errors?.[0]?.message).toMatch(/Cannot query field/)
    expect((await run(url, { query: '{ nodes { id } }' }))[0]?.errors?.[0]?.message).toMatch(/required/)
  })

  test('allows introspection', async () => {
    const [result] = await run(url, { query: getIntrospectionQuery() })
    expect(result?.errors).toBeUndefined()
    expect(result?.data?.['__schema']).toMatchObject({
      queryType: { name: 'Query' },
      subscriptionType: { name: 'Subscription' },
    })
  })

  test('rejects an expensive operation before execution', async () => {
    const before = await used()
    const checks = (count: number) =>
      Array.from({ length: count }, (_, index) => `c${index}: checkIp(target: "198.51.100.1") { __typename }`).join(' ')
    const keys = (count: number) =>
      Array.from(
        { length: count },
        (_, index) => `k${index}: organization { apiKeys(first: 100) { edges { node { id name scope prefix } } } }`,
      ).join(' ')
    for (const query of [`{ ${checks(301)} }`, `{ ${keys(160)} }`]) {
      const [result, ...more] = await run(url, { key, query })
      expect(more).toEqual([])
      expect(new Set(codesOf([result ?? {}]))).toEqual(new Set(['OPERATION_TOO_LARGE']))
    }
    expect(await used()).toEqual(before)
  })

  test('allows a small organization what would be too much for a large one', async () => {
    const { slug } = await newOrganization(url)
    const days = 'services { days(n: 90) { date percentage } }'
    const named = `query ($slug: String!) { statusPage(slug: $slug) { ${days} } }`
    const [result] = await run(url, { query: named, variables: { slug } })
    expect(result).toMatchObject({ data: { statusPage: { services: [] } } })
    const beside = `query ($slug: String!) { statusPage(slug: $slug) { ${days} } blacklists { name } }`
    const [refused] = await run(url, { query: beside, variables: { slug } })
    expect(codesOf([refused ?? {}])).toEqual(['OPERATION_TOO_LARGE'])
    // Objects beyond the number that is looked up cannot hide a large organization among small ones.
    const objects = (count: number) => Array.from({ length: count }, (_, index) => `"inc_${index}"`).join(' ')
    const many = `query ($slug: String!) { statusPage(slug: $slug) { ${days} } a: nodes(ids: [${objects(100)}]) { id } b: nodes(ids: [${objects(100)}]) { id } }`
    const [known] = await run(url, { query: many, variables: { slug } })
    expect(codesOf([known ?? {}])).toEqual([])
    const extra = many.replace('"inc_99"', '"inc_100"')
    const [hidden] = await run(url, { query: extra, variables: { slug } })
    expect(codesOf([hidden ?? {}])).toEqual(['OPERATION_TOO_LARGE'])
  })

  test.each([
    ['of more than 4000 tokens', `{ ${'__typename '.repeat(4001)} }`],
    [
      'with circular introspection',
      `{ __schema { types ${'{ fields { type '.repeat(5)} { name } ${'} }'.repeat(5)} } }`,
    ],
  ])('rejects a document %s', async (_, query) => {
    const [result] = await run(url, { query })
    expect(result?.data ?? null).toBeNull()
    expect(result?.errors?.length).toBeGreaterThan(0)
    expectNothingMasked(result)
  })

  test.each(hostileVariables)('refuses variables with %s at the first problem', async (_, query, variables, code) => {
    for (const caller of [undefined, key]) {
      const [result, ...more] = await run(url, { query, variables, key: caller })
      expect(more).toEqual([])
      expect(result?.data ?? null).toBeNull()
      expect(codesOf([result ?? {}])).toEqual([code])
      expect(JSON.stringify(result)).not.toContain('Did you mean')
      expect(JSON.stringify(result).length).toBeLessThan(1500)
    }
  })

  test('reports an argument that is null because of its variable', async () => {
    const query = `mutation ($input: CreateMonitorsInput = { items: [] }) { createMonitors(input: $input) { __typename } }`
    const [result] = await run(url, { key, query, variables: { input: null } })
    expect(codesOf([result ?? {}])).toEqual(['BAD_USER_INPUT'])
  })

  test.each([
    ['fields', '{ organizatio blacklist nodess }'],
    ['arguments', '{ nodes(idss: ["a"], id: "b") { id } }'],
    ['types', '{ ... on Quer { __typename } node(id: "a") { ... on Inciden { id } } }'],
    [
      'members and values',
      '{ organization { incidents(filter: { statu: RESOLVED, status: RESOLVE }) { totalCount } } }',
    ],
  ])('suggests no other %s, which would take long', async (_, query) => {
    const [result] = await run(url, { query })
    expect(new Set(codesOf([result ?? {}]))).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']))
    expect(JSON.stringify(result)).not.toContain('Did you mean')
  })

  test('computes the cost of nested fragments without expanding them', async () => {
    const fragments = Array.from(
      { length: 40 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    )
    const [result] = await run(url, {
      query: `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { blacklists { name } }`,
    })
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
  })

  test('merges thousands of repeated fields quickly', async () => {
    const [result] = await run(url, { query: `{ blacklists { ${'name '.repeat(3900)} } }` })
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
  })
})

describe.each(liveTransports)('a subscription over $name', ({ run }) => {
  test('masks an unexpected error', async () => {
    expectMasked(await run(url, { key, query: `subscription { checkProgress(target: "${cursed}") { __typename } }` }))
  })

  test.each([
    [
      'of a visitor that is shared',
      'subscription ($slug: String!) { statusPageEvents(slug: $slug) { cursor } }',
      'slug',
    ],
    ['of a check', 'subscription ($target: String!) { checkProgress(target: $target) { __typename } }', 'target'],
  ])('%s refuses hostile variables', async (_, query, name) => {
    for (const [value, code] of [
      [wide(90), 'BAD_USER_INPUT'],
      [wide(9000), 'OPERATION_TOO_LARGE'],
      ['a\0b', 'BAD_USER_INPUT'],
    ] as const) {
      const [result, ...more] = await run(url, { query, variables: { [name]: value } })
      expect(more).toEqual([])
      expect(codesOf([result ?? {}])).toEqual([code])
    }
  })

  test('is rejected for its cost before its check is counted', async () => {
    const before = await used()
    const lists = Array.from({ length: 40 }, (_, index) => `r${index}: results { name }`).join(' ')
    const reports = Array.from({ length: 90 }, (_, index) => `t${index}: ipReports { ...Results }`).join(' ')
    const results = await run(url, {
      key,
      query: `subscription { checkProgress(target: "198.51.100.1") { ... on DomainReport { ${reports} } } }
        fragment Results on IpReport { ${lists} }`,
    })
    expect(codesOf(results)).toEqual(['OPERATION_TOO_LARGE'])
    expect(await used()).toEqual(before)
  })
})

function expectMasked(results: readonly Result[]) {
  const errors = results.flatMap(({ errors }) => errors ?? [])
  expect(errors).toMatchObject([
    { message: 'An unexpected error occurred on the server.', extensions: { code: 'INTERNAL' } },
  ])
  expect(JSON.stringify(results)).not.toContain('secret detail')
  const errorId = errors[0]?.extensions?.['errorId']
  expect(logged.find((line) => line.includes(String(errorId)))).toContain('a secret detail')
}

function expectNothingMasked(result: Result | undefined) {
  expect(codesOf([result ?? {}])).not.toContain('INTERNAL')
}

describe('over HTTP', () => {
  const send = (init: RequestInit & { readonly query?: string }) => fetch(`${url}/graphql${init.query ?? ''}`, init)
  const json = { 'content-type': 'application/json' }

  test('missing and insufficient keys set the status', async () => {
    expect((await post(url, { query: '{ organization { id } }' })).status).toBe(401)
    expect((await post(url, { query: '{ blacklists { name } }', key: 'ac_wrong' })).status).toBe(401)
    expect(
      (
        await post(url, {
          query: 'mutation { setTier(input: { organizationId: "x", tier: PRO }) { __typename } }',
          key,
        })
      ).status,
    ).toBe(403)
  })

  test('GET runs queries but not mutations', async () => {
    const get = (query: string) =>
      send({ query: `?query=${encodeURIComponent(query)}`, headers: { accept: 'application/json' } })
    expect(await (await get('{ blacklists { name } }')).json()).toHaveProperty('data.blacklists')
    expect((await get('mutation { revokeApiKey(input: { id: "x" }) { __typename } }')).status).toBe(405)
  })

  test('batches are rejected', async () => {
    const response = await send({ method: 'POST', headers: json, body: JSON.stringify([{ query: '{ __typename }' }]) })
    expect(response.status).toBe(400)
  })

  test.each([
    ['no JSON', '{'],
    ['a text', '"{ __typename }"'],
    ['a query that is no text', '{"query":7}'],
    ['variables that are no object', '{"query":"{ __typename }","variables":"x"}'],
  ])('%s gets 400 and an error', async (_, body) => {
    const response = await send({ method: 'POST', headers: json, body })
    expect(response.status).toBe(400)
    expect(await response.json()).toHaveProperty('errors')
  })

  test('a prototype to pollute is an unknown member, and pollutes nothing', async () => {
    const body = '{"query":"{ a }","__proto__":{"polluted":1},"variables":{"__proto__":{"polluted":1}}}'
    expect(await (await send({ method: 'POST', headers: json, body })).json()).toHaveProperty('errors')
    expect({}).not.toHaveProperty('polluted')
  })

  test.each(['{', '{"query":"{ __typename }",}', 'secret'])(
    'a body that is not JSON, %s, is not quoted',
    async (body) => {
      const response = await send({ method: 'POST', headers: json, body })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        errors: [{ message: 'The body is not valid JSON.', extensions: { code: 'BAD_REQUEST' } }],
      })
    },
  )

  test('a body over 128 KiB is rejected, with and without Content-Length', async () => {
    const body = JSON.stringify({ query: `{ __typename } #${'x'.repeat(130 * 1024)}` })
    expect((await send({ method: 'POST', headers: json, body })).status).toBe(413)
    const stream = new Blob([body]).stream()
    expect((await send({ method: 'POST', headers: json, body: stream, duplex: 'half' } as RequestInit)).status).toBe(
      413,
    )
  })

  test('CORS allows other sites, without credentials', async () => {
    const { headers } = await send({
      method: 'OPTIONS',
      headers: {
        origin: 'https://other.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization',
      },
    })
    expect(['*', 'https://other.example']).toContain(headers.get('access-control-allow-origin'))
    expect(headers.get('access-control-allow-credentials')).not.toBe('true')
    expect(headers.get('access-control-allow-headers')).toContain('authorization')
  })

  test('browsers get GraphiQL, which loads nothing from other hosts', async () => {
    const response = await send({ headers: { accept: 'text/html' } })
    const page = await response.text()
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(page).toContain('Allclear GraphiQL')
    expect(page).not.toMatch(/(src|href)="?(https?:)?\/\//)
  })
})

describe('over websocket', () => {
  const sockets: WebSocket[] = []
  const complaints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')]
  afterAll(() => {
    for (const socket of sockets) socket.terminate()
    for (const complaint of complaints) complaint.mockRestore()
  })

  /** A raw connection: its messages, and how it is closed. */
  async function open(protocols = ['graphql-transport-ws']) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, protocols)
    sockets.push(socket)
    const messages: { type: string; id?: string; payload?: unknown }[] = []
    const readers = new Set<() => void>()
    socket.on('message', (data) => {
      messages.push(JSON.parse(String(data)))
      for (const read of readers) read()
    })
    const closed = new Promise<{ code: number; reason: string }>((resolve) =>
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    )
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.once('open', resolve))
    return {
      socket,
      messages,
      closed,
      send: (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
      received: (count: number) =>
        new Promise<void>((resolve) => {
          const read = () => messages.length >= count && resolve()
          readers.add(read)
          read()
        }),
    }
  }

  async function acknowledged(payload: object = { apiKey: key }) {
    const connection = await open()
    connection.send({ type: 'connection_init', payload })
    await connection.received(1)
    expect(connection.messages).toEqual([{ type: 'connection_ack' }])
    return connection
  }
  const subscribe = (id: string, query: string) => ({ id, type: 'subscribe', payload: { query } })

  test('errors of one operation do not affect the connection or its other operations', async () => {
    const { send, messages, received, socket } = await acknowledged()
    const gate = createGate()
    dns.behave(async (query) => {
      if (query.name.startsWith('81.')) await gate.opened
      return scriptedLists()(query)
    })
    send(subscribe('live', 'subscription { checkProgress(target: "198.51.100.81") { __typename } }'))
    send(subscribe('syntax', '{'))
    send(subscribe('unknown', '{ nothing }'))
    send(subscribe('operation', 'query A { __typename } query B { __typename }'))
    send(subscribe('broken', `{ checkIp(target: "${cursed}") { __typename } }`))
    await received(6)
    const answered = messages.slice(1).map(({ id, type }) => `${id} ${type}`)
    expect(answered.sort()).toEqual([
      'broken complete',
      'broken next',
      'operation error',
      'syntax error',
      'unknown error',
    ])
    gate.open()
    await received(6 + 8)
    expect(messages.filter(({ id }) => id === 'live').map(({ type }) => type)).toEqual([
      ...Array.from({ length: 7 }, () => 'next'),
      'complete',
    ])
    expect(socket.readyState).toBe(WebSocket.OPEN)
    dns.behave(scriptedLists())
  })

  test('a connection runs at most 50 concurrent operations', async () => {
    const { send, messages, received } = await acknowledged()
    const gate = createGate()
    dns.behave(async (query) => {
      if (query.name.startsWith('82.')) await gate.opened
      return scriptedLists()(query)
    })
    const check = '{ checkIp(target: "198.51.100.82") { __typename } }'
    for (let id = 0; id < 52; id++) send(subscribe(String(id), check))
    await received(3)
    expect(messages.slice(1)).toMatchObject(
      ['50', '51'].map((id) => ({ id, type: 'error', payload: [{ extensions: { code: 'TOO_MANY_OPERATIONS' } }] })),
    )
    gate.open()
    await received(3 + 100)
    send(subscribe('50', check))
    await received(3 + 102)
    expect(messages.at(-1)).toEqual({ id: '50', type: 'complete' })
    dns.behave(scriptedLists())
  })

  test.each([
    ['an operation before the acknowledgement', subscribe('1', '{ __typename }'), 4401],
    ['a message that is not JSON', '{', 4400],
    ['an unknown message', { type: 'hello' }, 4400],
    ['an acknowledgement, which only servers send', { type: 'connection_ack' }, 4400],
    ['a result, which only servers send', { type: 'next', id: '1', payload: { data: null } }, 4400],
    ['errors, which only servers send', { type: 'error', id: '1', payload: [{ message: 'x' }] }, 4400],
    ['a message of more than 128 KiB', { type: 'connection_init', payload: { apiKey: 'x'.repeat(130 * 1024) } }, 1009],
    ['an invalid key', { type: 'connection_init', payload: { apiKey: 'ac_wrong' } }, 4403],
    ['a key that is not a string', { type: 'connection_init', payload: { apiKey: 7 } }, 4403],
    [
      'an invalid key within headers',
      { type: 'connection_init', payload: { headers: { Authorization: 'Bearer ac_wrong' } } },
      4403,
    ],
    ['an unknown spelling of a key', { type: 'connection_init', payload: { authToken: 'ac_any' } }, 4400],
    ['an unknown member', { type: 'connection_init', payload: { foo: 1 } }, 4400],
    ['parameters that are a list', { type: 'connection_init', payload: ['ac_any'] }, 4400],
    ['an invalid key as a header', { type: 'connection_init', payload: { authorization: 'Bearer ac_wrong' } }, 4403],
  ])('%s closes the connection', async (_, message, code) => {
    const connection = await open()
    connection.send(message)
    expect((await connection.closed).code).toBe(code)
  })

  test('a client without the subprotocol is disconnected', async () => {
    const connection = await open([])
    expect((await connection.closed).code).toBe(4406)
  })

  test('a connection needs no key, and a repeated connection_init closes it', async () => {
    const connection = await acknowledged({})
    connection.send({ type: 'connection_init' })
    expect((await connection.closed).code).toBe(4429)
  })

  test('a duplicate operation id closes the connection', async () => {
    const connection = await acknowledged()
    dns.behave(() => [])
    for (let time = 0; time < 2; time++)
      connection.send(subscribe('1', '{ checkIp(target: "198.51.100.83") { __typename } }'))
    expect((await connection.closed).code).toBe(4409)
    dns.behave(scriptedLists())
  })

  test('an id that is too long for a close reason still closes the connection', async () => {
    const connection = await acknowledged()
    dns.behave(() => [])
    const id = 'é'.repeat(500)
    for (let time = 0; time < 2; time++)
      connection.send(subscribe(id, '{ checkIp(target: "198.51.100.84") { __typename } }'))
    expect(await connection.closed).toEqual({ code: 4409, reason: '' })
    dns.behave(scriptedLists())
  })

  test.each([
    ['that is not masked', [0x81, 0x02, 0x61, 0x61], 1002],
    ['with reserved bits', [0xf1, 0x82, 0, 0, 0, 0, 0x61, 0x61], 1002],
    ['of text that is no UTF-8', [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe], 1007],
  ])('a frame %s closes the connection', async (_, bytes, code) => {
    const connection = await open()
    const { _socket: bare } = connection.socket as unknown as { _socket: Socket }
    bare.write(Buffer.from(bytes))
    expect((await connection.closed).code).toBe(code)
  })

  test('a client that sends without reading is disconnected', async () => {
    const { socket, closed } = await acknowledged()
    socket.pause()
    const id = 'x'.repeat(100_000)
    for (let sent = 0; sent < 1000 && socket.readyState === WebSocket.OPEN; sent++) {
      await new Promise((resolve) => socket.send(JSON.stringify(subscribe(`${sent}${id}`, '{')), resolve))
    }
    expect(socket.readyState).not.toBe(WebSocket.OPEN)
    socket.resume()
    await closed
  })

  test('a graphql-ws client without a key can run public operations', async () => {
    const client = websocketClient(url)
    const { value } = await client.iterate({ query: '{ blacklists { kind } }' }).next()
    expect(value).toHaveProperty('data.blacklists')
    await client.dispose()
  })

  test('none of this is written to the console or logged as an error', () => {
    for (const complaint of complaints) expect(complaint).not.toHaveBeenCalled()
    expect(logged.filter((line) => line.includes('websocket'))).toEqual([])
  })
})

describe('bodies that any site can send without a preflight', () => {
  const send = (type: string | null, body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      // Bytes, because fetch sets a media type for a text.
      body: new TextEncoder().encode(body),
      headers: { origin: 'https://elsewhere.example', ...headers, ...(type !== null && { 'content-type': type }) },
    })
  const mutation = 'mutation { unsubscribe(input: { token: "none" }) { __typename } }'
  const json = JSON.stringify({ query: mutation })
  const form = new URLSearchParams({ query: mutation }).toString()
  const part = `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${json}\r\n--x--\r\n`

  test.each([
    ['application/x-www-form-urlencoded', form],
    ['application/x-www-form-urlencoded; charset=utf-8', form],
    ['APPLICATION/X-WWW-FORM-URLENCODED', form],
    ['multipart/form-data; boundary=x', part],
    ['text/plain', json],
    ['text/plain; application/json', json],
    ['text/plain, application/json', json],
    ['application/graphql', mutation],
    ['application/jsonp', json],
    [null, json],
  ])('%s gets 415 with a code', async (type, body) => {
    const response = await send(type, body)
    const { errors } = (await response.json()) as Result
    expect([response.status, errors?.map(({ extensions }) => extensions)]).toEqual([
      415,
      [{ code: 'UNSUPPORTED_MEDIA_TYPE' }],
    ])
    expect(response.headers.get('access-control-allow-origin')).toMatch(/^(\*|https:\/\/elsewhere.example)$/)
  })

  test('the error has the media type that the caller accepts', async () => {
    const response = await send('text/plain', json, { accept: 'application/graphql-response+json' })
    expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8')
  })

  test.each(['application/json', 'application/graphql+json', 'application/json; charset=utf-8'])(
    '%s is accepted',
    async (type) => {
      const response = await send(type, JSON.stringify({ query: '{ __typename }' }))
      expect([response.status, await response.json()]).toEqual([200, { data: { __typename: 'Query' } }])
    },
  )

  test('a mutation over GET is rejected', async () => {
    const response = await fetch(`${url}/graphql?${form}`)
    expect(response.status).toBe(405)
  })
})
