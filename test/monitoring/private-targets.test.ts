// @slow
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { HOUR } from '../../src/core/time.ts'
import { PRIVATE_NETWORKS_HINT } from '../../src/network/outbound/destination-policy.ts'
import { testApp } from '../support/app.ts'
import { testDatabase } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { post } from '../support/graphql-client.ts'
import { operatorToken } from '../support/service-data.ts'

// One instance serves, and another one probes.
const database = await testDatabase()
const { prisma } = database
const dns = await startDnsServer()
const web = await testApp({
  dns,
  database,
  settings: { ROLE: 'web', DEFAULT_TIER: 'team', SECRET_KEY: 'the shared key of two instances in a test' },
})
const worker = await testApp({
  dns,
  database,
  settings: { ROLE: 'worker', DEFAULT_TIER: 'team', SECRET_KEY: 'the shared key of two instances in a test' },
})
afterAll(() => Promise.all([web.close(), worker.close()]))

const soon = { timeout: 20_000, interval: 50 }

async function ask(query: string, variables: Record<string, unknown>, key: string = operatorToken) {
  const { data, errors } = await post(web.baseUrl, { query, variables, key })
  expect(errors).toBeUndefined()
  return data as unknown as Record<string, Record<string, unknown>>
}

async function tenant(slug: string) {
  const { createOrganization: made } = await ask(
    'mutation ($slug: String!) { createOrganization(input: { name: $slug, slug: $slug, contactEmail: "a@b.example" }) { ... on CreateOrganizationPayload { organization { id } apiKey { secret } } } }',
    { slug },
  )
  const { organization, apiKey } = made as { organization: { id: string }; apiKey: { secret: string } }
  return { id: organization.id, key: apiKey.secret }
}

const allow = (organizationId: string, allowed: boolean) =>
  ask(
    'mutation ($organizationId: ID!, $allowed: Boolean!) { setPrivateTargets(input: { organizationId: $organizationId, allowed: $allowed }) { ... on PrivateTargets { allowed } } }',
    { organizationId, allowed },
  )

async function createMonitor(key: string, url: string) {
  const { createMonitor: made } = await ask(
    'mutation ($url: String!) { createMonitor(input: { name: "Inside", intervalSeconds: 10, probe: { http: { url: $url } } }) { ... on Monitor { id } ... on ValidationError { issues { path message } } } }',
    { url },
    key,
  )
  return made as { id?: string; issues?: { path: string[]; message: string }[] }
}

async function testMonitor(key: string, id: string) {
  const { testMonitor: made } = await ask(
    'mutation ($id: ID!) { testMonitor(id: $id) { ... on TestMonitorPayload { outcome message } } }',
    { id },
    key,
  )
  return made as { outcome: string; message: string }
}

/** Makes a monitor due at a time: now, or so late that the worker leaves it alone. */
const dueAt = (monitorId: string, at: Date) => prisma.watch.updateMany({ where: { monitorId }, data: { dueAt: at } })
const later = () => new Date(Date.now() + HOUR)

/** Has the worker probe a monitor once, and waits for its result. */
async function probed(monitorId: string) {
  await prisma.probeResult.deleteMany({ where: { monitorId } })
  await dueAt(monitorId, new Date())
  await expect.poll(() => latestOf(monitorId), soon).not.toBeNull()
  await dueAt(monitorId, later())
  return latestOf(monitorId)
}

const latestOf = async (monitorId: string) => {
  const row = await prisma.probeResult.findFirst({ where: { monitorId }, orderBy: { at: 'desc' } })
  return row && { outcome: row.outcome, message: row.message, detail: row.detail }
}

async function target(answer: (path: string) => Promise<string | null>) {
  const requests: string[] = []
  const server = createServer(async ({ url = '/' }, response) => {
    requests.push(url)
    const location = await answer(url)
    response.writeHead(location === null ? 200 : 302, location === null ? {} : { location }).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.on('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

test('a permission reaches the instance that probes, for one organization, and its withdrawal makes the monitor unknown', async () => {
  const [acme, other] = [await tenant('acme'), await tenant('other')]
  const { url, requests } = await target(async () => null)
  const refused = { issues: [{ message: expect.stringContaining(PRIVATE_NETWORKS_HINT) }] }
  expect(await createMonitor(acme.key, `${url}/acme`)).toMatchObject(refused)

  await allow(acme.id, true)
  expect(await createMonitor(other.key, `${url}/other`)).toMatchObject(refused)
  const { id = '' } = await createMonitor(acme.key, `${url}/acme`)
  await expect.poll(() => latestOf(id), soon).toMatchObject({ outcome: 'UP' })
  await dueAt(id, later())

  await allow(acme.id, false)
  const before = requests.length
  expect(await probed(id)).toMatchObject({
    outcome: 'UNKNOWN',
    message: expect.stringContaining(PRIVATE_NETWORKS_HINT),
    detail: { isPrivateTarget: true },
  })
  expect(requests).toHaveLength(before)
  const monitor = await prisma.monitor.findUniqueOrThrow({ where: { id } })
  expect(monitor).toMatchObject({ state: 'UP', options: { url: `${url}/acme` } })

  await allow(acme.id, true)
  expect(await probed(id)).toMatchObject({ outcome: 'UP' })
  expect(requests.filter((path) => path !== '/acme')).toEqual([])
  const downs = { monitorId: id, state: 'DOWN' } as const
  expect(await prisma.monitorInterval.count({ where: downs })).toBe(0)
})

test('a withdrawal while a probe is in flight ends it at its next connection, as unknown', async () => {
  const { id: organizationId, key } = await tenant('in-flight')
  await allow(organizationId, true)
  const inner = await target(async () => null)
  let withdraw = false
  const outer = await target(async () => {
    if (withdraw) await allow(organizationId, false)
    return `${inner.url}/inner`
  })
  const { id = '' } = await createMonitor(key, outer.url)
  expect(await testMonitor(key, id)).toMatchObject({ outcome: 'UP' })
  const reached = inner.requests.length
  withdraw = true
  // The worker probes too: whichever probe is first withdraws.
  expect(await testMonitor(key, id)).toMatchObject({
    outcome: 'UNKNOWN',
    message: expect.stringContaining(PRIVATE_NETWORKS_HINT),
  })
  expect(inner.requests.length - reached).toBeLessThanOrEqual(1)
  expect(await prisma.monitor.count({ where: { id } })).toBe(1)
})
