// @slow
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { createApiKey, revokeApiKey } from '../../../src/account/api-key/api-key.ts'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import type { Scope, Tier } from '../../../src/generated/prisma/enums.ts'
import { createMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { RESULTS_NOTIFICATION } from '../../../src/monitoring/result/result-store.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { createService } from '../../../src/status/service/service.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { mutate, succeed } from '../../support/filled-organization.ts'
import { post } from '../../support/graphql-client.ts'
import type { Subscription } from '../../support/live-client.ts'
import { lastingTransports } from '../../support/live-client.ts'
import { startLiveService } from '../../support/live-service.ts'
import { fewestStatements } from '../../support/statements.ts'
import { samples, seal } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const service = await startLiveService(database)
const { url } = service
const left: Subscription[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const subscription of left.splice(0)) await subscription.leave()
})
afterAll(() => service.close())

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const api = { name: 'API', http: samples.http }
let made = 0

/** An organization, and the context of its first key. */
async function organization(tier: Tier = 'FREE') {
  const operator = testContext(prisma, { actor: { kind: 'operator' } })
  const fields = { name: 'Acme', slug: `acme-${++made}`, contactEmail: 'ops@acme.example' }
  const { organization, apiKey } = await createOrganization(operator, fields)
  await prisma.organization.update({ where: { id: organization.id }, data: { tier } })
  const ctx = { ...testContext(prisma, { actor: await authenticate(operator, apiKey.secret) }), seal }
  const keyOf = async (scope: Scope) => (await createApiKey(ctx, { name: scope, scope })).secret
  return { id: organization.id, key: apiKey.secret, ctx, keyOf }
}

/** Reads fields of a monitor with a key, and returns them. */
async function read<T = Record<string, unknown>>(key: string, id: string, fields: string): Promise<T> {
  return succeed<T>(url, key, `query ($id: ID!) { node(id: $id) { ... on Monitor { ${fields} } } }`, { id })
}

const run = (key: string, mutation: string, id: string, type = 'Monitor', fields = 'id') =>
  succeed(
    url,
    key,
    `mutation ($id: ID!) { ${mutation}(id: $id) { ... on ${type} { ${fields} } ... on Error { code message } } }`,
    { id },
  )

