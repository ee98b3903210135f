import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { DAY } from '../../../src/core/time.ts'
import { testApp } from '../../support/app.ts'
import { atTheEnd } from '../../support/at-the-end.ts'
import { serverUrl } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { filledOrganization, mutate, succeed } from '../../support/filled-organization.ts'
import { newOrganization, post, type Result, transports } from '../../support/graphql-client.ts'
import { runs } from '../../support/runs.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken, testData } from '../../support/service-data.ts'
import { fewestStatements } from '../../support/statements.ts'

const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns })
const planned = { startsAt: new Date(Date.now() + DAY), endsAt: new Date(Date.now() + 2 * DAY) }
const acme = await filledOrganization(url, planned)
const other = await newOrganization(url)

const PAGE = `query ($slug: String!) { statusPage(slug: $slug) { name cursor status { indicator description } services { id name status } } }`

/** Returns the result of executing a query: answers by websocket never come from the cache. */
async function executed(
  service: string,
  query: string,
  variables: Record<string, unknown>,
): Promise<Result | undefined> {
  const websocket = transports.find(({ name }) => name === 'websocket')
  return (await websocket?.run(service, { query, variables }))?.[0]
}

async function answered(service: string, query: string, variables: Record<string, unknown>): Promise<Result> {
  const { status, ...result } = await post(service, { query, variables })
  expect(status).toBe(200)
  return result
}

/** Returns how many checks a visitor has left, after one more. */
async function remainingChecks(): Promise<number> {
  const answer = await fetch(`${url}/api/blacklist-monitor/ip?target=192.0.2.1`)
  return Number(answer.headers.get('ratelimit-remaining') ?? answer.headers.get('x-ratelimit-remaining'))
}

const statementsOf = (query: string, key?: string, variables: Record<string, unknown> = { slug: acme.slug }) =>
  fewestStatements(async () => {
    await post(url, { query, variables, key })
  })

describe('a visitor’s query', () => {
  test('is answered again without a database statement', async () => {
    const first = await answered(url, PAGE, { slug: acme.slug })
    expect(await statementsOf(PAGE)).toBe(0)
    expect(await answered(url, PAGE, { slug: acme.slug })).toEqual(first)
    expect(first.data).toMatchObject({ statusPage: { services: [{ name: 'API' }] } })
  })

  test('of a page that does not exist is answered from memory until it does', async () => {
    const slug = 'not-yet-here'
    expect((await answered(url, PAGE, { slug })).data).toEqual({ statusPage: null })
    expect(await statementsOf(PAGE, undefined, { slug })).toBe(0)
    await succeed(
      url,
      operatorToken,
      `mutation ($slug: String!) {
        createOrganization(input: { slug: $slug, name: "Acme", contactEmail: "ops@acme.example" }) { __typename ... on Error { code message } }
      }`,
      { slug },
    )
    expect((await answered(url, PAGE, { slug })).data).toMatchObject({ statusPage: { name: 'Acme' } })
  })

  test('by GET has an ETag and gets 304 until something changes', async () => {
    const address = `${url}/graphql?${new URLSearchParams({ query: PAGE, variables: JSON.stringify({ slug: acme.slug }) })}`
    const first = await fetch(address, { headers: { accept: 'application/json' } })
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{27}"$/)
    expect(first.headers.get('cache-control')).toContain('s-maxage=4')
    expect(first.headers.get('vary')).toBe('accept, authorization, x-api-key, x-organization')
    expect(await first.json()).toEqual(await answered(url, PAGE, { slug: acme.slug }))
    const again = await fetch(address, { headers: { accept: 'application/json', 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    await mutate(url, acme.key, 'updateService', 'Service', { id: acme.ids.Service, name: 'API of today' })
    const changed = await fetch(address, { headers: { accept: 'application/json', 'if-none-match': etag } })
    expect(changed.status).toBe(200)
    expect(await changed.text()).toContain('API of today')
  })

  test('is answered in the media type that each caller accepts, and to any origin', async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query: PAGE, variables: { slug: acme.slug } }),
      })
    for (const _turn of [1, 2]) {
      for (const type of ['application/json', 'application/graphql-response+json']) {
        const { headers } = await ask({ accept: type, origin: 'https://elsewhere.example' })
        expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
        expect(headers.get('access-control-allow-origin')).toBe('*')
      }
    }
  })

  test('with an error in it is executed each time', async () => {
    const query = 'query ($slug: String!) { statusPage(slug: $slug) { name services { days(n: 999) { date } } } }'
    expect((await post(url, { query, variables: { slug: acme.slug } })).errors?.[0]?.path).toContain('days')
    expect(await statementsOf(query)).toBeGreaterThan(0)
  })

  test('about two organizations is executed each time', async () => {
    const query = `{ a: statusPage(slug: "${acme.slug}") { name } b: statusPage(slug: "${other.slug}") { name } }`
    expect((await post(url, { query })).data).toMatchObject({ a: { name: 'Acme' }, b: { name: 'Acme' } })
    expect(await statementsOf(query)).toBeGreaterThan(0)
  })
})

