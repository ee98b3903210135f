// @slow
import fc from 'fast-check'
import { graphql } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { newId } from '../../src/core/id.ts'
import type { Prisma } from '../../src/generated/prisma/client.ts'
import { createService, deleteService, reorderServices } from '../../src/status/service/service.ts'
import { createServiceGroup, deleteServiceGroup } from '../../src/status/service/service-group.ts'
import { type Tenant, tenantsOf } from '../status/setup.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

const { prisma: db } = await testDatabase()
const tenantOf = tenantsOf(db)
const operator = testContext(db, { actor: { kind: 'operator' } })
const at = (minutes: number) => new Date(noon.getTime() + minutes * 60_000)

interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly key: string } }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
  readonly totalCount: number
}

/** A connection under test: its query, and how rows are added and removed. */
interface Subject {
  readonly name: string
  /** The query; `%` stands for the connection's arguments and selection. */
  query(tenant: Tenant, monitorId: string): string
  /** The field that identifies nodes. */
  readonly key: string
  readonly asOperator?: true
  /** An order or a filter, as arguments. */
  readonly args?: string
  /** Adds a row; `minute` counts from noon. */
  add(tenant: Tenant, monitorId: string, minute: number): Promise<unknown>
  remove(tenant: Tenant, monitorId: string, key: string): Promise<unknown>
}

const ofOrganization = (field: string) => ({ query: () => `{ organization { ${field}% } }` })
const ofPage = (field: string) => ({ query: ({ slug }: Tenant) => `{ statusPage(slug: "${slug}") { ${field}% } }` })
const ofMonitor = (field: string) => ({
  query: (_: Tenant, id: string) => `{ node(id: "${id}") { ... on Monitor { ${field}% } } }`,
})

const service = (tenant: Tenant) => createService(tenant.ctx, { name: 'A service' })
const group = (tenant: Tenant) => createServiceGroup(tenant.ctx, { name: 'A group' })
const incident =
  (status: 'RESOLVED' | 'IDENTIFIED', title = 'An incident') =>
  (tenant: Tenant, _: string, minute: number) =>
    db.incident.create({
      data: {
        id: newId('Incident'),
        organizationId: tenant.id,
        title,
        impact: 'MINOR',
        status,
        startedAt: at(minute),
        createdAt: at(minute),
      },
    })
/** One incident with the word in an update, and one without. */
const incidentWith =
  (status: 'RESOLVED' | 'IDENTIFIED', message: string) => async (tenant: Tenant, _: string, minute: number) => {
    await incident(status)(tenant, _, minute)
    const { id: incidentId } = await incident(status)(tenant, _, minute)
    const data = { organizationId: tenant.id, incidentId, status, createdAt: at(minute) }
    for (const text of ['We look.', message]) {
      await db.incidentUpdate.create({ data: { ...data, id: newId('IncidentUpdate'), message: text } })
    }
  }
/** Three variants of each name that differ only in case. */
const named = (minute: number) => (minute % 2 === 0 ? `Thing ${minute}` : `thing ${minute}`)
const maintenance = (status: 'SCHEDULED' | 'COMPLETED') => (tenant: Tenant, _: string, minute: number) =>
  db.maintenance.create({
    data: {
      id: newId('Maintenance'),
      organizationId: tenant.id,
      title: 'Work',
      status,
      startsAt: at(minute),
      endsAt: at(minute + 60),
      createdAt: noon,
    },
  })
const deleteIncident = (_: Tenant, __: string, id: string) => db.incident.delete({ where: { id } })
const deleteMaintenance = (_: Tenant, __: string, id: string) => db.maintenance.delete({ where: { id } })

const subscriber = (tenant: Tenant, minute: number): Prisma.SubscriberUncheckedCreateInput => {
  const id = newId('Subscriber')
  return {
    id,
    organizationId: tenant.id,
    channel: 'EMAIL',
    address: id,
    addressHash: id,
    label: id,
    destination: 'mail.example',
    tokenHash: id,
    token: id,
    topics: [],
    allServices: true,
    createdAt: at(minute),
    confirmableUntil: at(minute),
  }
}

