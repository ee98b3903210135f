import { execute, GraphQLEnumType, GraphQLObjectType, GraphQLSchema, parse } from 'graphql'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { RateLimited } from '../../../src/core/errors.ts'
import { maskError } from '../../../src/graphql/schema/errors.ts'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, type Operation, type Result, websocketClient } from '../../support/graphql-client.ts'
import { silent } from '../../support/scratch.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const logged: string[] = []
const { baseUrl: url } = await testApp({
  dns: await startDnsServer(scriptedLists()),
  log: pino({ level: 'error' }, { write: (line: string) => logged.push(line) }),
})
const { slug, key } = await newOrganization(url)

interface Request extends Operation {
  readonly operationName?: string
}

interface Answer {
  /** Null over the websocket. */
  readonly status: number | null
  readonly headers: Headers | null
  readonly result: Result
}

interface Way {
  readonly name: string
  /** Which of a case's statuses it returns. */
  readonly statuses: 'json' | 'strict' | null
  send(request: Request): Promise<Answer>
}

const JSON_TYPE = 'application/json'
const STRICT = 'application/graphql-response+json'
const EVENTS = 'text/event-stream'

const credential = (sent: string | undefined): Record<string, string> =>
  sent === undefined ? {} : { authorization: `Bearer ${sent}` }

async function answerOf(response: Response, accept: string): Promise<Answer> {
  const text = await response.text()
  const data = accept === EVENTS ? (/^event: next\ndata: (.*)$/m.exec(text)?.[1] ?? text) : text
  return { status: response.status, headers: response.headers, result: JSON.parse(data) as Result }
}

const overPost = (accept: string, statuses: Way['statuses']): Way => ({
  name: `POST, ${accept}`,
  statuses,
  async send({ key: sent, ...body }) {
    const headers = { 'content-type': JSON_TYPE, accept, ...credential(sent) }
    return answerOf(await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) }), accept)
  },
})

const overGet = (accept: string, statuses: Way['statuses']): Way => ({
  name: `GET, ${accept}`,
  statuses,
  async send({ query, variables, operationName, key: sent }) {
    const params = new URLSearchParams({ query })
    if (variables) params.set('variables', JSON.stringify(variables))
    if (operationName) params.set('operationName', operationName)
    return answerOf(await fetch(`${url}/graphql?${params}`, { headers: { accept, ...credential(sent) } }), accept)
  },
})

const overWebsocket: Way = {
  name: 'websocket',
  statuses: null,
  async send({ key: sent, query, variables, operationName }) {
    const client = websocketClient(url, sent === undefined ? undefined : { apiKey: sent })
    const answer = (result: Result) => ({ status: null, headers: null, result })
    try {
      const request = { query, ...(variables && { variables }), ...(operationName && { operationName }) }
      for await (const result of client.iterate(request)) return answer(result as Result)
      throw new Error('There was no answer.')
    } catch (errors) {
      // The protocol's `error` message.
      if (!Array.isArray(errors)) throw errors
      return answer({ errors })
    } finally {
      await client.dispose()
    }
  },
}

const ways: readonly Way[] = [
  overPost(JSON_TYPE, 'json'),
  overPost(STRICT, 'strict'),
  overPost(EVENTS, null),
  overGet(JSON_TYPE, 'json'),
  overGet(STRICT, 'strict'),
  overGet(EVENTS, null),
  overWebsocket,
]

const codesOf = ({ errors }: Result) => (errors ?? []).map(({ extensions }) => extensions?.['code'])
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
const inOrder = `query ($direction: OrderDirection = ASC) {
  organization { services(orderBy: { field: NAME, direction: $direction }) { totalCount } }
}`

interface Refused {
  readonly what: string
  readonly request: Request
  readonly code: string
  /** In `application/json` and in `application/graphql-response+json`. */
  readonly json: number
  readonly strict: number
  /** Too long for a URL. */
  readonly long?: boolean
}

const parsing = { code: 'GRAPHQL_PARSE_FAILED', json: 200, strict: 400 }
const validating = { code: 'GRAPHQL_VALIDATION_FAILED', json: 200, strict: 400 }
const input = { code: 'BAD_USER_INPUT', json: 200, strict: 400 }