describe('a monitor', () => {
  const http = {
    url: 'https://api.example.com/health',
    method: 'POST',
    headers: [{ name: 'Authorization', value: 'Bearer s3cret' }],
    body: 's3cret body',
    expectedStatus: [200, '3xx', '500-503'],
    maxRedirects: 2,
    keyword: { text: 'ok' },
    json: { path: '$.status', equals: 1 },
    maxBodyBytes: 1000,
    verifyCertificate: false,
    certificateDays: 7,
    degradedAboveMs: 800,
    ipVersion: 6,
  }

  test.each([
    [
      'http',
      http,
      `url method headers { name } hasBody expectedStatus maxRedirects keyword { text absent }
       json { path equals absent } maxBodyBytes verifyCertificate certificateDays degradedAboveMs ipVersion`,
      {
        ...http,
        headers: [{ name: 'Authorization' }],
        body: undefined,
        hasBody: true,
        expectedStatus: ['200', '3xx', '500-503'],
        keyword: { text: 'ok', absent: false },
        json: { path: '$.status', equals: 1, absent: false },
      },
    ],
    [
      'tcp',
      { ...samples.tcp, send: 's3cret' },
      'host port tls verifyCertificate hasSend expect degradedAboveMs',
      { ...samples.tcp, verifyCertificate: true, hasSend: true, expect: null, degradedAboveMs: null },
    ],
    [
      'dns',
      { ...samples.dns, expected: ['10 mail.example.com'], match: 'CONTAINS', resolver: '9.9.9.9' },
      'name recordType expected match resolver degradedAboveMs',
      {
        ...samples.dns,
        expected: ['10 mail.example.com'],
        match: 'CONTAINS',
        resolver: '9.9.9.9',
        degradedAboveMs: null,
      },
    ],
    [
      'ping',
      { ...samples.ping, count: 2 },
      'host count degradedAboveMs',
      { ...samples.ping, count: 2, degradedAboveMs: null },
    ],
    ['heartbeat', samples.heartbeat, 'graceSeconds', samples.heartbeat],
    [
      'blacklist',
      { target: '192.0.2.1', acknowledged: [] },
      'target acknowledged',
      { target: '192.0.2.1', acknowledged: [] },
    ],
  ])('of kind %s can be created, and returns its options without secrets', async (kind, options, fields, shown) => {
    const { key } = await organization()
    const input = { name: kind, serviceId: null, timeoutMs: 5000, failureThreshold: 3, probe: { [kind]: options } }
    const monitor = await mutate<Record<string, unknown>>(
      url,
      key,
      'createMonitor',
      'Monitor',
      input,
      `name kind state timeoutMs pausedBy version service { id } options { ... on ${kind.replace(/^./, (first) => first.toUpperCase())}Options { ${fields} } }`,
    )
    expect(monitor).toEqual({
      name: kind,
      kind: kind.toUpperCase(),
      state: 'PENDING',
      timeoutMs: 5000,
      pausedBy: null,
      version: 1,
      service: null,
      options: { ...shown, body: undefined },
    })
    expect(JSON.stringify(monitor)).not.toContain('s3cret')
  })

  test('can be updated, paused, resumed and deleted', async () => {
    const { key, ctx } = await organization()
    const { id } = await createMonitor(ctx, api)
    const edit = { id, name: 'Front', agreement: 2, probe: { http: { url: 'https://b.example/', method: null } } }
    expect(
      await mutate(
        url,
        key,
        'updateMonitor',
        'Monitor',
        edit,
        'name agreement version options { ... on HttpOptions { url method } }',
      ),
    ).toEqual({ name: 'Front', agreement: 2, version: 2, options: { url: 'https://b.example/', method: 'GET' } })
    expect(await run(key, 'pauseMonitor', id, 'Monitor', 'state pausedBy regions { region }')).toEqual({
      state: 'PAUSED',
      pausedBy: 'OWNER',
      regions: [],
    })
    expect(await run(key, 'resumeMonitor', id, 'Monitor', 'state pausedBy')).toEqual({
      state: 'PENDING',
      pausedBy: null,
    })
    const events = `{ organization { events(first: 1) { edges { node { kind monitor { id name } } } } } }`
    const { events: reported } = await succeed<{ events: unknown }>(url, key, events)
    expect(reported).toEqual({ edges: [{ node: { kind: 'MONITOR_RESUMED', monitor: { id, name: 'Front' } } }] })
    expect(await run(key, 'deleteMonitor', id, 'DeleteMonitorPayload')).toEqual({ id })
    expect((await post(url, { query: `{ node(id: "${id}") { id } }`, key })).data).toEqual({ node: null })
  })

  test('is refused with typed errors', async () => {
    const { key, ctx } = await organization()
    const query = `mutation ($input: CreateMonitorInput!) { createMonitor(input: $input) {
      __typename ... on Error { code } ... on ValidationError { issues { path } } ... on TierLimitReachedError { limit } } }`
    const create = async (input: object) =>
      (await post(url, { query, key, variables: { input } })).data?.['createMonitor']
    const { name, http } = api
    const watched = { name, probe: { http } }
    expect(await create({ ...watched, intervalSeconds: 59 })).toMatchObject({ issues: [{ path: ['intervalSeconds'] }] })
    expect(await create({ name, probe: { http: { url: 'http://localhost/' } } })).toMatchObject({
      issues: [{ path: ['probe', 'http', 'url'] }],
    })
    expect(await create({ ...watched, serviceId: `svc_${'0'.repeat(24)}` })).toMatchObject({ code: 'NOT_FOUND' })
    for (let count = 0; count < 5; count += 1) await createMonitor(ctx, api)
    expect(await create(watched)).toEqual({ __typename: 'TierLimitReachedError', code: 'TIER_LIMIT_REACHED', limit: 5 })
  })

  test('never sends stored secrets to another host', async () => {
    const { key, keyOf } = await organization()
    const headers = [{ name: 'Authorization', value: 'Bearer s3cret' }]
    const { id } = await mutate<{ id: string }>(url, key, 'createMonitor', 'Monitor', {
      name: 'API',
      probe: { http: { url: 'https://a.example.com/', headers } },
    })
    const query = `mutation ($input: UpdateMonitorInput!) { updateMonitor(input: $input) {
      __typename ... on ValidationError { code issues { path message } } ... on Monitor { options { ... on HttpOptions { url } } } } }`
    const move = async (to: string) => {
      const input = { id, probe: { http: { url: to, headers: [{ name: 'authorization', value: null }] } } }
      return (await post(url, { query, key: await keyOf('WRITE'), variables: { input } })).data?.['updateMonitor']
    }
    expect(await move('https://evil.example.net/')).toEqual({
      __typename: 'ValidationError',
      code: 'INVALID_INPUT',
      issues: [
        {
          path: ['probe', 'http', 'headers', '0', 'value'],
          message: 'must be sent again: a secret is kept only while the scheme, host, port and proxy stay the same',
        },
      ],
    })
    expect(await move('https://a.example.com/other')).toMatchObject({ options: { url: 'https://a.example.com/other' } })
  })

  test('of kind heartbeat shows its URL to keys with scope WRITE, and a new URL after a rotation', async () => {
    const { key, ctx, keyOf } = await organization()
    const { id } = await createMonitor(ctx, { name: 'Job', heartbeat: {} })
    const fields = 'options { ... on HeartbeatOptions { graceSeconds url } }'
    const shown = async (to: string) => (await read(to, id, fields))['options']
    const before = (await shown(key)) as { url: string }
    expect(before.url).toMatch(/^https:\/\/allclear\.example\/api\/v1\/heartbeats\/[0-9a-v]{32}$/)
    expect(await shown(await keyOf('WRITE'))).toEqual(before)
    expect(await shown(await keyOf('READ'))).toEqual({ graceSeconds: 300, url: null })
    const rotated = await run(key, 'rotateHeartbeatToken', id, 'Monitor', fields)
    expect(rotated['options']).not.toEqual(before)
  })

  test('of each kind returns its options as the type of its kind', async () => {
    const { key, ctx } = await organization('PRO')
    for (const [kind, options] of Object.entries(samples)) {
      const { id } = await createMonitor(ctx, { name: kind, [kind]: options })
      const shown = await read(key, id, 'options { __typename }')
      expect(shown['options'], kind).toEqual({ __typename: expect.stringMatching(new RegExp(`^${kind}Options$`, 'i')) })
    }
  })
})

