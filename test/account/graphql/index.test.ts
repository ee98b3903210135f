import { getNamedType, isLeafType, isObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post, type Result, transports, websocketClient } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'

const { baseUrl: url } = await testApp({
  dns: await startDnsServer(scriptedLists()),
  now: () => new Date('2026-11-20T12:00:00.000Z'),
})
const mine = await newOrganization(url)
const theirs = await newOrganization(url)

const fields = {
  Organization:
    'id name slug contactEmail timeZone tier checkPlan checkPlanUntil createdAt usage { checks { used limit resetsAt } } apiKeys { totalCount edges { node { id } } }',
  ApiKey: 'id name scope prefix createdAt expiresAt lastUsedAt revokedAt',
} as const
const error = '... on Error { __typename code message } ... on ValidationError { issues { path message } }'

/** The value of a result's only field. */
function fieldOf({ data }: Result): Record<string, unknown> {
  const [value] = Object.values(data ?? {})
  return value ?? {}
}

/** A key of `mine` with a scope. */
async function keyOf(scope: string): Promise<{ id: string; secret: string }> {
  const query = `mutation { createApiKey(input: { name: "${scope}", scope: ${scope} }) { ... on CreateApiKeyPayload { id secret } ${error} } }`
  return fieldOf(await post(url, { query, key: mine.key })) as { id: string; secret: string }
}

describe.each(transports)('over $name', ({ run, name }) => {
  const only = async (query: string, key?: string, variables?: Record<string, unknown>) => {
    const [result, ...more] = await run(url, { query, key, ...(variables && { variables }) })
    expect(more).toEqual([])
    return result as Result
  }

  test('an organization is created with a first key, which can read everything', async () => {
    const slug = `over-${name.length}`
    const made = await only(
      `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) {
        ... on CreateOrganizationPayload { organization { ${fields.Organization} } apiKey { id secret apiKey { ${fields.ApiKey} } } } ${error} } }`,
      operatorToken,
      { input: { name: 'Acme', slug, contactEmail: 'ops@acme.example' } },
    )
    expect(made.errors).toBeUndefined()
    const { organization, apiKey } = fieldOf(made) as { organization: object; apiKey: { id: string; secret: string } }
    expect(organization).toMatchObject({
      slug,
      tier: 'FREE',
      checkPlan: 'FREE',
      apiKeys: { totalCount: 1, edges: [{ node: { id: apiKey.id } }] },
    })
    expect(apiKey).toMatchObject({ apiKey: { id: apiKey.id, scope: 'ADMIN', createdAt: '2026-11-20T12:00:00.000Z' } })
    expect(fieldOf(await only(`{ organization { ${fields.Organization} } }`, apiKey.secret))).toEqual(organization)
  })

  test('input problems are reported with their path', async () => {
    const result = await only(
      `mutation { createOrganization(input: { name: "", slug: "A", contactEmail: "x" }) { __typename ${error} } }`,
      operatorToken,
    )
    expect(fieldOf(result)).toMatchObject({
      __typename: 'ValidationError',
      code: 'INVALID_INPUT',
      issues: expect.arrayContaining([{ path: ['name'], message: 'must not be blank' }]),
    })
  })

  test('a slug in use is a conflict', async () => {
    const result = await only(
      `mutation { createOrganization(input: { name: "A", slug: "${mine.slug}", contactEmail: "a@b.example" }) { ${error} } }`,
      operatorToken,
    )
    expect(fieldOf(result)).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })
  })

  test('the operator sets the tier and the check plan', async () => {
    const { id } = await newOrganization(url)
    const tier = await only(
      `mutation ($id: ID!) { setTier(input: { organizationId: $id, tier: TEAM }) { ... on Organization { tier } ${error} } }`,
      operatorToken,
      { id },
    )
    expect(fieldOf(tier)).toEqual({ tier: 'TEAM' })
    const plan = await only(
      `mutation ($id: ID!) { setCheckPlan(input: { organizationId: $id, plan: PRO, until: "2026-12-20T13:00:00+01:00" }) {
        ... on Organization { checkPlan checkPlanUntil usage { checks { used limit resetsAt } } } ${error} } }`,
      operatorToken,
      { id },
    )
    expect(fieldOf(plan)).toEqual({
      checkPlan: 'PRO',
      checkPlanUntil: '2026-12-20T12:00:00.000Z',
      usage: { checks: { used: 0, limit: 1000, resetsAt: '2026-11-21T00:00:00.000Z' } },
    })
    const nobody = await only(
      `mutation { setTier(input: { organizationId: "org_x", tier: TEAM }) { ${error} } }`,
      operatorToken,
    )
    expect(fieldOf(nobody)).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  })

  test('a revoked key gives no access', async () => {
    const { id, secret } = await keyOf('READ')
    expect(fieldOf(await only('{ organization { id } }', secret))).toEqual({ id: mine.id })
    const revoked = await only(
      'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { ... on ApiKey { id revokedAt } } }',
      mine.key,
      { id },
    )
    expect(fieldOf(revoked)).toEqual({ id, revokedAt: '2026-11-20T12:00:00.000Z' })
    if (name !== 'websocket')
      expect((await only('{ organization { id } }', secret)).errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
  })

  test.each([
    ['{ organization { id } }', undefined, 'UNAUTHENTICATED'],
    ['{ organization { id } }', operatorToken, 'UNAUTHENTICATED'],
    ['mutation { createApiKey(input: { name: "x", scope: READ }) { __typename } }', undefined, 'UNAUTHENTICATED'],
    ['mutation { revokeApiKey(input: { id: "x" }) { __typename } }', undefined, 'UNAUTHENTICATED'],
    [
      'mutation { createOrganization(input: { name: "x", slug: "xx", contactEmail: "x@y.zz" }) { __typename } }',
      undefined,
      'UNAUTHENTICATED',
    ],
    [
      'mutation { createOrganization(input: { name: "x", slug: "xx", contactEmail: "x@y.zz" }) { __typename } }',
      mine.key,
      'FORBIDDEN',
    ],
    ['mutation { setTier(input: { organizationId: "x", tier: TEAM }) { __typename } }', mine.key, 'FORBIDDEN'],
    [
      'mutation { setCheckPlan(input: { organizationId: "x", plan: PRO }) { __typename } }',
      undefined,
      'UNAUTHENTICATED',
    ],
  ])('%s gets a top-level error (%#)', async (query, key, code) => {
    const { data, errors } = await only(query, key)
    expect(data ?? null).toBeNull()
    expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual([code])
  })
})

