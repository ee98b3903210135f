import { expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { mutate } from '../../support/filled-organization.ts'
import { newOrganization } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { statementsOf } from '../../support/statements.ts'

const { baseUrl: url } = await testApp({
  dns: await startDnsServer(scriptedLists()),
  // This file counts statements, so nothing else may query the database.
  settings: { ROLE: 'web', DEFAULT_TIER: 'team' },
})
const { key } = await newOrganization(url)

const newService = () => mutate(url, key, 'createService', 'Service', { name: 'API' })
const affected = async () => [{ serviceId: (await newService()).id, status: 'DEGRADED_PERFORMANCE' }]
const incident = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look into it.' }
const newIncident = (input: object = {}) => mutate(url, key, 'createIncident', 'Incident', { ...incident, ...input })
const post = (incidentId: string, status: string, services: readonly object[] = []) =>
  mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', { incidentId, status, message: 'Found.', services })
const maintenance = {
  title: 'Move',
  message: 'We move.',
  startsAt: new Date(Date.now() + 3_600_000).toISOString(),
  endsAt: new Date(Date.now() + 7_200_000).toISOString(),
}

/** The most important mutations and the maximum statements of each, including begin and commit of its transaction. */
const mutations: readonly (readonly [name: string, most: number, prepare: () => Promise<() => Promise<unknown>>])[] = [
  ['createIncident', 5, async () => () => newIncident()],
  [
    'createIncident with a service',
    5,
    async () => {
      const services = await affected()
      return () => newIncident({ services })
    },
  ],
  ['createIncident with an idempotency key', 8, async () => () => newIncident({ idempotencyKey: crypto.randomUUID() })],
  [
    'postIncidentUpdate',
    6,
    async () => {
      const { id } = await newIncident()
      return () => post(id, 'IDENTIFIED')
    },
  ],
  [
    'postIncidentUpdate with a service',
    6,
    async () => {
      const [{ id }, services] = [await newIncident(), await affected()]
      return () => post(id, 'IDENTIFIED', services)
    },
  ],
  [
    'postIncidentUpdate that resolves',
    6,
    async () => {
      const { id } = await newIncident({ services: await affected() })
      return () => post(id, 'RESOLVED')
    },
  ],
  [
    'updateIncident',
    6,
    async () => {
      const { id } = await newIncident()
      return () => mutate(url, key, 'updateIncident', 'Incident', { id, title: 'Slower' })
    },
  ],
  ['createService', 7, async () => newService],
  [
    'updateService',
    // One more than others: it checks whether a file manages the service.
    7,
    async () => {
      const { id } = await newService()
      return () => mutate(url, key, 'updateService', 'Service', { id, name: 'Web' })
    },
  ],
  // One more than others: the bounds of what an organization may have.
  ['scheduleMaintenance', 7, async () => () => mutate(url, key, 'scheduleMaintenance', 'Maintenance', maintenance)],
]

/**
 * Statements that do not belong to the change: the key is read every two seconds and its use recorded every minute
 * (account/api-key/known-keys.ts), and without a worker, this instance stands in and asks when its next delivery is due
 * (app/standby.ts).
 */
const aside = /key\.hash|UPDATE "public"."ApiKey"|^\s*SELECT \(SELECT min\("dueAt"\)/

/** The minimum of six runs, because background jobs of the process send statements too. */
async function fewest(prepare: () => Promise<() => Promise<unknown>>): Promise<string[]> {
  let least: string[] | null = null
  for (let turn = 0; turn < 6; turn++) {
    const statements = (await statementsOf(await prepare())).filter((text) => !aside.test(text))
    if (least === null || statements.length < least.length) least = statements
  }
  return least ?? []
}

test.each(mutations)('%s takes at most %i statements, all of which are needed', async (_name, most, prepare) => {
  const statements = await fewest(prepare)
  expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(most)
  expect(statements.filter((text) => text.includes('1=0'))).toEqual([])
})
