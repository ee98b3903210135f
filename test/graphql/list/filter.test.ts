import { graphql } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { newId } from '../../../src/core/id.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { filterTag } from '../../../src/graphql/list/filter.ts'
import { nameKey } from '../../../src/graphql/list/order.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { createService } from '../../../src/status/service/service.ts'
import { type Tenant, tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'

const { prisma: db } = await testDatabase()
const tenantOf = tenantsOf(db)
const visitor = testContext(db, { actor: { kind: 'visitor' } })
const hour = (count: number) => new Date(noon.getTime() + count * 3_600_000)
const iso = (count: number) => `"${hour(count).toISOString()}"`

let tenant: Tenant
let stranger: Tenant

beforeAll(async () => {
  tenant = await tenantOf('TEAM')
  stranger = await tenantOf('TEAM')
})

interface List {
  readonly totalCount: number
  readonly nodes: readonly { readonly what: string }[]
}

/** Returns a list of the organization: a field of its nodes, and their number. */
async function list(call: string, what: string, ctx = tenant.ctx) {
  const source = `{ organization { list: ${call} { totalCount nodes { what: ${what} } } } }`
  return read(await graphql({ schema, source, contextValue: ctx }), 'organization')
}

/** The same for the public page, as a visitor. */
async function onPage(call: string) {
  const source = `{ statusPage(slug: "${tenant.slug}") { list: ${call} { totalCount nodes { what: title } } } }`
  return read(await graphql({ schema, source, contextValue: visitor }), 'statusPage')
}

function read({ data, errors }: Awaited<ReturnType<typeof graphql>>, root: string) {
  expect(errors).toBeUndefined()
  const { list } = (data as unknown as Record<string, { list: List }>)[root] ?? { list: { nodes: [], totalCount: -1 } }
  const { nodes, totalCount } = list
  expect(nodes).toHaveLength(totalCount)
  return nodes.map((node) => node.what)
}

describe('incidents', () => {
  beforeAll(async () => {
    const [api = '', web = ''] = await tenant.services('API', 'Web')
    const add = (title: string, start: number, message: string, impact: string, serviceId: string) =>
      createIncident(tenant.ctx, {
        title,
        message,
        impact,
        status: 'RESOLVED',
        startedAt: hour(start),
        services: [{ serviceId, status: 'OPERATIONAL' }],
      })
    await add('Slow answers', -3, 'The cause is a 100% full disk.', 'MINOR', api)
    await add('Outage', -2, 'Ärger im Rechenzentrum.', 'MAJOR', web)
    const { id: incidentId } = await createIncident(tenant.ctx, {
      title: 'Login',
      message: 'We look.',
      impact: 'MAJOR',
      status: 'INVESTIGATING',
      startedAt: hour(-1),
      services: [{ serviceId: api, status: 'PARTIAL_OUTAGE' }],
    })
    await postIncidentUpdate(tenant.ctx, { incidentId, status: 'IDENTIFIED', message: 'It was a_certificate \\ key.' })
    await createIncident(stranger.ctx, { title: 'Slow answers', message: 'x', impact: 'MINOR', status: 'RESOLVED' })
  })

  test.each([
    ['a word of the title, in any case', '{ text: " SLOW " }', ['Slow answers']],
    ['a word of the first update', '{ text: "full DISK" }', ['Slow answers']],
    ['a word of a later update', '{ text: "certificate" }', ['Login']],
    ['letters beyond ASCII, in any case', '{ text: "äRGER" }', ['Outage']],
    ['a percent sign as itself', '{ text: "0%" }', ['Slow answers']],
    ['an underscore as itself', '{ text: "a_c" }', ['Login']],
    ['a backslash as itself', '{ text: "\\\\" }', ['Login']],
    ['a pattern as itself', '{ text: "c%e" }', []],
    ['a NUL', '{ text: "\\u0000" }', []],
    ['a blank text: all', '{ text: "  " }', ['Login', 'Outage', 'Slow answers']],
    ['a start, included', `{ startedAfter: ${iso(-2)} }`, ['Login', 'Outage']],
    ['an end, not included', `{ startedBefore: ${iso(-2)} }`, ['Slow answers']],
    ['a range', `{ startedAfter: ${iso(-2)}, startedBefore: ${iso(-1)} }`, ['Outage']],
    ['impacts', '{ impact: [MAJOR, CRITICAL] }', ['Login', 'Outage']],
    ['whether open, and statuses', '{ open: true, status: [RESOLVED] }', []],
    ['text and range', `{ text: "o", startedBefore: ${iso(-2)} }`, ['Slow answers']],
    ['all at once', `{ text: "o", impact: [MAJOR], open: false, startedAfter: ${iso(-9)} }`, ['Outage']],
  ])('by %s', async (_, filter, titles) => {
    expect(await list(`incidents(filter: ${filter})`, 'title')).toEqual(titles)
  })

  test('in both directions', async () => {
    const oldest = ['Slow answers', 'Outage', 'Login']
    expect(await list('incidents(orderBy: { field: STARTED_AT, direction: ASC })', 'title')).toEqual(oldest)
    expect(await list('incidents(orderBy: { field: STARTED_AT, direction: DESC })', 'title')).toEqual(
      oldest.toReversed(),
    )
  })

  test('of the page are always resolved, whatever the filter', async () => {
    expect(await onPage('pastIncidents(filter: { text: "o" })')).toEqual(['Outage', 'Slow answers'])
    expect(await onPage('pastIncidents(filter: { text: "certificate" })')).toEqual([])
    expect(await onPage(`pastIncidents(filter: { startedAfter: ${iso(-2)}, impact: [MAJOR] })`)).toEqual(['Outage'])
    expect(await onPage('pastIncidents(orderBy: { field: STARTED_AT, direction: ASC })')).toEqual([
      'Slow answers',
      'Outage',
    ])
  })
})

test('maintenance by text, range and status', async () => {
  const add = (title: string, start: number, message: string) =>
    scheduleMaintenance(tenant.ctx, { title, message, startsAt: hour(start), endsAt: hour(start + 1) })
  await add('New disks', 4, 'We change the disks of db-1.')
  await add('Upgrade', 5, 'To version 18.')
  const titles = (args: string) => list(`maintenances(${args})`, 'title')
  expect(await titles('filter: { text: "DB-1" }')).toEqual(['New disks'])
  expect(await titles(`filter: { startsAfter: ${iso(4)}, startsBefore: ${iso(5)} }`)).toEqual(['New disks'])
  expect(await titles('filter: { status: [COMPLETED] }')).toEqual([])
  expect(await titles('orderBy: { field: STARTS_AT, direction: ASC }')).toEqual(['New disks', 'Upgrade'])
  expect(await onPage('pastMaintenances(filter: { text: "disks", status: [SCHEDULED] })')).toEqual([])
})

test('services by text, status, group and creation, in each order', async () => {
  const owner = await tenantOf('TEAM')
  const add = (name: string, data: Prisma.ServiceUncheckedUpdateInput = {}) =>
    createService(owner.ctx, { name, status: 'OPERATIONAL', description: `Runs 100% of ${name}` }).then(({ id }) =>
      db.service.update({ where: { id }, data }),
    )
  await add('web-10', { statusOverride: 'DEGRADED_PERFORMANCE' })
  await add('Web-2')
  const broken = await add('Étage')
  await createIncident(owner.ctx, {
    title: 'Down',
    message: 'x',
    impact: 'MAJOR',
    status: 'IDENTIFIED',
    services: [{ serviceId: broken.id, status: 'MAJOR_OUTAGE' }],
  })
  await add('api', { createdAt: hour(2) })
  const names = (args: string) => list(`services(${args})`, 'name', owner.ctx)
  const by = (field: string, direction: string) => names(`orderBy: { field: ${field}, direction: ${direction} }`)
  expect(await names('first: 20')).toEqual(['web-10', 'Web-2', 'Étage', 'api'])
  expect(await by('POSITION', 'DESC')).toEqual(['api', 'Étage', 'Web-2', 'web-10'])
  expect(await by('NAME', 'ASC')).toEqual(['api', 'Étage', 'Web-2', 'web-10'])
  expect(await by('NAME', 'DESC')).toEqual(['web-10', 'Web-2', 'Étage', 'api'])
  expect(await by('STATUS', 'DESC')).toEqual(['Étage', 'web-10', 'Web-2', 'api'])
  expect(await by('STATUS', 'ASC')).toEqual(['Web-2', 'api', 'web-10', 'Étage'])
  expect(await names('filter: { text: "WEB" }')).toEqual(['web-10', 'Web-2'])
  expect(await names('filter: { text: "100% of a" }')).toEqual(['api'])
  expect(await names('filter: { text: "100_" }')).toEqual([])
  expect(await names('filter: { status: [MAJOR_OUTAGE, DEGRADED_PERFORMANCE] }')).toEqual(['web-10', 'Étage'])
  expect(await names('filter: { status: [OPERATIONAL], text: "api" }')).toEqual(['api'])
  expect(await names('filter: { status: [] }')).toEqual([])
  expect(await names(`filter: { createdAfter: ${iso(2)} }`)).toEqual(['api'])
  expect(await names(`filter: { createdBefore: ${iso(2)} }`)).toHaveLength(3)
})

test('monitors by text, region and creation, in each order', async () => {
  const owner = await tenantOf('TEAM')
  const add = (name: string, kind: 'HTTP' | 'TCP' | 'PING' | 'DNS' | 'BLACKLIST', options: object, at: number) =>
    db.monitor.create({
      data: {
        id: newId('Monitor'),
        organizationId: owner.id,
        name,
        kind,
        options,
        intervalSeconds: 60,
        timeoutMs: 1000,
        failureThreshold: 2,
        recoveryThreshold: 1,
        stateSince: hour(-at),
        createdAt: hour(at),
      },
    })
  const web = await add('Shop', 'HTTP', { url: 'https://Shop.example/a_b', body: 'hidden' }, 0)
  await add('mail', 'TCP', { host: 'mx.example', port: 25 }, 1)
  await add('Router', 'PING', { host: '192.0.2.1' }, 2)
  await add('Zone', 'DNS', { name: 'zone.example' }, 3)
  await add('Listed', 'BLACKLIST', { target: '192.0.2.7' }, 4)
  await db.watch.create({ data: { id: `${web.id}@eu`, monitorId: web.id, region: 'eu', stateSince: noon } })
  const names = (args: string) => list(`monitors(${args})`, 'name', owner.ctx)
  expect(await names('filter: { text: "shop.EXAMPLE/a_" }')).toEqual(['Shop'])
  expect(await names('filter: { text: "shop.example/a%" }')).toEqual([])
  expect(await names('filter: { text: "MX." }')).toEqual(['mail'])
  expect(await names('filter: { text: "192.0.2" }')).toEqual(['Router', 'Listed'])
  expect(await names('filter: { text: "zone.ex" }')).toEqual(['Zone'])
  expect(await names('filter: { text: "hidden" }')).toEqual([])
  expect(await names('filter: { text: "rout", kind: [PING] }')).toEqual(['Router'])
  expect(await names('filter: { region: "eu" }')).toEqual(['Shop'])
  expect(await names(`filter: { createdAfter: ${iso(1)}, createdBefore: ${iso(3)} }`)).toEqual(['mail', 'Router'])
  const by = (field: string, direction: string) => names(`orderBy: { field: ${field}, direction: ${direction} }`)
  const oldest = ['Shop', 'mail', 'Router', 'Zone', 'Listed']
  expect(await by('CREATED_AT', 'DESC')).toEqual(oldest.toReversed())
  expect(await by('STATE_SINCE', 'DESC')).toEqual(oldest)
  expect(await by('NAME', 'ASC')).toEqual(['Listed', 'mail', 'Router', 'Shop', 'Zone'])
})

test('events by range, kind and subject', async () => {
  const owner = await tenantOf('TEAM')
  for (const name of ['One', 'Two', 'Three']) await createService(owner.ctx, { name })
  const created = await db.event.findMany({ where: { organizationId: owner.id, kind: 'SERVICE_CREATED' } })
  for (const [index, { organizationId, seq }] of created.entries()) {
    await db.event.update({ where: { organizationId_seq: { organizationId, seq } }, data: { at: hour(index) } })
  }
  const names = (args: string) => list(`events(${args})`, 'subjectName', owner.ctx)
  const range = `occurredAfter: ${iso(1)}, occurredBefore: ${iso(3)}`
  expect(await names(`filter: { ${range} }`)).toEqual(['Three', 'Two'])
  expect(await names(`filter: { ${range} }, orderBy: { field: OCCURRED_AT, direction: ASC }`)).toEqual(['Two', 'Three'])
  expect(await names('filter: { kind: [SERVICE_CREATED, SERVICE_CREATED] }')).toEqual(['Three', 'Two', 'One'])
  expect(await names(`filter: { ${range}, kind: [SERVICE_DELETED] }`)).toEqual([])
})

test('a text filter finds nothing of another organization', async () => {
  expect(await list('incidents(filter: { text: "certificate" })', 'title', stranger.ctx)).toEqual([])
  expect(await list('incidents(filter: { text: "slow" })', 'title', stranger.ctx)).toEqual(['Slow answers'])
})

const long = 'x'.repeat(101)
test.each([
  [`incidents(filter: { text: "${long}" })`, 'filter.text: must have at most 100 characters'],
  [`services(filter: { text: "${long}" })`, 'filter.text: must have at most 100 characters'],
  [`monitors(filter: { text: "${long}" })`, 'filter.text: must have at most 100 characters'],
  [`subscribers(filter: { address: "${long}" })`, 'filter.address: must have at most 100 characters'],
  [`incidents(filter: { status: [${'RESOLVED,'.repeat(101)}] })`, 'filter.status: must have at most 100 values'],
  [`events(filter: { kind: [${'PAGE_UPDATED,'.repeat(101)}] })`, 'filter.kind: must have at most 100 values'],
  [
    `incidents(filter: { startedAfter: ${iso(1)}, startedBefore: ${iso(1)} })`,
    'filter.startedBefore: must be later than startedAfter',
  ],
  [
    `events(filter: { occurredAfter: ${iso(2)}, occurredBefore: ${iso(1)} })`,
    'filter.occurredBefore: must be later than occurredAfter',
  ],
  ['maintenances(filter: { startsAfter: "0001-01-01T00:00:00Z" })', 'filter.startsAfter: must be between the years'],
])('refuses %s', async (call, message) => {
  const source = `{ organization { ${call} { totalCount } } }`
  const { errors } = await graphql({ schema, source, contextValue: tenant.ctx })
  expect(errors).toHaveLength(1)
  expect(errors?.[0]?.message).toContain(message)
  expect(errors?.[0]?.originalError).toMatchObject({ code: 'INVALID_INPUT' })
})

test('a text of 100 characters is accepted, however many bytes it has', async () => {
  expect(await list(`incidents(filter: { text: "${'🌍'.repeat(100)}" })`, 'title')).toEqual([])
})

test('equivalent filters have the same tag', () => {
  expect(filterTag(null)).toBe('')
  expect(filterTag({ text: null, kind: undefined })).toBe('')
  expect(filterTag({ a: [2, 1], b: 'x' })).toBe(filterTag({ c: null, b: 'x', a: [1, 2] }))
  expect(filterTag({ a: noon })).not.toBe(filterTag({ a: hour(1) }))
  expect(filterTag({ a: 'x' })).not.toBe(filterTag({ b: 'x' }))
})

test('names are sorted without case and accents, and by numeric value', () => {
  const names = ['Zebra', 'web-10', 'Web-9', 'étage', 'Eta', 'apple']
  const sorted = names.toSorted((a, b) => (nameKey(a) < nameKey(b) ? -1 : 1))
  expect(sorted).toEqual(['apple', 'Eta', 'étage', 'Web-9', 'web-10', 'Zebra'])
  expect(nameKey('9'.repeat(1000)).length).toBeLessThanOrEqual(200)
})