/** Three rows have the same time each, so ordering by time needs another criterion. */
const subjects: readonly Subject[] = [
  {
    name: 'Organization.services',
    ...ofOrganization('services'),
    key: 'id',
    add: service,
    remove: ({ ctx }, _, id) => deleteService(ctx, id),
  },
  {
    name: 'Organization.serviceGroups',
    ...ofOrganization('serviceGroups'),
    key: 'id',
    add: group,
    remove: ({ ctx }, _, id) => deleteServiceGroup(ctx, id),
  },
  {
    name: 'Organization.incidents',
    ...ofOrganization('incidents'),
    key: 'id',
    add: incident('IDENTIFIED'),
    remove: deleteIncident,
  },
  {
    name: 'Organization.maintenances',
    ...ofOrganization('maintenances'),
    key: 'id',
    add: maintenance('SCHEDULED'),
    remove: deleteMaintenance,
  },
  {
    name: 'StatusPage.pastIncidents',
    ...ofPage('pastIncidents'),
    key: 'id',
    add: incident('RESOLVED'),
    remove: deleteIncident,
  },
  {
    name: 'StatusPage.pastMaintenances',
    ...ofPage('pastMaintenances'),
    key: 'id',
    add: maintenance('COMPLETED'),
    remove: deleteMaintenance,
  },
  {
    name: 'Organization.events',
    ...ofOrganization('events'),
    key: 'cursor',
    add: service,
    remove: ({ id }, _, cursor) =>
      db.event.delete({ where: { organizationId_seq: { organizationId: id, seq: Number.parseInt(cursor, 36) } } }),
  },
  {
    name: 'Organization.services by name',
    ...ofOrganization('services'),
    args: 'orderBy: { field: NAME, direction: DESC }',
    key: 'id',
    add: ({ ctx }, _, minute) => createService(ctx, { name: named(minute) }),
    remove: ({ ctx }, _, id) => deleteService(ctx, id),
  },
  {
    name: 'Organization.services by status',
    ...ofOrganization('services'),
    args: 'orderBy: { field: STATUS, direction: DESC }',
    key: 'id',
    add: async (tenant, _, minute) => {
      const { id } = await service(tenant)
      const statusOverride = minute % 2 === 0 ? 'MAJOR_OUTAGE' : null
      return db.service.update({ where: { id }, data: { statusOverride } })
    },
    remove: ({ ctx }, _, id) => deleteService(ctx, id),
  },
  {
    name: 'Organization.services with a text and a status',
    ...ofOrganization('services'),
    args: 'filter: { text: "THING", status: [OPERATIONAL] }, orderBy: { field: POSITION, direction: DESC }',
    key: 'id',
    add: async (tenant, _, minute) => {
      await service(tenant)
      return createService(tenant.ctx, { name: named(minute), status: 'OPERATIONAL' })
    },
    remove: ({ ctx }, _, id) => deleteService(ctx, id),
  },
  {
    name: 'Organization.incidents with a text',
    ...ofOrganization('incidents'),
    args: 'filter: { text: "100%_" }, orderBy: { field: STARTED_AT, direction: ASC }',
    key: 'id',
    add: incidentWith('IDENTIFIED', 'It is at 100%_ again.'),
    remove: deleteIncident,
  },
  {
    name: 'StatusPage.pastIncidents with a text and a range',
    ...ofPage('pastIncidents'),
    args: `filter: { text: "ÉTAGE", startedAfter: "${at(0).toISOString()}" }`,
    key: 'id',
    add: incidentWith('RESOLVED', 'Au premier étage.'),
    remove: deleteIncident,
  },
  {
    name: 'Organization.maintenances with a text',
    ...ofOrganization('maintenances'),
    args: 'filter: { text: "work", status: [SCHEDULED] }',
    key: 'id',
    add: maintenance('SCHEDULED'),
    remove: deleteMaintenance,
  },
  {
    name: 'Organization.events in a range',
    ...ofOrganization('events'),
    args: `filter: { occurredAfter: "${noon.toISOString()}", kind: [SERVICE_CREATED] }`,
    key: 'cursor',
    add: service,
    remove: ({ id }, _, cursor) =>
      db.event.delete({ where: { organizationId_seq: { organizationId: id, seq: Number.parseInt(cursor, 36) } } }),
  },
  {
    name: 'Organization.monitors by name',
    ...ofOrganization('monitors'),
    args: 'filter: { kind: [TCP] }, orderBy: { field: NAME, direction: ASC }',
    key: 'id',
    add: ({ id }, _, minute) => addMonitor(id, minute),
    remove: (_, __, id) => db.monitor.delete({ where: { id } }),
  },
  {
    name: 'Organization.monitors by their last change',
    ...ofOrganization('monitors'),
    args: 'filter: { text: "HOST.example" }, orderBy: { field: STATE_SINCE, direction: DESC }',
    key: 'id',
    add: ({ id }, _, minute) => addMonitor(id, minute),
    remove: (_, __, id) => db.monitor.delete({ where: { id } }),
  },
  {
    name: 'Organization.apiKeys',
    ...ofOrganization('apiKeys'),
    key: 'id',
    add: ({ id: organizationId }, _, minute) => {
      const id = newId('ApiKey')
      const data = { id, organizationId, name: 'A key', scope: 'READ', prefix: 'ac_', hash: id } as const
      return db.apiKey.create({ data: { ...data, createdAt: at(minute) } })
    },
    remove: (_, __, id) => db.apiKey.delete({ where: { id } }),
  },
  {
    name: 'Organization.monitors',
    ...ofOrganization('monitors'),
    key: 'id',
    add: ({ id: organizationId }, _, minute) => addMonitor(organizationId, minute),
    remove: (_, __, id) => db.monitor.delete({ where: { id } }),
  },
  {
    name: 'Organization.subscribers',
    ...ofOrganization('subscribers'),
    key: 'id',
    add: (tenant, _, minute) => db.subscriber.create({ data: subscriber(tenant, minute) }),
    remove: (_, __, id) => db.subscriber.delete({ where: { id } }),
  },
  {
    name: 'Organization.deliveries',
    ...ofOrganization('deliveries'),
    key: 'id',
    add: async (tenant, _, minute) => {
      const { id: subscriberId } = await db.subscriber.create({ data: subscriber(tenant, minute) })
      const of = { organizationId: tenant.id, subscriberId, channel: 'EMAIL', subjectId: subscriberId } as const
      const data = { ...of, id: newId('Delivery'), destination: 'mail.example', createdAt: at(minute) }
      return db.delivery.create({ data })
    },
    remove: (_, __, id) => db.delivery.delete({ where: { id } }),
  },
  {
    name: 'Monitor.results',
    ...ofMonitor('results'),
    key: 'region',
    add: (_, monitorId, minute) =>
      db.probeResult.create({
        data: { monitorId, at: at(minute), region: newId('Delivery'), outcome: 'UP', message: '' },
      }),
    remove: (_, monitorId, region) => db.probeResult.deleteMany({ where: { monitorId, region } }),
  },
  {
    name: 'Query.unmatchedPayments',
    query: () => '{ unmatchedPayments% }',
    key: 'id',
    asOperator: true,
    add: (_, __, minute) =>
      db.paymentEvent.create({
        data: {
          id: newId('Delivery'),
          provider: 'STRIPE',
          type: 'invoice.paid',
          createdAt: noon,
          receivedAt: at(minute),
          payload: '',
          outcome: 'UNMATCHED',
        },
      }),
    remove: (_, __, id) => db.paymentEvent.delete({ where: { id } }),
  },
]