describe('never answered from memory', () => {
  test('are a caller’s requests with a key, even for the same query', async () => {
    await answered(url, PAGE, { slug: acme.slug })
    expect(await statementsOf(PAGE)).toBe(0)
    expect(await statementsOf(PAGE, acme.key)).toBeGreaterThan(0)
    const wrong = await post(url, { query: PAGE, variables: { slug: acme.slug }, key: 'ak_wrong' })
    expect(wrong.status).toBe(401)
  })

  test('are checks: each one counts', async () => {
    const query = '{ checkIp(target: "192.0.2.1") { __typename } }'
    const before = await remainingChecks()
    await Promise.all([1, 2, 3].map(() => post(url, { query })))
    expect(before - (await remainingChecks())).toBe(4)
  })

  test('is a request that can be read in two ways', async () => {
    const check = new URLSearchParams({ query: '{ checkIp(target: "192.0.2.1") { __typename } }' })
    const page = new URLSearchParams({ query: `{ statusPage(slug: "${acme.slug}") { name } }` })
    const before = await remainingChecks()
    await Promise.all([1, 2].map(() => fetch(`${url}/graphql?${check}&${page}`)))
    await Promise.all([1, 2].map(() => fetch(`${url}/graphql?${check}&operationName=&${page}`)))
    expect(before - (await remainingChecks())).toBe(5)
  })

  test('are requests whose answer depends on more than the cache key', async () => {
    const events = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: PAGE, variables: { slug: acme.slug } }),
    })
    expect(events.headers.get('content-type')).toContain('text/event-stream')
    await events.body?.cancel()
    const form = await fetch(`${url}/graphql`, { method: 'POST', body: JSON.stringify({ query: PAGE }) })
    expect(form.status).toBe(415)
    const none = await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' } })
    expect(none.status).toBe(400)
  })
})

describe('a persisted query', () => {
  const address = (query: string | null, hash: string, variables: Record<string, unknown> = { slug: acme.slug }) => {
    const parameters = {
      ...(query !== null && { query }),
      variables: JSON.stringify(variables),
      extensions: JSON.stringify({ persistedQuery: { version: 1, sha256Hash: hash } }),
    }
    return `${url}/graphql?${new URLSearchParams(parameters)}`
  }
  const get = (...parts: Parameters<typeof address>) =>
    fetch(address(...parts), { headers: { accept: 'application/json' } })
  const hashOf = (query: string) => createHash('sha256').update(query).digest('hex')

  test('is requested in full once, and then known by its hash and answered from memory', async () => {
    const hash = hashOf(PAGE)
    const unknown = await get(null, hash)
    expect(await unknown.json()).toMatchObject({
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    })
    const first = await (await get(PAGE, hash)).json()
    expect(first).toEqual(await answered(url, PAGE, { slug: acme.slug }))
    expect(await (await get(null, hash)).json()).toEqual(first)
    expect(
      await fewestStatements(async () => {
        expect(await (await get(null, hash)).json()).toEqual(first)
      }),
    ).toBe(0)
  })

  test('is rejected under another hash', async () => {
    const answer = await (await get(PAGE, hashOf('{ __typename }'))).json()
    expect(answer).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] })
    expect(await (await get(null, hashOf('{ __typename }'))).json()).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    })
  })

  test('that checks a target counts each time', async () => {
    const query = '{ checkIp(target: "192.0.2.7") { __typename } }'
    await get(query, hashOf(query), {})
    const before = await remainingChecks()
    await Promise.all([1, 2, 3].map(() => get(null, hashOf(query), {})))
    expect(before - (await remainingChecks())).toBe(4)
  })
})

/** Selections of a status page; queries combine some of them. */
const SELECTIONS = [
  'name description slug timeZone links { label url }',
  'cursor',
  'status { indicator description unknownSince }',
  'services { id name description position status groupId }',
  'serviceGroups { id name position services { name status } }',
  'incidents { id title status impact services { service { name } status } updates(first: 5) { totalCount nodes { message status services { status } } } }',
  'maintenances { id title status startsAt services { name } updates { nodes { message } } }',
  'pastIncidents(first: 2) { totalCount edges { cursor node { title resolvedAt } } pageInfo { hasNextPage endCursor } }',
  'pastMaintenances(first: 2) { nodes { title status } }',
]