describe('a key without scope ADMIN', () => {
  test.each(['READ', 'WRITE'])(
    '%s can read its organization, but not its keys, and cannot gain more rights',
    async (scope) => {
      const { secret, id } = await keyOf(scope)
      const seen = await post(url, { key: secret, query: '{ organization { id } }' })
      expect(fieldOf(seen)).toEqual({ id: mine.id })
      for (const query of [
        '{ organization { apiKeys { totalCount } } }',
        'mutation { createApiKey(input: { name: "x", scope: ADMIN }) { __typename } }',
        `mutation { revokeApiKey(input: { id: "${id}" }) { __typename } }`,
      ]) {
        const { errors, status } = await post(url, { key: secret, query })
        expect([status, errors?.[0]?.extensions?.['code']], query).toEqual([403, 'FORBIDDEN'])
      }
    },
  )
})

describe('a node', () => {
  /** The id of one object of each type, owned by `mine`. A new type of the schema needs one here. */
  const ids: Readonly<Record<string, string>> = { Organization: mine.id, ApiKey: mine.keyId }

  test.each(Object.entries(ids))('%s is visible to its organization and the operator', async (type, id) => {
    for (const key of [mine.key, operatorToken]) {
      const { data } = await post(url, {
        key,
        query: 'query ($id: ID!) { node(id: $id) { __typename id } nodes(ids: [$id]) { id } }',
        variables: { id },
      })
      expect(data).toEqual({ node: { __typename: type, id }, nodes: [{ id }] })
    }
  })

  test.each(Object.entries(ids))('%s is null for others', async (type, id) => {
    const object = schema.getType(type)
    const names = isObjectType(object)
      ? Object.values(object.getFields())
          .filter(({ args, type }) => args.length === 0 && isLeafType(getNamedType(type)))
          .map(({ name }) => name)
      : []
    const selection = `... on ${type} { ${names.join(' ')} }`
    for (const key of [undefined, theirs.key]) {
      const { data, errors } = await post(url, {
        key,
        query: `query ($id: ID!) { node(id: $id) { id ${selection} } nodes(ids: [$id, $id]) { id ${selection} } }`,
        variables: { id },
      })
      expect({ data, errors }).toEqual({ data: { node: null, nodes: [null, null] }, errors: undefined })
    }
  })

  test.each(Object.entries(ids))('an unknown %s gets the same answer as one of another organization', async (_, id) => {
    const query = 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }'
    const ask = (given: string) => post(url, { key: theirs.key, query, variables: { id: given } })
    expect(await ask(`${id.slice(0, 4)}${'v'.repeat(24)}`)).toEqual(await ask(id))
  })

  test.each([
    '',
    'x',
    'org_',
    'org_00000000000000000000000',
    'key_\u0001',
    'constructor_x',
    '__proto__',
    'T3JnYW5pemF0aW9uOjE=',
    'x'.repeat(50_000),
  ])('with an unknown id (%#) is null', async (id) => {
    const { data, errors } = await post(url, {
      key: mine.key,
      query: 'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }',
      variables: { id },
    })
    expect({ data, errors }).toEqual({ data: { node: null, nodes: [null] }, errors: undefined })
  })

  test('of another organization is not found by mutations either', async () => {
    const answers = await Promise.all(
      [theirs.keyId, 'key_nothing', 'key_\u0001'].map((id) =>
        post(url, {
          key: mine.key,
          query: `mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { ... on Error { code message } } }`,
          variables: { id },
        }),
      ),
    )
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0] && fieldOf(answers[0])).toMatchObject({ code: 'NOT_FOUND' })
    expect((await post(url, { key: theirs.key, query: '{ organization { id } }' })).status).toBe(200)
  })
})