function addMonitor(organizationId: string, minute: number) {
  return db.monitor.create({
    data: {
      id: newId('Monitor'),
      organizationId,
      name: named(minute),
      kind: 'TCP',
      options: { host: 'host.example' },
      intervalSeconds: 60,
      timeoutMs: 1000,
      failureThreshold: 2,
      recoveryThreshold: 1,
      stateSince: at(minute),
      createdAt: at(minute),
    },
  })
}

/** The tenant and the monitor whose connection is paged through. */
interface Place {
  readonly tenant: Tenant
  readonly monitorId: string
}

async function placeOf({ name }: Subject): Promise<Place> {
  const tenant = await tenantOf('TEAM')
  await db.paymentEvent.deleteMany()
  if (name !== 'Organization.apiKeys' && !name.startsWith('Organization.events')) {
    return { tenant, monitorId: (await addMonitor((await tenantOf()).id, 0)).id }
  }
  // The rows that every organization begins with.
  await db.event.deleteMany({ where: { organizationId: tenant.id } })
  await db.apiKey.deleteMany({ where: { organizationId: tenant.id } })
  return { tenant, monitorId: '' }
}

async function ask(subject: Subject, { tenant, monitorId }: Place, asked: string) {
  const { query, key, asOperator, name } = subject
  const args = [asked, subject.args].filter(Boolean).join(', ')
  const organizationId =
    name.startsWith('Monitor.') && monitorId !== ''
      ? (await db.monitor.findUniqueOrThrow({ where: { id: monitorId } })).organizationId
      : tenant.id
  const keyHolder = { ...tenant.ctx, actor: { ...tenant.ctx.actor, organizationId } }
  const selection = `edges { cursor node { key: ${key} } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount`
  return graphql({
    schema,
    source: query(tenant, monitorId).replace('%', `(${args}) { ${selection} }`),
    contextValue: asOperator ? operator : keyHolder,
  })
}