const refused: readonly Refused[] = [
  { what: 'a document that ends early', request: { query: '{' }, ...parsing },
  { what: 'an empty document', request: { query: ' ' }, ...parsing },
  { what: 'a character that means nothing', request: { query: '{ % }' }, ...parsing },
  { what: 'a list 201 levels deep', request: { query: `{ a(b: ${nested(199, '[', ']')}) }` }, ...parsing },
  {
    what: 'a value of 20,000 brackets',
    request: { query: `{ a(b: ${nested(10_000, '[', ']')}) }` },
    ...parsing,
    long: true,
  },
  { what: 'brackets that never close', request: { query: `{ a(b: ${'['.repeat(20_000)}` }, ...parsing, long: true },
  { what: 'objects nested 1,900 levels', request: { query: `{ a(b: ${'{c:'.repeat(1900)}` }, ...parsing },
  { what: 'fields nested 1,900 levels', request: { query: nested(1900, '{a', '}') }, ...parsing },
  { what: 'a type nested 1,900 levels', request: { query: `query ($a: ${nested(1900, '[', ']')}) { a }` }, ...parsing },
  { what: 'more than 4,000 tokens', request: { query: `{ ${'a '.repeat(4001)} }` }, ...parsing },
  { what: 'an unknown field', request: { query: '{ nothing }' }, ...validating },
  { what: 'a missing argument', request: { query: '{ node { id } }' }, ...validating },
  { what: 'fragments in a circle', request: { query: '{ ...A } fragment A on Query { ...A }' }, ...validating },
  { what: 'a variable that is not declared', request: { query: '{ node(id: $id) { id } }' }, ...validating },
  {
    what: 'a literal that its scalar does not take',
    request: { query: 'mutation { createIncident(input: { title: "x", startedAt: "soon" }) { __typename } }' },
    ...validating,
  },
  { what: 'a variable that is missing', request: { query: 'query ($id: ID!) { node(id: $id) { id } }' }, ...input },
  {
    what: 'a variable of another type',
    request: { query: 'query ($id: ID!) { node(id: $id) { id } }', variables: { id: { a: 1 } } },
    ...input,
  },
  {
    what: 'a variable that its scalar does not take',
    request: {
      query: 'mutation ($input: CreateIncidentInput!) { createIncident(input: $input) { __typename } }',
      variables: { input: { title: 'x', message: 'x', status: 'RESOLVED', impact: 'NONE', startedAt: 'soon' } },
    },
    ...input,
  },
  {
    what: 'a variable that is no value of its enum',
    request: { query: inOrder, variables: { direction: 'SIDEWAYS' }, key },
    ...input,
  },
  {
    what: 'a null where the argument takes none',
    request: { query: inOrder, variables: { direction: null }, key },
    code: 'BAD_USER_INPUT',
    json: 200,
    strict: 200,
  },
  { what: 'an unknown operation', request: { query: 'query A { __typename }', operationName: 'B' }, ...input },
  { what: 'two operations, none named', request: { query: 'query A { __typename } query B { __typename }' }, ...input },
  { what: 'no operation at all', request: { query: 'fragment A on Query { __typename }' }, ...input },
  {
    what: 'too much at once',
    request: {
      query: `{ ${Array.from({ length: 301 }, (_, each) => `c${each}: checkIp(target: "198.51.100.1") { __typename }`).join(' ')} }`,
    },
    code: 'OPERATION_TOO_LARGE',
    json: 200,
    strict: 400,
    long: true,
  },
  {
    what: 'a page that is too large',
    request: { query: '{ organization { incidents(first: 101) { totalCount } } }', key },
    code: 'INVALID_INPUT',
    json: 200,
    strict: 200,
  },
  {
    what: 'a bad cursor',
    request: { query: '{ organization { incidents(after: "x") { totalCount edges { cursor } } } }', key },
    code: 'INVALID_INPUT',
    json: 200,
    strict: 200,
  },
  { what: 'no key', request: { query: '{ organization { id } }' }, code: 'UNAUTHENTICATED', json: 401, strict: 401 },
  {
    what: 'a key that may not do this',
    request: { query: '{ organizations { totalCount } }', key },
    code: 'FORBIDDEN',
    json: 403,
    strict: 403,
  },
]

describe.each(ways)('over $name', ({ name, statuses, send }) => {
  const applicable = refused.filter(({ request, long }) => {
    if (!name.startsWith('GET')) return true
    return long !== true && !request.query.startsWith('mutation')
  })

  test.each(applicable)('$what gets $code', async ({ request, code, ...expected }) => {
    const { status, result } = await send(request)
    expect(new Set(codesOf(result))).toEqual(new Set([code]))
    expect(result.data ?? null).toBeNull()
    for (const { extensions } of result.errors ?? []) expect(extensions).not.toHaveProperty('http')
    if (statuses !== null) expect(status).toBe(expected[statuses])
  })

  test('a forbidden field keeps the data of other fields', async () => {
    const query = `{ statusPage(slug: "${slug}") { name domain { name } } blacklists { __typename } }`
    const { status, headers, result } = await send({ query })
    expect(result.data).toMatchObject({ statusPage: { name: 'Acme', domain: null } })
    expect(result.data?.['blacklists']).toHaveProperty('0.__typename', 'Blacklist')
    expect(result.errors).toMatchObject([
      { path: ['statusPage', 'domain'], extensions: { code: 'UNAUTHENTICATED', reason: 'UNAUTHENTICATED' } },
    ])
    expect(result.errors?.[0]?.extensions).not.toHaveProperty('http')
    expect([status, headers?.get('www-authenticate') ?? null]).toEqual([status === null ? null : 200, null])
  })

  test('another organization’s key keeps them too and gets FORBIDDEN', async () => {
    const other = await newOrganization(url)
    const { status, result } = await send({
      query: `{ statusPage(slug: "${slug}") { domain { name } } }`,
      key: other.key,
    })
    expect([result.data, codesOf(result)]).toEqual([{ statusPage: { domain: null } }, ['FORBIDDEN']])
    if (status !== null) expect(status).toBe(200)
  })

  test('operationName selects the operation, also after an unknown name', async () => {
    const query = 'query A { __typename } query B { page: __typename }'
    expect(codesOf((await send({ query, operationName: 'C' })).result)).toEqual(['BAD_USER_INPUT'])
    expect((await send({ query, operationName: 'B' })).result).toEqual({ data: { page: 'Query' } })
  })
})

