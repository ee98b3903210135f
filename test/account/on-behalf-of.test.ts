import { describe, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const { baseUrl: url } = await testApp({ dns: await startDnsServer(scriptedLists()) })
const [mine, theirs] = [await newOrganization(url), await newOrganization(url)]
const asOperator = async (query: string, organization?: string, variables: Record<string, unknown> = {}) => {
  const headers: Record<string, string> = organization === undefined ? {} : { 'x-organization': organization }
  const { data, errors } = await post(url, { query, key: operatorToken, variables }, headers)
  return {
    data: data as Record<string, Record<string, unknown>> | null,
    codes: errors?.map((error) => error.extensions?.['code']),
  }
}
const error = '... on Error { code message }'
const makeService = `mutation { createService(input: { name: "API" }) { ... on Service { id } ${error} } }`

describe('the operator', () => {
  test.each(['id', 'slug'] as const)(
    'acts for the organization that a header names by its %s, which is logged',
    async (by) => {
      const made = await asOperator(makeService, mine[by])
      expect(made.data?.['createService']?.['id']).toMatch(/^svc_/)
      const { data } = await asOperator(
        '{ organization { slug events(first: 1) { edges { node { kind actor } } } } }',
        mine[by],
      )
      expect(data?.['organization']).toMatchObject({
        slug: mine.slug,
        events: { edges: [{ node: { kind: 'SERVICE_CREATED', actor: 'OPERATOR' } }] },
      })
    },
  )

  test('acts for the organization of the ids in a mutation', async () => {
    const { data } = await asOperator(makeService, theirs.id)
    const id = data?.['createService']?.['id']
    const renamed = await asOperator(
      `mutation ($id: ID!) { updateService(input: { id: $id, name: "Web" }) { ... on Service { name } ${error} } }`,
      undefined,
      { id },
    )
    expect(renamed.data?.['updateService']).toEqual({ name: 'Web' })
    const mixed = await asOperator(
      `mutation ($id: ID!) { updateService(input: { id: $id, name: "Web" }) { ... on Service { name } ${error} } }`,
      mine.id,
      { id },
    )
    expect(mixed.data?.['updateService']).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('acts for the organization of an objective', async () => {
    const { data } = await asOperator(makeService, theirs.id)
    const made = await asOperator(
      `mutation ($id: ID!) { createObjective(input: { serviceId: $id, target: 99.9, windowDays: 30 }) { ... on Objective { id } ${error} } }`,
      undefined,
      { id: data?.['createService']?.['id'] },
    )
    const deleted = await asOperator(
      `mutation ($id: ID!) { deleteObjective(id: $id) { ... on DeleteObjectivePayload { id } ${error} } }`,
      undefined,
      { id: made.data?.['createObjective']?.['id'] },
    )
    expect(deleted.data?.['deleteObjective']).toEqual(made.data?.['createObjective'])
  })

  test('acts for the organization of an alert channel', async () => {
    const made = await asOperator(
      `mutation { createAlertChannel(input: { name: "Ops", address: { ntfy: { topic: "ops" } } }) { ... on AlertChannel { id } ${error} } }`,
      theirs.id,
    )
    const id = made.data?.['createAlertChannel']?.['id']
    const renamed = await asOperator(
      `mutation ($id: ID!) { updateAlertChannel(input: { id: $id, name: "Night" }) { ... on AlertChannel { name } ${error} } }`,
      undefined,
      { id },
    )
    expect(renamed.data?.['updateAlertChannel']).toEqual({ name: 'Night' })
  })

  test('can create a key for an organization that lost its keys', async () => {
    const { data } = await asOperator(
      `mutation ($id: ID!) { createApiKey(input: { name: "New", scope: ADMIN, organizationId: $id }) {
        ... on CreateApiKeyPayload { secret } ${error} } }`,
      undefined,
      { id: mine.id },
    )
    const key = data?.['createApiKey']?.['secret'] as string
    const asked = await post(url, { query: '{ organization { id } }', key })
    expect(asked.data?.['organization']).toEqual({ id: mine.id })
  })

  test('gets an error without an organization, or with an unknown one', async () => {
    expect((await asOperator(makeService)).codes).toEqual(['UNAUTHENTICATED'])
    for (const nobody of ['org_000000000000000000000000', 'nobody', '', 'a\tb']) {
      const { data, codes } = await asOperator('{ organization { id } }', nobody)
      expect([data ?? null, codes]).toEqual([null, ['NOT_FOUND']])
    }
    expect((await asOperator('{ organization(id: "org_x") { id } }')).codes).toEqual(['NOT_FOUND'])
  })

  test('can read any organization by id', async () => {
    const { data } = await asOperator(`{ organization(id: "${theirs.id}") { slug } }`)
    expect(data).toEqual({ organization: { slug: theirs.slug } })
  })

  test('can read the billing of any organization', async () => {
    const headers = { authorization: `Bearer ${operatorToken}`, 'x-organization': mine.slug }
    const response = await fetch(`${url}/api/v1/billing/status`, { headers })
    expect(await response.json()).toMatchObject({ organization_id: mine.id })
  })
})

describe('the list of all organizations', () => {
  const list = (filter: object, key: string | undefined = operatorToken, page = 'first: 10') =>
    post(url, {
      query: `query ($filter: OrganizationFilter) { organizations(${page}, filter: $filter) {
        totalCount edges { cursor node { id slug tier } } } }`,
      key,
      variables: { filter },
    })

  test('is visible to the operator only and can be searched by name, slug and contact address', async () => {
    const [made, odd] = [await newOrganization(url), await newOrganization(url)]
    const rename = (name: string, organization: string) =>
      asOperator(`mutation { updateOrganization(input: { name: "${name}" }) { __typename } }`, organization)
    await rename('Harbour 50%_ off', made.id)
    await rename('Harbour 500 off', odd.id)
    const slugs = async (filter: object) => {
      const { data } = await list(filter)
      const found = data?.['organizations'] as unknown as { edges: { node: { slug: string } }[] }
      return found.edges.map(({ node }) => node.slug)
    }
    expect(await slugs({ text: 'hARBOUR' })).toEqual(expect.arrayContaining([made.slug, odd.slug]))
    expect(await slugs({ text: '50%_' })).toEqual([made.slug])
    expect(await slugs({ text: made.slug.toUpperCase() })).toEqual([made.slug])
    expect(await slugs({ text: 'nobody' })).toEqual([])
    expect(await slugs({ tier: 'TEAM' })).toEqual([])
    expect(await slugs({})).toEqual(expect.arrayContaining([mine.slug, theirs.slug, made.slug]))
  })

  test('is not visible to other callers', async () => {
    expect((await list({}, mine.key)).errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN')
    const nobody = await post(url, { query: '{ organizations { totalCount } }' })
    expect(nobody.errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
  })
})

describe('a key', () => {
  test('cannot leave its own organization', async () => {
    const asked = await post(url, { query: '{ organization { id } }', key: mine.key }, { 'x-organization': theirs.id })
    expect(asked.data?.['organization']).toEqual({ id: mine.id })
    const other = await post(url, { query: `{ organization(id: "${theirs.id}") { id } }`, key: mine.key })
    expect(other.errors?.[0]?.extensions?.['code']).toBe('NOT_FOUND')
    for (const name of ['createApiKey(input: { name: "x", scope: READ', 'updateOrganization(input: { name: "x"']) {
      const query = `mutation { made: ${name}, organizationId: "${theirs.id}" }) { __typename ${error} } }`
      const refused = await post(url, { query, key: mine.key })
      expect(refused.data?.['made']).toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

test('too many wrong keys get 429 over every protocol', async () => {
  const ask = (key: string) => post(url, { query: '{ organization { id } }', key })
  for (let index = 0; index < 20; index += 1) expect((await ask(`ac_${index}`)).status).toBe(401)
  const refused = await ask('ac_next')
  expect([refused.status, refused.errors?.[0]?.extensions?.['code']]).toEqual([429, 'RATE_LIMITED'])
  const path = '/api/v1/billing/status'
  const rest = await fetch(`${url}${path}`, { headers: { authorization: 'Bearer ac_next' } })
  expect([rest.status, Number(rest.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await ask(mine.key)).status).toBe(200)
})