async function read(subject: Subject, place: Place, args: string): Promise<Connection> {
  const { data, errors } = await ask(subject, place, args)
  expect(errors).toBeUndefined()
  const [outer] = Object.values(data ?? {}) as [Connection & Record<string, Connection>]
  return 'edges' in outer ? outer : (Object.values(outer)[0] as Connection)
}

const keysOf = ({ edges }: Connection) => edges.map(({ node }) => node.key)

describe.each(subjects.map((subject) => [subject.name, subject] as const))('%s', (_, subject) => {
  let place: Place
  let all: readonly string[]

  beforeAll(async () => {
    place = await placeOf(subject)
    for (let row = 0; row < 9; row++) await subject.add(place.tenant, place.monitorId, Math.floor(row / 3))
    all = keysOf(await read(subject, place, 'first: 100'))
    expect(all).toHaveLength(9)
  })

  test('reports correctly whether more rows exist on either side, forwards and backwards', async () => {
    const { edges } = await read(subject, place, 'first: 100')
    const cursor = (index: number) => edges[index]?.cursor
    const asked = [
      ['first: 3', 0, 3],
      [`first: 3, after: "${cursor(2)}"`, 3, 6],
      [`first: 3, after: "${cursor(5)}"`, 6, 9],
      [`first: 3, after: "${cursor(8)}"`, 9, 9],
      ['last: 3', 6, 9],
      [`last: 3, before: "${cursor(6)}"`, 3, 6],
      [`last: 9, before: "${cursor(3)}"`, 0, 3],
      [`before: "${cursor(4)}"`, 0, 4],
      [`first: 2, before: "${cursor(2)}"`, 0, 2],
      [`first: 9, after: "${cursor(1)}", before: "${cursor(7)}"`, 2, 7],
      [`last: 2, after: "${cursor(1)}", before: "${cursor(7)}"`, 5, 7],
      ['first: 0', 0, 0],
    ] as const
    for (const [args, start, end] of asked) {
      const page = await read(subject, place, args)
      expect([args, keysOf(page)]).toEqual([args, all.slice(start, end)])
      expect([args, page.pageInfo]).toEqual([
        args,
        {
          hasNextPage: end < 9,
          hasPreviousPage: start > 0,
          startCursor: start === end ? null : cursor(start),
          endCursor: start === end ? null : cursor(end - 1),
        },
      ])
      expect(page.totalCount).toBe(9)
    }
  })

  test.each([
    ['first: -1', /first: must not be negative/],
    ['last: -1', /last: must not be negative/],
    ['first: 101', /first: must be at most 100/],
    ['last: 1000000', /last: must be at most 100/],
    ['first: 1, last: 1', /together/],
    ['after: ""', /after: is not a cursor/],
    ['after: "é"', /after: is not a cursor/],
    ['before: "~"', /before: is not a cursor/],
    [`after: "${Buffer.from('GPC:S:inc_0').toString('base64')}"`, /after: is not a cursor/],
    [`after: "${Buffer.from('["Incident"]').toString('base64url')}"`, /after: is not a cursor/],
  ])('refuses %s', async (args, message) => {
    const { errors } = await ask(subject, place, args)
    expect(errors).toHaveLength(1)
    expect(errors?.[0]?.message).toMatch(message)
    expect(errors?.[0]?.originalError).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('continues after the cursor’s row is deleted', async () => {
    const seen: string[] = []
    let args = 'first: 2'
    for (;;) {
      const { pageInfo, ...page } = await read(subject, place, args)
      const keys = keysOf({ pageInfo, ...page })
      seen.push(...keys)
      for (const key of keys) await subject.remove(place.tenant, place.monitorId, key)
      if (!pageInfo.hasNextPage) break
      args = `first: 2, after: "${pageInfo.endCursor}"`
    }
    expect(seen).toEqual(all)
    expect((await read(subject, place, 'first: 1')).totalCount).toBe(0)
  })
})

/** The changes between two pages. */
interface Step {
  readonly size: number
  /** Whether the last row of the page just read is removed. */
  readonly dropsCursor: boolean
  /** Which other rows are removed, by their positions among the rest. */
  readonly drops: readonly number[]
  /** The times of rows that are added. */
  readonly adds: readonly number[]
}

const ways = {
  forwards: {
    args: (size: number, cursor: string | null) => `first: ${size}${cursor ? `, after: "${cursor}"` : ''}`,
    next: ({ hasNextPage, endCursor }: Connection['pageInfo']) => (hasNextPage ? endCursor : null),
    end: (keys: readonly string[]) => keys.at(-1),
  },
  backwards: {
    args: (size: number, cursor: string | null) => `last: ${size}${cursor ? `, before: "${cursor}"` : ''}`,
    next: ({ hasPreviousPage, startCursor }: Connection['pageInfo']) => (hasPreviousPage ? startCursor : null),
    end: (keys: readonly string[]) => keys[0],
  },
} as const

/**
 * Pages through a connection while rows are added and removed. Returns the seen rows, and those that were there
 * throughout.
 */
async function pageThrough(subject: Subject, place: Place, way: keyof typeof ways, steps: readonly Step[]) {
  const present = async () => keysOf(await read(subject, place, 'first: 100'))
  const { args, next, end } = ways[way]
  let stayed = await present()
  const seen: string[] = []
  for (let turn = 0, cursor: string | null = null; turn === 0 || cursor !== null; turn++) {
    const step = steps[turn % steps.length] as Step
    const page = await read(subject, place, args(step.size, cursor))
    seen.push(...keysOf(page))
    cursor = next(page.pageInfo)
    const left = await present()
    const last = step.dropsCursor ? [end(keysOf(page))] : []
    const gone = new Set([...step.drops.map((index) => left[index]), ...last].filter((key) => key !== undefined))
    for (const key of gone) await subject.remove(place.tenant, place.monitorId, key)
    stayed = stayed.filter((key) => !gone.has(key))
    // Limited, because a run that adds at each step might never end.
    for (const minute of turn < 10 ? step.adds : []) await subject.add(place.tenant, place.monitorId, minute)
  }
  return { seen, stayed }
}

describe('while rows are created and deleted', () => {
  const chosen = [
    'Organization.services',
    'Organization.services by status',
    'Organization.services with a text and a status',
    'Organization.incidents',
    'Organization.incidents with a text',
    'Organization.events in a range',
    'Organization.monitors by name',
    'Organization.monitors by their last change',
    'Query.unmatchedPayments',
    'Monitor.results',
  ]
  const step = fc.record<Step>({
    size: fc.integer({ min: 1, max: 4 }),
    dropsCursor: fc.boolean(),
    drops: fc.array(fc.nat(20), { maxLength: 2 }),
    adds: fc.array(fc.nat(5), { maxLength: 2 }),
  })
  const story = fc.record({ rows: fc.array(fc.nat(5), { maxLength: 12 }), steps: fc.array(step, { minLength: 1 }) })

  test.each(
    subjects
      .filter(({ name }) => chosen.includes(name))
      .flatMap((each) => (['forwards', 'backwards'] as const).map((way) => [each.name, way, each] as const)),
  )('no row of %s that stays is missed or seen twice, %s', async (_, way, subject) => {
    await fc.assert(
      fc.asyncProperty(story, async ({ rows, steps }) => {
        const place = await placeOf(subject)
        for (const minute of rows) await subject.add(place.tenant, place.monitorId, minute)
        const { seen, stayed } = await pageThrough(subject, place, way, steps)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter((key) => stayed.includes(key)).sort()).toEqual([...stayed].sort())
      }),
      runs(4, 12),
    )
  })
})

test('a cursor of services stays valid after a reordering without changes', async () => {
  const [subject] = subjects as [Subject]
  const place = await placeOf(subject)
  const ids: string[] = []
  for (let count = 0; count < 6; count++) ids.push((await service(place.tenant)).id)
  const { edges } = await read(subject, place, 'first: 3')
  await deleteService(place.tenant.ctx, ids[0] ?? '')
  await reorderServices(place.tenant.ctx, { ids: ids.slice(1) })
  expect(keysOf(await read(subject, place, `after: "${edges[2]?.cursor}"`))).toEqual(ids.slice(3))
})

test('a cursor of another list, order or filter is rejected', async () => {
  const tenant = await tenantOf()
  for (let minute = 0; minute < 2; minute++) await incident('IDENTIFIED')(tenant, '', minute)
  const contextValue = tenant.ctx
  const filter = '{ text: "incident", impact: [MAJOR, MINOR] }'
  const cursorOfFirst = async (args: string) => {
    const source = `{ organization { incidents(first: 1${args}) { edges { cursor } } } }`
    const { data } = await graphql({ schema, source, contextValue })
    return (data as unknown as { organization: { incidents: Connection } } | null)?.organization.incidents.edges[0]
      ?.cursor
  }
  const of = { all: await cursorOfFirst(''), filtered: await cursorOfFirst(`, filter: ${filter}`) }
  const asked = async (call: string) => {
    const source = `{ organization { ${call} { totalCount } } }`
    return (await graphql({ schema, source, contextValue })).errors?.[0]
  }
  for (const call of [
    `maintenances(after: "${of.all}")`,
    `services(after: "${of.all}")`,
    `incidents(orderBy: { field: STARTED_AT, direction: ASC }, after: "${of.all}")`,
    `incidents(orderBy: { field: STARTED_AT, direction: ASC }, before: "${of.all}")`,
    `incidents(filter: ${filter}, after: "${of.all}")`,
    `incidents(filter: { text: "incident" }, after: "${of.filtered}")`,
    `incidents(after: "${of.filtered}")`,
  ]) {
    const error = await asked(call)
    expect([call, error?.message]).toEqual([call, expect.stringMatching(/(after|before): is not a cursor of this/)])
    expect(error?.originalError).toMatchObject({ code: 'INVALID_INPUT' })
  }
  for (const call of [
    `incidents(orderBy: { field: STARTED_AT, direction: DESC }, filter: {}, after: "${of.all}")`,
    `incidents(filter: { impact: [MINOR, MAJOR], text: "incident", open: null }, after: "${of.filtered}")`,
  ]) {
    expect([call, await asked(call)]).toEqual([call, undefined])
  }
})