test('none of these is logged as an error', () => {
  expect(logged).toEqual([])
})

describe('over HTTP', () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  test('a missing key gets WWW-Authenticate', async () => {
    const { status, headers } = await post({ query: '{ organization { id } }' })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Allclear"'])
  })

  test.each([
    ['no JSON', '{', 400],
    ['no object', '7', 400],
    ['a list', '[{"query":"{ __typename }"}]', 400],
    ['no query', '{}', 200],
    ['a query that is no text', '{"query":7}', 400],
    ['variables that are no object', '{"query":"{ __typename }","variables":7}', 400],
    ['an operation name that is no text', '{"query":"{ __typename }","operationName":7}', 400],
    ['too much', JSON.stringify({ query: `{ __typename } #${'x'.repeat(130 * 1024)}` }), 413],
  ])('the error for a body of %s has a code', async (_, body, status) => {
    const response = await post(body)
    expect(response.status).toBe(status)
    expect(codesOf((await response.json()) as Result)).toEqual([
      status === 413 ? 'REQUEST_ENTITY_TOO_LARGE' : 'BAD_REQUEST',
    ])
  })

  test.each(['variables', 'extensions'])('%s of a GET that are not JSON get BAD_REQUEST', async (name) => {
    const response = await fetch(`${url}/graphql?query={__typename}&${name}={`)
    const message = 'The parameters variables and extensions must be JSON.'
    expect([response.status, await response.json()]).toEqual([
      400,
      { errors: [{ message, extensions: { code: 'BAD_REQUEST' } }] },
    ])
  })

  test('errors for other methods have a code', async () => {
    const response = await fetch(`${url}/graphql`, {
      method: 'PUT',
      headers: { 'content-type': JSON_TYPE },
      body: '{}',
    })
    expect([response.status, codesOf((await response.json()) as Result)]).toEqual([405, ['BAD_REQUEST']])
  })

  test('a caller that accepts none of our media types is rejected before execution', async () => {
    const name = 'Never made'
    const query = `mutation { createService(input: { name: "${name}" }) { __typename } }`
    const response = await post({ query }, { accept: 'application/xml', ...credential(key) })
    expect([response.status, codesOf((await response.json()) as Result)]).toEqual([406, ['NOT_ACCEPTABLE']])
    const after = await post({ query: `{ statusPage(slug: "${slug}") { services { name } } }` })
    expect(await after.text()).not.toContain(name)
  })

  test('a subscription whose caller accepts no events is rejected before it starts', async () => {
    const query = `subscription { statusPageEvents(slug: "${slug}") { cursor } }`
    for (const accept of [JSON_TYPE, STRICT, 'multipart/mixed']) {
      const response = await post({ query }, { accept })
      expect([response.status, codesOf((await response.json()) as Result)]).toEqual([406, ['NOT_ACCEPTABLE']])
    }
  })
})

describe('a reported error', () => {
  const now = new Date('2026-11-20T12:00:00.000Z')
  const reporting = { log: silent, now: () => now }

  test('says when to retry after too many requests', () => {
    const error = new RateLimited('Too many.', new Date('2026-11-20T12:00:59.001Z'))
    expect(maskError(error, reporting).extensions).toEqual({
      code: 'RATE_LIMITED',
      retryAt: '2026-11-20T12:00:59.001Z',
      http: { status: 429, headers: { 'retry-after': '60' } },
    })
  })

  test('is INTERNAL when a value cannot be serialized', () => {
    const colour = new GraphQLEnumType({ name: 'Colour', values: { RED: {} } })
    const fields = { colour: { type: colour, resolve: () => 'a secret colour' } }
    const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
    const { errors } = execute({ schema, document: parse('{ colour }') }) as Result
    expect(errors?.map((error) => maskError(error, reporting).toJSON())).toMatchObject([
      { message: 'An unexpected error occurred on the server.', path: ['colour'], extensions: { code: 'INTERNAL' } },
    ])
  })
})

test('too many wrong keys are rejected with a time to retry', async () => {
  const attempt = (number: number) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, ...credential(`ac_wrong${number}`) },
      body: JSON.stringify({ query: '{ __typename }' }),
    })
  for (let number = 0; number < 20; number++) expect((await attempt(number)).status).toBe(401)
  const response = await attempt(20)
  const { errors } = (await response.json()) as Result
  expect([response.status, codesOf({ errors: errors ?? [] })]).toEqual([429, ['RATE_LIMITED']])
  const seconds = Number(response.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
})
