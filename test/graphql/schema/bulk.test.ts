import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { answer, startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'

const { baseUrl: url } = await testApp({ dns: await startDnsServer((query) => answer(query, [])) })
const { key } = await newOrganization(url)

const ask = (query: string, variables: Record<string, unknown>, as: string | undefined = key) =>
  post(url, { query, variables, key: as })

const CREATE = `mutation ($items: [CreateServiceInput!]!, $mode: BulkMode) {
  createServices(input: { items: $items, mode: $mode }) {
    ... on CreateServicesPayload { refused results { index result {
      __typename ... on Service { name } ... on Error { code } ... on ValidationError { issues { path } } } } }
    ... on ValidationError { message }
  }
}`

test('a bulk mutation returns each item’s result in order, like the single mutation', async () => {
  const items = [{ name: 'One' }, { name: ' ' }, { name: 'Three' }]
  const { data } = await ask(CREATE, { items, mode: 'EACH' })
  expect(data).toEqual({
    createServices: {
      refused: 1,
      results: [
        { index: 0, result: { __typename: 'Service', name: 'One' } },
        { index: 1, result: { __typename: 'ValidationError', code: 'INVALID_INPUT', issues: [{ path: ['name'] }] } },
        { index: 2, result: { __typename: 'Service', name: 'Three' } },
      ],
    },
  })
})

test('without a mode, all items are applied or none', async () => {
  const { data } = await ask(CREATE, { items: [{ name: 'Four' }, { name: '' }] })
  expect(data).toMatchObject({
    createServices: {
      refused: 2,
      results: [{ result: { code: 'NOT_APPLIED' } }, { result: { code: 'INVALID_INPUT' } }],
    },
  })
})

test('more than a hundred items are rejected with the maximum', async () => {
  const { data, errors } = await ask(CREATE, { items: Array.from({ length: 101 }, () => ({ name: 'x' })) })
  expect(JSON.stringify({ data, errors })).toMatch(/at most 100/)
})

test('a bulk mutation requires a key with scope WRITE', async () => {
  const { data, errors } = await post(url, { query: CREATE, variables: { items: [] } })
  expect([data, errors?.[0]?.extensions?.['code']]).toEqual([null, 'UNAUTHENTICATED'])
})

test('monitors can be created, updated, paused, resumed and deleted in bulk', async () => {
  const items = [1, 2, 3].map((number) => ({ name: `M${number}`, probe: { tcp: { host: 'a.example', port: number } } }))
  const many = async (name: string, input: Record<string, unknown>) => {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
    const query = `mutation ($input: ${type}Input!) { ${name}(input: $input) {
      ... on ${type}Payload { results { result { __typename ... on Error { code }
        ... on ${name === 'deleteMonitors' ? 'DeleteMonitorPayload { id }' : 'Monitor { id name state }'} } } } } }`
    const { data, errors } = await ask(query, { input })
    expect(errors).toBeUndefined()
    const answered = (data as Record<string, { results: { result: Record<string, string> }[] }> | null)?.[name]
    return (answered?.results ?? []).map(({ result }) => result)
  }
  const made = await many('createMonitors', { items })
  const ids = made.map(({ id }) => id ?? '')
  expect(made.map(({ name, state }) => `${name} ${state}`)).toEqual(['M1 PENDING', 'M2 PENDING', 'M3 PENDING'])
  const renamed = await many('updateMonitors', { items: ids.map((id, index) => ({ id, name: `N${index}` })) })
  expect(renamed.map(({ name }) => name)).toEqual(['N0', 'N1', 'N2'])
  expect((await many('pauseMonitors', { ids })).map(({ state }) => state)).toEqual(['PAUSED', 'PAUSED', 'PAUSED'])
  expect((await many('resumeMonitors', { ids })).map(({ state }) => state)).toEqual(['PENDING', 'PENDING', 'PENDING'])
  expect((await many('deleteMonitors', { ids, mode: 'EACH' })).map(({ id }) => id)).toEqual(ids)
  expect((await many('deleteMonitors', { ids, mode: 'EACH' })).map(({ code }) => code)).toEqual(
    ids.map(() => 'NOT_FOUND'),
  )
})
