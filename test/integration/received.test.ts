import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const { baseUrl } = await testApp({ dns: await startDnsServer(scriptedLists()) })

test('GraphQL pages, filters and fully reads received messages', async () => {
  const { key } = await newOrganization(baseUrl)
  const paths = { title: 'alert.name', resolvedValues: ['over'] }
  const given = { name: 'Checks', kind: 'GENERIC', paths, rules: [{ labels: [{ name: 'env', value: 'prod' }] }] }
  const made = await mutate<{ id: string; url: string }>(
    ...([baseUrl, key, 'createIntegration', 'Integration', given, 'id url'] as const),
  )
  const send = (alert: object) =>
    fetch(baseUrl + new URL(made.url).pathname, { method: 'POST', body: JSON.stringify({ alert }) })
  for (let number = 0; number < 5; number += 1) await send({ name: `Number ${number}`, note: 'x'.repeat(10_000) })
  const ask = async (fields: string) => {
    const response = await fetch(`${baseUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: `{ organization { alertIntegrations(first: 5) { nodes { ${fields} } } } }` }),
    })
    const { data, errors } = await response.json()
    return errors ?? data.organization.alertIntegrations.nodes[0]
  }
  const waiting = 'bodies(filter: { status: [PENDING] }) { totalCount }'
  await expect.poll(async () => (await ask(waiting)).bodies.totalCount, { timeout: 20_000 }).toBe(0)
  const page = 'totalCount pageInfo { endCursor hasNextPage } nodes { id status note body }'
  const first = (await ask(`paths { title key resolvedValues } bodies(first: 3) { ${page} }`)) as {
    readonly paths: object
    readonly bodies: {
      readonly totalCount: number
      readonly pageInfo: { readonly endCursor: string }
      readonly nodes: readonly { readonly id: string; readonly body: string }[]
    }
  }
  expect(first.paths).toEqual({ title: 'alert.name', key: null, resolvedValues: ['over'] })
  const [newest] = first.bodies.nodes
  expect([first.bodies.totalCount, first.bodies.nodes.length]).toEqual([5, 3])
  expect(newest?.body).toHaveLength(4000)
  expect(newest).toMatchObject({ status: 'IGNORED', note: 'No rule matches it.' })
  const rest = await ask(`bodies(first: 3, after: "${first.bodies.pageInfo.endCursor}") { ${page} }`)
  expect(rest.bodies.nodes.map(({ body }: { body: string }) => body.slice(0, 30))).toEqual([
    '{"alert":{"name":"Number 1","n',
    '{"alert":{"name":"Number 0","n',
  ])
  expect(rest.bodies.pageInfo.hasNextPage).toBe(false)
  const whole = await ask(
    `fullBody(id: "${newest?.id}") other: fullBody(id: "ibd_none") strange: fullBody(id: "\\u0001")`,
  )
  expect(whole).toEqual({
    fullBody: expect.stringMatching(/^\{"alert":\{"name":"Number 4"/),
    other: null,
    strange: null,
  })
  expect(await ask('fullBody(id: "\\u0000")'), 'no stored text has it').toMatchObject([
    { extensions: { code: 'BAD_USER_INPUT' } },
  ])
  expect(whole.fullBody).toHaveLength(10_039)
})
