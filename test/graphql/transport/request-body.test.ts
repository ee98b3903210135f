import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, type Result, websocketClient } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const { baseUrl: url } = await testApp({ dns: await startDnsServer(scriptedLists()) })
const { key, id } = await newOrganization(url)
const query = 'query Mine { organization { id } __typename }'
const visitorsQuery = '{ __typename }'

/** Sends a body as a caller with a key, and returns status, data and codes. */
async function send(
  body: string | Buffer,
  headers: Record<string, string> = {},
  caller: Record<string, string> = { authorization: `Bearer ${key}` },
) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...caller, ...headers },
    body: new Uint8Array(Buffer.from(body)),
  })
  const { data, errors } = (await response.json()) as Result
  return { status: response.status, data, codes: errors?.map(({ extensions }) => extensions?.['code']), response }
}
const answered = { status: 200, data: { organization: { id }, __typename: 'Query' }, codes: undefined }

describe('a body as clients send it', () => {
  test.each<[string, object | string]>([
    ['with the id of Relay’s network layer', { query, id: 'a1b2', operationName: 'Mine', variables: {} }],
    ['with members of other clients', { query, operationKind: 'query', doc_id: 7, documentId: null, __proto__: null }],
    ['with an empty operationName', { query, operationName: '' }],
    ['with null everywhere', { query, operationName: null, variables: null, extensions: null }],
    ['with a byte order mark', `\uFEFF${JSON.stringify({ query })}`],
  ])('%s is read', async (_, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(await send(text)).toMatchObject(answered)
    const asVisitor = await send(text.replace(query, visitorsQuery).replace('"Mine"', 'null'), {}, {})
    expect(asVisitor).toMatchObject({ status: 200, data: { __typename: 'Query' } })
  })

  test.each([
    'application/json',
    'Application/JSON',
    'application/json ; charset=utf-8',
    'application/json; charset="UTF-8"',
    'APPLICATION/GRAPHQL+JSON',
    'application/json, application/json',
  ])('is JSON as %s', async (type) => {
    expect(await send(JSON.stringify({ query }), { 'content-type': type })).toMatchObject(answered)
  })

  test.each(['application/json; charset="utf-8"', 'Application/GraphQL-Response+JSON; charset=UTF-8, */*;q=0.1'])(
    'is answered to a caller that accepts %s',
    async (accept) => {
      expect(await send(JSON.stringify({ query }), { accept })).toMatchObject(answered)
    },
  )

  test('is decoded within the limit, or refused with what is accepted', async () => {
    const bytes = gzipSync(JSON.stringify({ query }))
    expect(await send(bytes, { 'content-encoding': 'gzip' })).toMatchObject(answered)
    expect(
      await send(gzipSync(JSON.stringify({ query: visitorsQuery })), { 'content-encoding': 'gzip' }, {}),
    ).toMatchObject({
      data: { __typename: 'Query' },
    })
    const unknown = await send(bytes, { 'content-encoding': 'compress' })
    expect([unknown.status, unknown.codes]).toEqual([415, ['UNSUPPORTED_MEDIA_TYPE']])
    expect(unknown.response.headers.get('accept-encoding')).toBe('gzip, deflate, br, identity')
    const bomb = gzipSync(JSON.stringify({ query: `${query} # ${' '.repeat(10_000_000)}` }))
    expect(await send(bomb, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 413,
      codes: ['REQUEST_ENTITY_TOO_LARGE'],
    })
    expect(await send('{}', { 'content-encoding': 'gzip' })).toMatchObject({ status: 400, codes: ['BAD_REQUEST'] })
  })

  test('in another charset, or with what is not UTF-8, is refused', async () => {
    const latin = Buffer.from(JSON.stringify({ query: `${query} # Grüße` }), 'latin1')
    const callers: readonly Record<string, string>[] = [{}, { authorization: `Bearer ${key}` }]
    for (const caller of callers) {
      expect(await send(latin, {}, caller)).toMatchObject({ status: 400, codes: ['BAD_REQUEST'] })
      expect(await send(latin, { 'content-type': 'application/json; charset=iso-8859-1' }, caller)).toMatchObject({
        status: 415,
        codes: ['UNSUPPORTED_MEDIA_TYPE'],
      })
    }
  })

  test('that is no object is refused', async () => {
    for (const body of ['', '7', '"text"', 'null', '[]', '{"query":7}', '{"query":"{__typename}","operationName":7}']) {
      expect((await send(body)).status).toBe(400)
    }
  })
})

test('an empty operationName names no operation over a websocket and in event streams', async () => {
  const client = websocketClient(url)
  const results: unknown[] = []
  for await (const result of client.iterate({ query: visitorsQuery, operationName: '' })) results.push(result)
  await client.dispose()
  expect(results).toEqual([{ data: { __typename: 'Query' } }])
  const body = JSON.stringify({ query: visitorsQuery, operationName: '' })
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const stream = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  expect(await stream.text()).toContain('data: {"data":{"__typename":"Query"}}')
  const got = await fetch(`${url}/graphql?query=${encodeURIComponent(visitorsQuery)}&operationName=&id=7`, {
    headers: { accept: 'application/json' },
  })
  expect(await got.json()).toEqual({ data: { __typename: 'Query' } })
})
