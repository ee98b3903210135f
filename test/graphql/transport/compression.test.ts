import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization } from '../../support/graphql-client.ts'
import { rawGet } from '../../support/raw-get.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'

const { baseUrl } = await testApp({ dns: await startDnsServer(scriptedLists()) })
const { key } = await newOrganization(baseUrl)

/** Descriptions of mutations make a long answer. */
const long = '{ __type(name: "Mutation") { fields { name description } } organization { name } }'
const ask = (query: string, headers: Readonly<Record<string, string>>) =>
  rawGet(`${baseUrl}/graphql?query=${encodeURIComponent(query)}`, { accept: 'application/json', ...headers })
const authorization = `Bearer ${key}`

test('a long answer to a key is compressed where gzip is accepted', async () => {
  const plain = await ask(long, { authorization })
  expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined])
  expect(plain.headers.vary).toMatch(/accept-encoding/i)
  const packed = await ask(long, { authorization, 'accept-encoding': 'gzip, deflate' })
  expect([packed.status, packed.headers['content-encoding']]).toEqual([200, 'gzip'])
  expect(packed.headers['content-type']).toBe(plain.headers['content-type'])
  expect(packed.body.length).toBeLessThan(plain.body.length / 2)
  expect(Number(packed.headers['content-length'])).toBe(packed.body.length)
  expect(gunzipSync(packed.body).toString()).toBe(plain.body.toString())
})

test.each([
  ['a short answer', '{ organization { name } }', { authorization, 'accept-encoding': 'gzip' }],
  ['an answer to a visitor', long, { 'accept-encoding': 'gzip' }],
  ['an answer to a caller without gzip', long, { authorization, 'accept-encoding': 'br, gzip;q=0' }],
])('%s is not', async (_, query, headers) => {
  const { headers: got, body } = await ask(query, headers)
  expect(got['content-encoding']).toBeUndefined()
  expect(() => JSON.parse(body.toString())).not.toThrow()
})