describe('credentials over a websocket', () => {
  const organization = async (params: Record<string, unknown>) => {
    const client = websocketClient(url, params)
    try {
      for await (const result of client.iterate({ query: '{ organization { id } }' })) return result as Result
    } finally {
      await client.dispose()
    }
    return null
  }

  test.each([
    ['apiKey', { apiKey: mine.key }],
    ['authorization', { authorization: `Bearer ${mine.key}` }],
    ['authorization without a scheme', { authorization: mine.key }],
    ['apiKey beside an authorization that is null', { authorization: null, apiKey: mine.key }],
    ['apiKey beside an authorization of another scheme', { authorization: 'Basic dTpw', apiKey: mine.key }],
  ])('are taken from %s', async (_, params) => {
    expect(await organization(params)).toMatchObject({ data: { organization: { id: mine.id } } })
  })

  test.each([
    ['apiKey', { apiKey: 'ac_wrong' }],
    ['authorization', { authorization: 'Bearer ac_wrong' }],
    ['an empty apiKey', { apiKey: '' }],
    ['an apiKey that is not a string', { apiKey: 7 }],
  ])('that are invalid, from %s, close the connection with 4403', async (_, params) => {
    await expect(organization(params)).rejects.toMatchObject({ code: 4403 })
  })

  test('are checked for each operation, so a revoked key gives no access', async () => {
    const { id, secret } = await keyOf('ADMIN')
    const client = websocketClient(url, { apiKey: secret }, false)
    const ask = async () => (await client.iterate({ query: '{ organization { id } }' }).next()).value
    expect(await ask()).toEqual({ data: { organization: { id: mine.id } } })
    await post(url, {
      key: mine.key,
      query: 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { __typename } }',
      variables: { id },
    })
    await expect(ask()).rejects.toMatchObject({ code: 4403 })
    await client.dispose()
  })
})