/** Writes a monitor's history: DOWN for an hour from noon yesterday, with an incident; UP before and after. */
async function withPast(monitorId: string, incidentId?: string): Promise<void> {
  await prisma.monitorInterval.deleteMany({ where: { monitorId } })
  await prisma.monitorInterval.createMany({
    data: [
      { monitorId, state: 'UP', startedAt: at(-3 * DAY), endedAt: at(-DAY) },
      { monitorId, state: 'DOWN', startedAt: at(-DAY), endedAt: at(-DAY + HOUR), cause: 'Refused.' },
      { monitorId, state: 'UP', startedAt: at(-DAY + HOUR) },
    ],
  })
  await prisma.watch.upsert({
    where: { id: `${monitorId}@local` },
    create: { id: `${monitorId}@local`, monitorId, region: 'local', stateSince: noon },
    update: {},
  })
  const found = {
    state: 'UP',
    lastKnownAt: noon,
    lastProbedAt: noon,
    lastOutcome: 'UP',
    lastMessage: 'Fine.',
  } as const
  await prisma.watch.updateMany({ where: { monitorId }, data: { ...found, lastLatencyMs: 20 } })
  const latencies = Array.from({ length: 64 }, (_, bucket) => (bucket === 0 ? 60 : 0))
  await prisma.monitorHour.create({
    data: { monitorId, hour: at(-HOUR), up: 60, degraded: 0, down: 0, unknown: 0, latencies },
  })
  if (incidentId !== undefined)
    await prisma.incidentMonitor.create({ data: { monitorId, incidentId, joinedAt: at(-DAY) } })
}

/** Creates an organization with a service whose monitor was down for an hour. */
async function watched(tier: Tier = 'TEAM') {
  const acme = await organization(tier)
  const { id: serviceId } = await createService(acme.ctx, { name: 'API', status: 'OPERATIONAL' })
  const incident = await createIncident(acme.ctx, {
    title: 'API is down',
    status: 'RESOLVED',
    impact: 'MAJOR',
    message: 'It is over.',
    startedAt: at(-DAY),
  })
  const { id } = await createMonitor(acme.ctx, { ...api, serviceId })
  await withPast(id, incident.id)
  return { ...acme, monitorId: id, serviceId, incidentId: incident.id }
}

