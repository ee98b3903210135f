// @slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { serverUrl } from '../support/database.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { mutate, succeed } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import type { ServiceProcess } from '../support/process.ts'
import { startService } from '../support/process.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { testData } from '../support/service-data.ts'
import { using } from '../support/shared-database.ts'

/** How many alerts one sender sends about its 40 checks. */
const COUNT = 1000
const CHECKS = 40
/** How many notifications another sender sends about one group that keeps growing. */
const GROWING = 200
const SERVICES = ['Shop', 'Search', 'Mail', 'Images', 'Accounts'] as const
/** How many requests the senders have in progress. */
const AT_ONCE = 20
/** After how many answers a process is killed. */
const KILLED_AFTER = 400

const dns = await startDnsServer(scriptedLists())
const started: ServiceProcess[] = []
afterAll(async () => {
  for (const service of started) service.signal('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  await dns.close()
})

type Data = Awaited<ReturnType<typeof testData>>

function start({ dataDir, settings }: Data, role = 'all'): ServiceProcess {
  const own = { DATA_DIR: dataDir, SECRET_KEY: 'the key of processes that share a database', ROLE: role }
  const service = startService(dns, { ...own, ...settings })
  started.push(service)
  return service
}

/** A request of a sender. */
interface Sent {
  readonly path: string
  readonly body: string
}

/** An organization with an integration, and the ids of its incident's services by name. */
interface Sender {
  readonly key: string
  readonly requests: readonly Sent[]
}

/** A sender of GENERIC alerts. */
async function manyChecks(url: string): Promise<Sender> {
  const { key } = await newOrganization(url)
  const path = await integration(url, key, 'GENERIC', [{ mode: 'PUBLISH' }])
  const alert = (number: number) => {
    const check = `check ${number % CHECKS}`
    return { title: `${check} fails`, key: check, text: `number ${number}.` }
  }
  return {
    key,
    requests: Array.from({ length: COUNT }, (_, number) => ({ path, body: JSON.stringify(alert(number)) })),
  }
}

/** An Alertmanager with one group, in which another service fails from time to time. */
async function growingGroup(url: string): Promise<Sender> {
  const { key } = await newOrganization(url)
  const rules: object[] = []
  for (const name of SERVICES) {
    const { id: serviceId } = await mutate(url, key, 'createService', 'Service', { name })
    rules.push({ labels: [{ name: 'service', value: name }], serviceId, mode: 'PUBLISH' })
  }
  const path = await integration(url, key, 'ALERTMANAGER', rules)
  const notification = (number: number) => {
    const failing = SERVICES.slice(0, 1 + Math.floor((number * SERVICES.length) / GROWING))
    const alerts = failing.map((service) => ({ status: 'firing', labels: { service, severity: 'warning' } }))
    const annotations = { summary: 'Requests fail', description: `number ${number}.` }
    return { version: '4', groupKey: 'g', status: 'firing', commonAnnotations: annotations, alerts }
  }
  return {
    key,
    requests: Array.from({ length: GROWING }, (_, number) => ({ path, body: JSON.stringify(notification(number)) })),
  }
}

async function integration(url: string, key: string, kind: string, rules: readonly object[]): Promise<string> {
  const made = await mutate<{ url: string }>(
    ...([url, key, 'createIntegration', 'Integration', { name: 'Checks', kind, rules }, 'url'] as const),
  )
  return new URL(made.url).pathname
}

/** The requests of both senders, in sending order. */
const mixed = (...senders: readonly Sender[]) =>
  senders
    .flatMap(({ requests }) => requests.map((request, index) => ({ request, at: index / requests.length })))
    .toSorted((a, b) => a.at - b.at)
    .map(({ request }) => request)

/**
 * Sends until every request is accepted or the service is gone. Repeats unanswered requests, as senders do.
 * @param onAccepted gets the total of accepted requests.
 * @returns the requests that were not accepted.
 */
async function send(
  base: string,
  requests: readonly Sent[],
  onAccepted: (count: number) => void = () => {},
): Promise<readonly Sent[]> {
  const left = requests.toReversed()
  let accepted = 0
  async function one(): Promise<void> {
    for (let sent = left.pop(); sent !== undefined; sent = left.pop()) {
      const status = await fetch(base + sent.path, { method: 'POST', body: sent.body })
        .then((response) => response.status)
        .catch(() => 0)
      if (status === 202) {
        accepted += 1
        onAccepted(accepted)
        continue
      }
      left.push(sent)
      if (status === 0) return
      // The service is busy, and sends a Retry-After.
      expect(status).toBe(503)
      await sleep(100)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return left.toReversed()
}

/** Waits until no received body of an organization is pending. */
async function allRead(url: string, key: string): Promise<void> {
  const bodies = 'bodies(first: 1, filter: { status: [PENDING] }) { totalCount }'
  const query = `{ organization { alertIntegrations(first: 1) { nodes { ${bodies} } } } }`
  type Found = { alertIntegrations: { nodes: { bodies: { totalCount: number } }[] } }
  for (;;) {
    const { alertIntegrations } = await succeed<Found>(url, key, query)
    if (alertIntegrations.nodes[0]?.bodies.totalCount === 0) return
    await sleep(100)
  }
}

/** The numbers in the bodies that an organization received, in ascending order. */
async function keptNumbers(url: string, key: string): Promise<number[]> {
  type Page = { nodes: { body: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
  const query = `query ($after: String) { organization { alertIntegrations(first: 1) { nodes {
    bodies(first: 100, after: $after) { nodes { body } pageInfo { hasNextPage endCursor } } } } } }`
  const found: string[] = []
  for (let after: string | null = null; ; ) {
    const { alertIntegrations } = await succeed<{ alertIntegrations: { nodes: { bodies: Page }[] } }>(url, key, query, {
      after,
    })
    const page: Page = alertIntegrations.nodes[0]?.bodies ?? expect.unreachable()
    found.push(...page.nodes.map(({ body }) => body))
    if (!page.pageInfo.hasNextPage) break
    after = page.pageInfo.endCursor
  }
  return found.map((body) => Number(/number (\d+)\./.exec(body)?.[1])).sort((a, b) => a - b)
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

/** The updates and events of an organization's only incident. */
async function story({ dataDir, settings }: Data, organizationKey: 'GENERIC' | 'ALERTMANAGER') {
  return using(settings['DATABASE_URL'] ?? dataDir, async ({ prisma }) => {
    const integration = await prisma.integration.findFirstOrThrow({ where: { kind: organizationKey } })
    const { organizationId, id: integrationId } = integration
    const statuses = await prisma.incomingBody.groupBy({ by: ['status'], where: { integrationId }, _count: true })
    const notes = await prisma.incomingBody.groupBy({ by: ['note'], where: { integrationId }, _count: true })
    const incidents = await prisma.incident.findMany({
      where: { organizationId },
      include: { updates: { orderBy: { createdAt: 'asc' } }, services: true },
    })
    const events = await prisma.event.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })
    return {
      statuses: statuses.map(({ status }) => status),
      opened: notes.find(({ note }) => note === 'Opened an incident.')?._count ?? 0,
      groups: await prisma.incomingGroup.count({ where: { integrationId } }),
      incidents: incidents.map(({ services, updates }) => ({
        services: services.length,
        updates: updates.map(({ message }) => message.split('\n')[0] ?? ''),
      })),
      events: events.map(({ kind }) => kind).filter((kind) => kind.startsWith('INCIDENT_')),
    }
  })
}

/** Expects exactly one incident per sender, without repeated updates. */
async function expectOneIncidentEach(data: Data): Promise<void> {
  expect(await story(data, 'GENERIC')).toMatchObject({
    ...{ statuses: ['DONE'], opened: 1, groups: CHECKS },
    incidents: [{ services: 0, updates: [expect.stringMatching(/^check \d+ fails$/)] }],
    events: ['INCIDENT_CREATED'],
  })
  const grown = await story(data, 'ALERTMANAGER')
  expect(grown).toMatchObject({
    ...{ statuses: ['DONE'], opened: 1, groups: 1 },
    incidents: [{ services: SERVICES.length }],
  })
  const [, ...updates] = grown.incidents[0]?.updates ?? []
  const added = updates.flatMap((update) => /^Also affected: (.+)\.$/.exec(update)?.[1]?.split(', ') ?? [update])
  expect(new Set(added).size, `each service is added once: ${updates.join(' ')}`).toBe(added.length)
  expect(SERVICES.slice(-added.length)).toEqual(added)
  expect(grown.events).toEqual(['INCIDENT_CREATED', ...updates.map(() => 'INCIDENT_UPDATE_POSTED')])
}

test('1,000 alerts of one sender, and the service killed in the middle: no alert is lost, and there is one incident', async () => {
  const data = await testData()
  const first = start(data)
  const url = await first.ready()
  const [many, growing] = [await manyChecks(url), await growingGroup(url)]
  const left = await send(url, mixed(many, growing), (count) => {
    if (count === KILLED_AFTER) first.signal('SIGKILL')
  })
  expect((await first.ended).signal).toBe('SIGKILL')
  expect(left.length, 'it was killed in the middle').toBeGreaterThan(0)

  const second = start(data)
  const again = await second.ready()
  expect(await send(again, left)).toEqual([])
  const kept: number[][] = []
  for (const { key } of [many, growing]) {
    await allRead(again, key)
    kept.push(await keptNumbers(again, key))
  }
  second.signal('SIGTERM')
  await second.ended

  expect(kept.map((numbers) => [...new Set(numbers)])).toEqual([upTo(COUNT), upTo(GROWING)])
  // A body whose response was lost arrived twice.
  expect(kept.flat().length).toBeLessThanOrEqual(COUNT + GROWING + AT_ONCE)
  await expectOneIncidentEach(data)
  await data.remove()
})

test.skipIf(serverUrl === undefined)(
  '1,000 alerts of one sender, and a worker killed in the middle: every alert is answered, and another worker takes over',
  async () => {
    const data = await testData()
    const web = start(data, 'web')
    const url = await web.ready()
    const [many, growing] = [await manyChecks(url), await growingGroup(url)]
    const worker = start(data, 'worker')
    await worker.ready()
    const left = await send(url, mixed(many, growing), (count) => {
      if (count === KILLED_AFTER) worker.signal('SIGKILL')
    })
    expect(left).toEqual([])
    expect((await worker.ended).signal).toBe('SIGKILL')
    const others = [start(data, 'worker'), start(data, 'worker')]
    await Promise.all(others.map((other) => other.ready()))
    for (const [index, { key }] of [many, growing].entries()) {
      await allRead(url, key)
      expect(await keptNumbers(url, key)).toEqual(upTo(index === 0 ? COUNT : GROWING))
    }
    for (const service of [...others, web]) service.signal('SIGTERM')
    await Promise.all([...others, web].map(({ ended }) => ended))
    await expectOneIncidentEach(data)
    await data.remove()
  },
)