/** Changes of everything that a page shows, with the organization’s key. */
const changes: Readonly<Record<string, (n: number) => Promise<unknown>>> = {
  settings: (n) => update('updateOrganization', 'Organization', { name: `Acme ${n}`, description: `No. ${n}` }),
  service: (n) => update('updateService', 'Service', { id: acme.ids.Service, name: `API ${n}` }),
  override: (n) =>
    update('updateService', 'Service', {
      id: acme.ids.Service,
      statusOverride: n % 2 ? 'MAJOR_OUTAGE' : null,
    }),
  group: (n) => update('updateServiceGroup', 'ServiceGroup', { id: acme.ids.ServiceGroup, name: `Region ${n}` }),
  more: (n) => update('createService', 'Service', { name: `Service ${n}` }),
  incident: (n) =>
    update('createIncident', 'Incident', {
      title: `Incident ${n}`,
      status: 'INVESTIGATING',
      impact: 'MAJOR',
      message: `It began ${n}`,
      services: [{ serviceId: acme.ids.Service, status: 'PARTIAL_OUTAGE' }],
    }),
  progress: (n) =>
    update('postIncidentUpdate', 'IncidentUpdate', {
      incidentId: acme.ids.Incident,
      status: n % 2 ? 'RESOLVED' : 'MONITORING',
      message: `Update ${n}`,
    }),
  correction: (n) =>
    update('editIncidentUpdate', 'IncidentUpdate', { id: acme.ids.IncidentUpdate, message: `Edited ${n}` }),
  maintenance: (n) => update('updateMaintenance', 'Maintenance', { id: acme.ids.Maintenance, title: `Work ${n}` }),
}

const update = (field: string, type: string, input: Record<string, unknown>) =>
  mutate(url, acme.key, field, type, input)

describe('an answer', () => {
  test('equals a fresh execution, whatever was requested and changed before', async () => {
    const asked = fc.record({
      selections: fc.subarray(SELECTIONS, { minLength: 1, maxLength: 3 }),
      change: fc.constantFrom(...Object.keys(changes)),
      n: fc.integer({ min: 1, max: 1000 }),
      isConcurrent: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 3, maxLength: 6 }), async (steps) => {
        for (const { selections, change, n, isConcurrent } of steps) {
          const query = `query ($slug: String!) { statusPage(slug: $slug) { ${selections.join(' ')} } }`
          const variables = { slug: acme.slug }
          await answered(url, query, variables)
          const changing = changes[change]?.(n)
          // A query during the change may return either state, but must not leave the older one in the cache.
          if (isConcurrent) await Promise.all([answered(url, query, variables), answered(url, query, variables)])
          await changing
          expect(await answered(url, query, variables)).toEqual(await executed(url, query, variables))
        }
      }),
      runs(4, 8),
    )
  })

  test('follows a page through a new slug and its deletion', async () => {
    const { slug, key, id } = await newOrganization(url)
    await answered(url, PAGE, { slug })
    expect((await answered(url, PAGE, { slug: `${slug}-new` })).data).toEqual({ statusPage: null })
    await mutate(url, key, 'updateOrganization', 'Organization', { slug: `${slug}-new` })
    expect((await answered(url, PAGE, { slug })).data).toEqual({ statusPage: null })
    expect((await answered(url, PAGE, { slug: `${slug}-new` })).data).toMatchObject({ statusPage: { name: 'Acme' } })
    await succeed(
      url,
      key,
      'mutation ($id: ID!, $slug: String!) { deleteOrganization(input: { id: $id, slug: $slug }) { __typename ... on Error { code message } } }',
      { id, slug: `${slug}-new` },
    )
    expect((await answered(url, PAGE, { slug: `${slug}-new` })).data).toEqual({ statusPage: null })
  })

  test.runIf(serverUrl)('of another instance follows after the database’s notification', async () => {
    const data = await testData()
    atTheEnd(data.remove)
    const settings = { ...data.settings, SECRET_KEY: 'the same key on each of the instances' }
    const { baseUrl: first } = await testApp({ dns, settings })
    const { baseUrl: second } = await testApp({ dns, settings })
    const { slug, key } = await newOrganization(first)
    for (const n of [1, 2, 3, 4, 5]) {
      await answered(second, PAGE, { slug })
      await mutate(first, key, 'createService', 'Service', { name: `Service ${n}` })
      const now = await executed(second, PAGE, { slug })
      await vi.waitFor(async () => expect(await answered(second, PAGE, { slug })).toEqual(now))
      expect(await answered(first, PAGE, { slug })).toEqual(now)
    }
  })
})