describe('the history of a monitor', () => {
  test('has uptime, days, outages and latency', async () => {
    const { key, monitorId, incidentId } = await watched()
    const fields = `uptime { from to percentage coverage knownSeconds downSeconds upSeconds unknownSeconds }
      days(n: 2) { date from to percentage coverage downSeconds unknownSeconds }
      outages { totalCount edges { node { startedAt endedAt durationSeconds downSeconds cause incident { id } } } }
      latency { at count p50 p95 p99 }
      lastResult { at region outcome message latencyMs } regions { region state lastOutcome nextProbeAt }`
    const { latency, ...rest } = await read<{ latency: object[] }>(key, monitorId, fields)
    expect(rest).toEqual({
      uptime: {
        from: at(-30 * DAY).toISOString(),
        to: noon.toISOString(),
        percentage: 98.611,
        coverage: 10,
        knownSeconds: 3 * 86_400,
        downSeconds: 3600,
        upSeconds: 3 * 86_400 - 3600,
        unknownSeconds: 27 * 86_400,
      },
      days: [
        {
          date: '2026-11-19',
          from: '2026-11-19T00:00:00.000Z',
          to: '2026-11-20T00:00:00.000Z',
          percentage: 95.833,
          coverage: 100,
          downSeconds: 3600,
          unknownSeconds: 0,
        },
        {
          date: '2026-11-20',
          from: '2026-11-20T00:00:00.000Z',
          to: noon.toISOString(),
          percentage: 100,
          coverage: 100,
          downSeconds: 0,
          unknownSeconds: 0,
        },
      ],
      outages: {
        totalCount: 1,
        edges: [
          {
            node: {
              startedAt: at(-DAY).toISOString(),
              endedAt: at(-DAY + HOUR).toISOString(),
              durationSeconds: 3600,
              downSeconds: 3600,
              cause: 'Refused.',
              incident: { id: incidentId },
            },
          },
        ],
      },
      lastResult: { at: noon.toISOString(), region: 'local', outcome: 'UP', message: 'Fine.', latencyMs: 20 },
      regions: [{ region: 'local', state: 'UP', lastOutcome: 'UP', nextProbeAt: null }],
    })
    expect(latency).toHaveLength(24)
    expect(latency.at(-2)).toEqual({ at: at(-HOUR).toISOString(), count: 60, p50: 1, p95: 1, p99: 1 })
  })

  test('covers the requested span, up to the limit of the tier', async () => {
    const { key, monitorId } = await watched('FREE')
    const uptime = async (args: string) =>
      (await read<{ uptime: object }>(key, monitorId, `uptime${args} { from to percentage downSeconds }`)).uptime
    expect(await uptime('(from: "2026-11-19T12:00:00Z", to: "2026-11-19T14:00:00Z")')).toMatchObject({
      percentage: 50,
      downSeconds: 3600,
    })
    expect(await uptime('(from: "2020-01-01T00:00:00Z", to: "2099-01-01T00:00:00Z")')).toMatchObject({
      from: '2026-10-22T00:00:00.000Z',
      to: noon.toISOString(),
    })
    expect(await uptime('(from: "2020-01-01T00:00:00Z", to: "2020-01-02T00:00:00Z")')).toMatchObject({
      percentage: null,
    })
    const wrong = '{ organization { monitors { edges { node { FIELD } } } } }'
    for (const field of [
      'uptime(from: "2026-11-20T12:00:00Z", to: "2026-11-19T12:00:00Z") { from }',
      'days(n: 0) { date }',
      'days(n: 731) { date }',
      'latency(range: DAYS_90, resolution: HOUR) { at }',
      'results(after: "!") { totalCount edges { cursor } }',
      'outages(before: "~") { totalCount edges { cursor } }',
    ]) {
      const { errors } = await post(url, { query: wrong.replace('FIELD', field), key })
      expect(
        errors?.map(({ extensions }) => extensions?.['code']),
        field,
      ).toEqual(['INVALID_INPUT'])
    }
  })

  test('has pages of results, newest first, in both directions', async () => {
    const { key, monitorId } = await watched()
    const rows = Array.from({ length: 5 }, (_, index): Prisma.ProbeResultCreateManyInput[] => {
      const result = { monitorId, at: at(-index * MINUTE), outcome: 'UP', latencyMs: index, message: 'Fine.' } as const
      return [
        { ...result, region: 'east' },
        { ...result, region: 'west', detail: { status: 200, output: 'x' } },
      ]
    })
    await prisma.probeResult.createMany({ data: rows.flat() })
    const page = async (args: string) => {
      const fields = `results(${args}) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        edges { cursor node { cursor at region outcome latencyMs message detail { status output } } } }`
      const { results } = await read<{ results: Page }>(key, monitorId, fields)
      return { ...results, found: results.edges.map(({ node }) => `${node.latencyMs} ${node.region}`) }
    }
    const all = await page('first: 100')
    expect(all.totalCount).toBe(10)
    expect(all.found.slice(0, 3)).toEqual(['0 east', '0 west', '1 east'])
    expect(all.edges[1]).toEqual({
      cursor: all.edges[1]?.node.cursor,
      node: {
        cursor: expect.any(String),
        at: noon.toISOString(),
        region: 'west',
        outcome: 'UP',
        latencyMs: 0,
        message: 'Fine.',
        detail: { status: 200, output: 'x' },
      },
    })
    const second = await page(`first: 3, after: "${all.edges[2]?.cursor}"`)
    expect(second.found).toEqual(all.found.slice(3, 6))
    expect(second.pageInfo).toMatchObject({ hasNextPage: true, endCursor: all.edges[5]?.cursor })
    const back = await page(`last: 3, before: "${all.edges[6]?.cursor}"`)
    expect(back.found).toEqual(all.found.slice(3, 6))
    expect((await page(`last: 2`)).found).toEqual(all.found.slice(-2))
  })

  test('is public for services and private for monitors', async () => {
    const { serviceId, monitorId, key } = await watched()
    const fields = 'uptime { percentage downSeconds } days(n: 2) { date percentage }'
    const bars =
      'hours: bars(range: HOURS_24) { from downSeconds } week: bars(range: DAYS_7) { downSeconds } year: bars(range: YEAR) { to downSeconds source incidentStatus }'
    const query = `query ($id: ID!) { node(id: $id) { ... on Service { ${fields} ${bars} } } }`
    const shown = { uptime: { percentage: 98.611, downSeconds: 3600 } }
    const found = (await post(url, { query, variables: { id: serviceId } })).data?.['node']
    expect(found).toMatchObject(shown)
    const { hours, week, year } = found as unknown as Record<'hours' | 'week' | 'year', Record<string, unknown>[]>
    expect([hours.length, week.length, year.length]).toEqual([24, 7, 53])
    expect(week.map(({ downSeconds }) => downSeconds)).toEqual([0, 0, 0, 0, 0, 3600, 0])
    expect(year.at(-1)).toMatchObject({ to: noon.toISOString(), downSeconds: 3600, source: 'MONITORS_AND_INCIDENTS' })
    expect(hours[0]).toEqual({ from: at(-DAY).toISOString(), downSeconds: expect.any(Number) })
    const hidden = `query ($id: ID!) { node(id: $id) { ... on Monitor { ${fields} } } }`
    const asked = async (to?: string) =>
      (await post(url, { query: hidden, variables: { id: monitorId }, key: to })).data?.['node']
    expect(await asked()).toBeNull()
    expect(await asked((await organization()).key)).toBeNull()
    expect(await asked(key)).toMatchObject(shown)
  })

  test('needs as many statements for a hundred monitors as for one', async () => {
    const { key, id: organizationId, serviceId } = await watched()
    const query = (first: number) => `{ organization { monitors(first: ${first}) { totalCount edges { node {
      id name state effectiveIntervalSeconds options { ... on HttpOptions { url } } service { id name } lastResult { at } regions { state }
      uptime { percentage } week: uptime(from: "2026-11-13T12:00:00Z") { percentage } days(n: 90) { percentage }
      outages(first: 1) { edges { node { startedAt incident { title } } } } latency { p95 } } } } } }`
    const statements = async (first: number) => {
      let found = 0
      const count = await fewestStatements(async () => {
        const { data, errors } = await post(url, { query: query(first), key })
        expect(errors).toBeUndefined()
        found = (data as unknown as { organization: { monitors: Page } }).organization.monitors.edges.length
      })
      return { count, found }
    }
    const one = await statements(1)
    const { id: _, ...row } = await prisma.monitor.findFirstOrThrow({ where: { serviceId } })
    const ids = Array.from({ length: 99 }, (_, index) => `mon_${String(index).padStart(24, '0')}`)
    await prisma.monitor.createMany({ data: ids.map((id) => ({ ...row, id, options: row.options as object })) })
    const incident = await prisma.incident.findFirstOrThrow({ where: { organizationId } })
    for (const id of ids) await withPast(id, incident.id)
    const hundred = await statements(100)
    // Every time slice ends as soon as it starts.
    let time = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (time += SECOND))
    const slowly = await statements(100)
    // One more statement reads the organization's sizes, and background jobs may run a few.
    expect(hundred.found).toBe(100)
    expect(hundred.count).toBeLessThanOrEqual(one.count + 5)
    expect(slowly.count).toBeLessThanOrEqual(one.count + 5)
    expect(one.count).toBeLessThanOrEqual(30)
  })
})

