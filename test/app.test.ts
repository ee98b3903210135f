import { expect, test } from 'vitest'
import { HOUR, SECOND } from '../src/time.ts'
import { testApp } from './support/app.ts'
import { noon } from './support/context.ts'
import { startDnsServer } from './support/dns-server.ts'
import { mutate, succeed } from './support/filled-organization.ts'
import { newOrganization } from './support/graphql-client.ts'
import { scriptedLists } from './support/scripted-lists.ts'

test('maintenance starts and ends by itself, with nobody connected', async () => {
  let time = noon
  const dns = await startDnsServer(scriptedLists())
  const { baseUrl } = await testApp({ dns, now: () => time })
  const { key } = await newOrganization(baseUrl)
  const { id } = await mutate(baseUrl, key, 'scheduleMaintenance', 'Maintenance', {
    title: 'Work',
    message: 'We work.',
    startsAt: new Date(noon.getTime() + HOUR),
    endsAt: new Date(noon.getTime() + 2 * HOUR),
  })
  const status = async () => {
    const query = 'query ($id: ID!) { node(id: $id) { ... on Maintenance { status } } }'
    return (await succeed(baseUrl, undefined, query, { id }))['status']
  }
  expect(await status()).toBe('SCHEDULED')
  time = new Date(noon.getTime() + HOUR)
  await expect.poll(status, { timeout: 15 * SECOND, interval: 200 }).toBe('IN_PROGRESS')
  time = new Date(noon.getTime() + 2 * HOUR)
  await expect.poll(status, { timeout: 15 * SECOND, interval: 200 }).toBe('COMPLETED')
}, 40_000)
