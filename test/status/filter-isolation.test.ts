import { afterAll, expect, test } from 'vitest'
import { testApp } from '../support/app.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization } from '../support/filled-organization.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { startReceiver } from '../support/receiver.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)
const receiver = await startReceiver()
afterAll(() => receiver.close())
const { baseUrl: url } = await testApp({
  database: await testDatabase(),
  dns: await startDnsServer(scriptedLists()),
  settings: { ALLOW_PRIVATE_NETWORKS: 'true' },
  now: () => now,
})
const hook = `${receiver.url}/hook`
const mine = await filledOrganization(url, { startsAt: hours(8), endsAt: hours(10) }, hook)
/** An organization with nothing except the event of its creation. */
const stranger = await newOrganization(url)

const range = (name: string) => `${name}After: "2020-01-01T00:00:00Z", ${name}Before: "2030-01-01T00:00:00Z"`
const { Service, ServiceGroup, Incident, Monitor, Subscriber } = mine.ids

/** Filters that each match something of `mine`, by list and order. */
const filters: readonly (readonly [list: string, filter: string, orderFields?: readonly string[]])[] = [
  ['services', 'text: "rest"', ['POSITION', 'NAME', 'STATUS']],
  ['services', range('created')],
  ['services', `groupId: "${ServiceGroup}", text: "api"`],
  ['services', 'status: [PARTIAL_OUTAGE]'],
  ['incidents', 'text: "slow"', ['STARTED_AT']],
  ['incidents', 'text: "looking"'],
  ['incidents', range('started')],
  ['incidents', `serviceId: "${Service}", ${range('started')}, open: true, impact: [MAJOR], text: "s"`],
  ['maintenances', 'text: "disks"', ['STARTS_AT']],
  ['maintenances', 'text: "interruptions"'],
  ['maintenances', `${range('starts')}, status: [SCHEDULED]`],
  ['monitors', 'text: "monitored"', ['CREATED_AT', 'NAME', 'STATE_SINCE']],
  ['monitors', `${range('created')}, kind: [HTTP], serviceId: "${Service}"`],
  ['events', `subjectId: "${Incident}", ${range('occurred')}`, ['OCCURRED_AT']],
  ['events', `subjectId: "${Monitor}"`],
  ['subscribers', 'address: "127.0.0"'],
  ['subscribers', `${range('created')}, channel: [WEBHOOK]`],
  ['deliveries', `subscriberId: "${Subscriber}"`],
  ['deliveries', range('created')],
]

const cases = filters.flatMap(([list, filter, orderFields = []]) => [
  [list, `filter: { ${filter} }`] as const,
  ...orderFields.flatMap((field) =>
    ['ASC', 'DESC'].map(
      (direction) => [list, `filter: { ${filter} }, orderBy: { field: ${field}, direction: ${direction} }`] as const,
    ),
  ),
])

interface Found {
  readonly totalCount: number
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean }
  readonly nodes: readonly unknown[]
}

async function find(key: string, list: string, given: string): Promise<Found> {
  const pageInfo = 'pageInfo { endCursor hasNextPage }'
  const query = `{ organization { ${list}(${given}) { totalCount ${pageInfo} nodes { __typename } } } }`
  const { data, errors } = await post(url, { key, query })
  expect(errors).toBeUndefined()
  const { organization } = data as unknown as { organization: Record<string, Found> }
  const found = organization[list]
  if (found === undefined) throw new Error(`There is no list ${list}`)
  return found
}

test.each(cases)('%s(%s) finds the organization’s own objects, and nothing for a stranger', async (list, given) => {
  const own = await find(mine.key, list, given)
  expect(own.totalCount).toBeGreaterThan(0)
  const nothing = { totalCount: 0, nodes: [], pageInfo: { endCursor: null, hasNextPage: false } }
  expect(await find(stranger.key, list, given)).toEqual(nothing)
  // A cursor is a position: it does not lead to a row of the organization that it came from.
  expect(await find(stranger.key, list, `${given}, after: "${own.pageInfo.endCursor}"`)).toMatchObject({ nodes: [] })
})

test.each([
  ['pastIncidents', 'text: "slow"'],
  ['pastIncidents', range('started')],
  ['pastMaintenances', 'text: "disks"'],
  ['pastMaintenances', range('starts')],
])('%s(filter: { %s }) of a page contains nothing of another page', async (list, filter) => {
  const query = `{ statusPage(slug: "${stranger.slug}") { ${list}(filter: { ${filter} }) { totalCount nodes { id } } } }`
  const { data, errors } = await post(url, { query })
  expect(errors).toBeUndefined()
  expect(data).toEqual({ statusPage: { [list]: { totalCount: 0, nodes: [] } } })
})

test.each([mine.key, undefined])('only the operator can search for organizations', async (key) => {
  const query = '{ organizations(filter: { text: "acme" }) { totalCount } }'
  const { data, errors } = await post(url, { key, query })
  expect(data).toBeNull()
  expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual([
    key === undefined ? 'UNAUTHENTICATED' : 'FORBIDDEN',
  ])
})