interface Page {
  readonly totalCount: number
  readonly pageInfo: object
  readonly edges: readonly {
    readonly cursor: string
    readonly node: { readonly cursor: string; readonly region: string; readonly latencyMs: number }
  }[]
}

test('monitors of an organization can be filtered', async () => {
  const { key, ctx, serviceId, monitorId } = await watched()
  const { id: other } = await createMonitor(ctx, { name: 'Job', heartbeat: {} })
  const found = async (filter: string) => {
    const query = `{ organization { monitors${filter} { totalCount edges { node { id } } } } }`
    const { monitors } = await succeed<{ monitors: { totalCount: number; edges: { node: { id: string } }[] } }>(
      url,
      key,
      query,
    )
    expect(monitors.edges).toHaveLength(monitors.totalCount)
    return monitors.edges.map(({ node }) => node.id)
  }
  expect(await found('')).toEqual([monitorId, other].sort())
  expect(await found('(filter: { kind: [HEARTBEAT] })')).toEqual([other])
  expect(await found('(filter: { state: [UP, DOWN] })')).toEqual([])
  expect(await found(`(filter: { serviceId: "${serviceId}", kind: [HTTP] })`)).toEqual([monitorId])
  expect(await found('(filter: { serviceId: "svc_none" })')).toEqual([])
})

describe.each(lastingTransports)('probe results over $name', (transport) => {
  const query = `subscription ($id: ID!) {
    monitorChecks(id: $id) { cursor at region outcome latencyMs message monitor { id name uptime { downSeconds } } } }`
  const subscribe = async (id: string, key?: string) => {
    const subscription = await transport.subscribe(url, { query, variables: { id }, key })
    left.push(subscription)
    return subscription
  }
  const happen = async (monitorId: string, second: number) => {
    const result = { monitorId, at: at(second * 1000), region: 'local', outcome: 'DOWN', message: 'Refused.' } as const
    await prisma.probeResult.create({ data: result })
    await prisma.$executeRaw`SELECT pg_notify(${RESULTS_NOTIFICATION}, ${monitorId})`
  }
  /** Stores results until the subscription receives one. The subscription starts some time after the request. */
  const first = async (subscription: Subscription, monitorId: string) => {
    let reported = false
    const next = subscription.next().finally(() => {
      reported = true
    })
    let second = 0
    await vi.waitFor(async () => {
      await happen(monitorId, ++second)
      expect(reported).toBe(true)
    })
    return { result: await next, second }
  }

  test('arrive when they are stored, together with the monitor', async () => {
    const { key, monitorId } = await watched()
    const checks = await subscribe(monitorId, key)
    const { result } = await first(checks, monitorId)
    expect(result?.errors).toBeUndefined()
    expect(result?.data?.['monitorChecks']).toEqual({
      cursor: expect.any(String),
      at: expect.any(String),
      region: 'local',
      outcome: 'DOWN',
      latencyMs: null,
      message: 'Refused.',
      monitor: { id: monitorId, name: 'API', uptime: { downSeconds: 3600 } },
    })
  })

  test('require a valid key of the organization', async () => {
    const { ctx, keyOf, monitorId } = await watched()
    const codes = async (subscription: Subscription) =>
      (await subscription.next())?.errors?.map(({ extensions }) => extensions?.['code'])
    expect(await codes(await subscribe(monitorId))).toEqual(['UNAUTHENTICATED'])
    expect(await codes(await subscribe(monitorId, (await watched()).key))).toEqual(['NOT_FOUND'])
    expect(await codes(await subscribe('mon_none', (await watched()).key))).toEqual(['NOT_FOUND'])
    expect(await codes(await subscribe('\u0000', (await watched()).key))).toEqual(['BAD_USER_INPUT'])
    const secret = await keyOf('READ')
    const checks = await subscribe(monitorId, secret)
    const { result, second } = await first(checks, monitorId)
    expect(result?.errors).toBeUndefined()
    const { id } = await prisma.apiKey.findFirstOrThrow({ where: { prefix: secret.slice(0, 11), name: 'READ' } })
    await revokeApiKey(ctx, id)
    await happen(monitorId, second + 1)
    const more: unknown[] = []
    await (async () => {
      for (let each = await checks.next(); each !== null && !each.errors; each = await checks.next()) more.push(each)
    })().catch(() => {})
    expect(more.length).toBeLessThanOrEqual(second)
  })
})
