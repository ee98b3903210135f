// @slow
import { getNamedType, graphql, isObjectType } from 'graphql'
import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { schema } from '../../../src/app/schema.ts'
import { encodeCursor } from '../../../src/event-log/event.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { createService, reorderServices, updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup } from '../../../src/status/service/service-group.ts'
import { readIncidentTimelines, readMaintenanceTimelines } from '../../../src/status/timeline/timeline-reader.ts'
import { testApp } from '../../support/app.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { type FilledOrganization, filledOrganization, mutate, succeed } from '../../support/filled-organization.ts'
import { newOrganization, post, type Result, websocketClient } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'
import { fewestStatements } from '../../support/statements.ts'
import { fullTimeline } from '../timelines.ts'

const { prisma: db } = await testDatabase()
let now = new Date('2026-11-20T12:00:00.000Z')
const { baseUrl: url } = await testApp({
  dns: await startDnsServer(scriptedLists()),
  // This file counts statements, so nothing else may query the database.
  settings: { ROLE: 'web' },
  now: () => now,
})

const encoded = (text: string) => Buffer.from(text).toString('base64')
const at = (time: string) => new Date(`2026-11-20T${time}:00.000Z`)
const planned = { startsAt: at('20:00'), endsAt: at('22:00') }
const refusal = '... on Error { __typename code message }'
const error = `${refusal} ... on ValidationError { issues { path message } }`

const shared = await newOrganization(url)

afterEach(() => {
  now = at('12:00')
  vi.restoreAllMocks()
})

/** Returns the answer of a mutation: a result, or an error of its union. */
async function attempt(key: string | undefined, mutation: string, variables: Record<string, unknown> = {}) {
  const result = await post(url, { key, query: mutation, variables })
  return { ...result, answer: answerOf(result) }
}

const answerOf = ({ data }: Result) => Object.values(data ?? {})[0] as Record<string, unknown> | undefined

/** Reads fields of an organization with its own key. */
const own = <T>(key: string, fields: string) => succeed<T>(url, key, `{ organization { ${fields} } }`)

interface Connection<T> {
  readonly totalCount: number
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string }
  readonly edges: readonly { readonly cursor: string; readonly node: T }[]
}

const nodesOf = <T>({ edges }: Connection<T>) => edges.map(({ node }) => node)

describe('services and groups', () => {
  test('are created, updated, reordered and deleted', async () => {
    const { key } = await newOrganization(url)
    const group = await mutate<Record<string, unknown>>(
      url,
      key,
      'createServiceGroup',
      'ServiceGroup',
      { name: 'Europe' },
      'id name description position version services { id } createdAt',
    )
    expect(group).toEqual({
      id: group['id'],
      name: 'Europe',
      description: '',
      position: 0,
      version: 1,
      services: [],
      createdAt: now.toISOString(),
    })
    const service = await mutate<Record<string, unknown>>(
      url,
      key,
      'createService',
      'Service',
      { name: 'API', groupId: group['id'], description: 'REST', status: 'OPERATIONAL' },
      'id name description groupId position status statusOverride version createdAt',
    )
    expect(service).toEqual({
      id: service['id'],
      name: 'API',
      description: 'REST',
      groupId: group['id'],
      position: 0,
      status: 'OPERATIONAL',
      statusOverride: null,
      version: 1,
      createdAt: now.toISOString(),
    })
    const other = await mutate(url, key, 'createService', 'Service', { name: 'Web', groupId: null, description: null })
    const changed = await mutate(
      url,
      key,
      'updateService',
      'Service',
      { id: service['id'], groupId: null, statusOverride: 'MAJOR_OUTAGE', version: 1 },
      'name groupId status statusOverride version',
    )
    expect(changed).toEqual({
      name: 'API',
      groupId: null,
      status: 'MAJOR_OUTAGE',
      statusOverride: 'MAJOR_OUTAGE',
      version: 2,
    })
    const order = await mutate<{ services: { id: string }[] }>(
      url,
      key,
      'reorderServices',
      'ReorderServicesPayload',
      { ids: [other.id, service['id']] },
      'services { id position }',
    )
    expect(order.services).toEqual([
      { id: other.id, position: 0 },
      { id: service['id'], position: 1 },
    ])

    const second = await mutate(url, key, 'createServiceGroup', 'ServiceGroup', { name: 'Asia', description: null })
    const groups = await mutate<{ serviceGroups: { id: string }[] }>(
      url,
      key,
      'reorderServiceGroups',
      'ReorderServiceGroupsPayload',
      { ids: [second.id, group['id']] },
      'serviceGroups { id }',
    )
    expect(groups.serviceGroups).toEqual([{ id: second.id }, { id: group['id'] }])
    expect(
      await mutate(url, key, 'updateServiceGroup', 'ServiceGroup', { id: group['id'], name: 'EU' }, 'name version'),
    ).toEqual({ name: 'EU', version: 2 })

    const gone = await attempt(
      key,
      `mutation ($id: ID!) { deleteService(id: $id) { ... on DeleteServicePayload { id } ${refusal} } }`,
      { id: other.id },
    )
    expect(gone.answer).toEqual({ id: other.id })
    const { services } = await own<{ services: Connection<object> }>(key, 'services { edges { node { id position } } }')
    expect(nodesOf(services)).toEqual([{ id: service['id'], position: 0 }])
    const groupGone = await attempt(
      key,
      `mutation ($id: ID!) { deleteServiceGroup(id: $id) { ... on DeleteServiceGroupPayload { id } ${refusal} } }`,
      { id: group['id'] },
    )
    expect(groupGone.answer).toEqual({ id: group['id'] })
    const left = await own<{ services: Connection<object>; serviceGroups: Connection<object> }>(
      key,
      'services { totalCount edges { node { id } } } serviceGroups { totalCount edges { node { id } } }',
    )
    expect(left.services).toEqual({ totalCount: 1, edges: [{ node: { id: service['id'] } }] })
    expect(left.serviceGroups).toEqual({ totalCount: 1, edges: [{ node: { id: second.id } }] })
  })

  test('exceeding the tier’s limit returns TierLimitReachedError', async () => {
    const { key } = await newOrganization(url)
    for (let count = 0; count < 10; count += 1)
      await mutate(url, key, 'createService', 'Service', { name: `S${count}` })
    const { answer } = await attempt(
      key,
      `mutation { createService(input: { name: "S10" }) { ${error} ... on TierLimitReachedError { limit } } }`,
    )
    expect(answer).toMatchObject({ __typename: 'TierLimitReachedError', code: 'TIER_LIMIT_REACHED', limit: 10 })
  })
})

describe('incidents', () => {
  test('have a timeline and affected services', async () => {
    const { key, ids } = await filledOrganization(url, planned)
    const update = await mutate<{ id: string }>(
      url,
      key,
      'postIncidentUpdate',
      'IncidentUpdate',
      {
        incidentId: ids.Incident,
        status: 'IDENTIFIED',
        message: 'A *disk*.',
        services: [{ serviceId: ids.Service, status: 'MAJOR_OUTAGE' }],
        version: 1,
      },
      'id incidentId status message createdAt editedAt version services { status service { id status } }',
    )
    expect(update).toMatchObject({
      incidentId: ids.Incident,
      status: 'IDENTIFIED',
      message: 'A *disk*.',
      editedAt: null,
      version: 1,
      services: [{ status: 'MAJOR_OUTAGE', service: { id: ids.Service, status: 'MAJOR_OUTAGE' } }],
    })
    expect(
      await mutate(
        url,
        key,
        'editIncidentUpdate',
        'IncidentUpdate',
        { id: update.id, message: 'Two disks.' },
        'message editedAt version',
      ),
    ).toEqual({ message: 'Two disks.', editedAt: now.toISOString(), version: 2 })
    const incident = await mutate(
      url,
      key,
      'updateIncident',
      'Incident',
      { id: ids.Incident, title: 'Disks', impact: 'CRITICAL', version: 2 },
      'title status impact startedAt resolvedAt createdAt version services { status service { name } } updates { nodes { id message } }',
    )
    expect(incident).toEqual({
      title: 'Disks',
      status: 'IDENTIFIED',
      impact: 'CRITICAL',
      startedAt: now.toISOString(),
      resolvedAt: null,
      createdAt: now.toISOString(),
      version: 3,
      services: [{ status: 'MAJOR_OUTAGE', service: { name: 'API' } }],
      updates: {
        nodes: [
          { id: update.id, message: 'Two disks.' },
          { id: ids.IncidentUpdate, message: 'We are looking.' },
        ],
      },
    })
    await mutate(url, key, 'postIncidentUpdate', 'IncidentUpdate', {
      incidentId: ids.Incident,
      status: 'RESOLVED',
      message: 'Done.',
    })
    const resolved = await own<{ incidents: Connection<object> }>(
      key,
      'incidents { edges { node { status resolvedAt services { service { status } } } } }',
    )
    expect(nodesOf(resolved.incidents)).toEqual([
      // Its monitor has no result yet.
      {
        status: 'RESOLVED',
        resolvedAt: now.toISOString(),
        services: [{ service: { status: 'DEGRADED_PERFORMANCE' } }],
      },
    ])
    const gone = await attempt(
      key,
      `mutation ($id: ID!) { deleteIncident(id: $id) { ... on DeleteIncidentPayload { id } ${refusal} } }`,
      { id: ids.Incident },
    )
    expect(gone.answer).toEqual({ id: ids.Incident })
    expect((await attempt(key, `query ($id: ID!) { node(id: $id) { id } }`, { id: ids.Incident })).data).toEqual({
      node: null,
    })
  })
})

describe('maintenance', () => {
  test('is scheduled, updated and cancelled', async () => {
    const { key, ids } = await filledOrganization(url, planned)
    const changed = await mutate(
      url,
      key,
      'updateMaintenance',
      'Maintenance',
      { id: ids.Maintenance, title: 'Newer disks', endsAt: at('23:00'), message: 'An hour more.', version: 1 },
      'title status startsAt endsAt version createdAt services { id status } updates { nodes { maintenanceId message status createdAt } }',
    )
    expect(changed).toMatchObject({
      title: 'Newer disks',
      status: 'SCHEDULED',
      startsAt: at('20:00').toISOString(),
      endsAt: at('23:00').toISOString(),
      version: 2,
      services: [{ id: ids.Service, status: 'PARTIAL_OUTAGE' }],
      updates: {
        nodes: [{ maintenanceId: ids.Maintenance, message: 'An hour more.' }, { message: 'Short interruptions.' }],
      },
    })
    const started = await mutate(
      url,
      key,
      'updateMaintenance',
      'Maintenance',
      { id: ids.Maintenance, status: 'IN_PROGRESS' },
      'status',
    )
    expect(started).toEqual({ status: 'IN_PROGRESS' })
    const off = await mutate(
      url,
      key,
      'cancelMaintenance',
      'Maintenance',
      { id: ids.Maintenance, message: 'No disks.' },
      'status updates { nodes { message } }',
    )
    expect(off).toMatchObject({
      status: 'CANCELLED',
      updates: {
        nodes: [{ message: 'No disks.' }, {}, {}, {}].slice(
          0,
          (off as unknown as { updates: { nodes: object[] } }).updates.nodes.length,
        ),
      },
    })
  })
})

describe('the organization', () => {
  test('updates its page', async () => {
    const { key } = await newOrganization(url)
    const fields = 'name description timeZone accentColor logoUrl links { label url } customDomain version'
    const before = await own<{ version: number }>(key, fields)
    expect(before).toMatchObject({ description: '', logoUrl: null, links: [], customDomain: null, version: 1 })
    const input = {
      name: 'Acme Ltd',
      description: 'We make things.',
      timeZone: 'Europe/Berlin',
      accentColor: '#123456',
      logoUrl: 'https://acme.example/logo.svg',
      links: [{ label: 'Shop', url: 'https://acme.example/' }],
    }
    const after = await mutate(url, key, 'updateOrganization', 'Organization', { ...input, version: 1 }, fields)
    expect(after).toEqual({ ...input, customDomain: null, version: 2 })
    const stale = await attempt(key, `mutation { updateOrganization(input: { name: "B", version: 1 }) { ${error} } }`)
    expect(stale.answer).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })
    const wrong = await attempt(
      key,
      `mutation { updateOrganization(input: { timeZone: "Mars", links: [{ label: "x", url: "javascript:x" }] }) { ${error} } }`,
    )
    expect(wrong.answer).toMatchObject({
      __typename: 'ValidationError',
      issues: [{ path: ['timeZone'] }, { path: ['links', '0', 'url'] }],
    })
  })

  test('filters and orders its lists', async () => {
    const { key, ids } = await filledOrganization(url, planned)
    const old = await mutate(url, key, 'createIncident', 'Incident', {
      title: 'Old',
      status: 'RESOLVED',
      impact: 'MINOR',
      message: 'Over.',
      startedAt: at('08:00'),
    })
    const loose = await mutate(url, key, 'createService', 'Service', { name: 'Loose' })
    const page = await own<Record<string, Connection<{ id: string }>>>(
      key,
      `
      all: incidents { totalCount edges { node { id } } }
      oldest: incidents(orderBy: { field: STARTED_AT, direction: ASC }) { edges { node { id } } }
      open: incidents(filter: { open: true }) { totalCount edges { node { id } } }
      closed: incidents(filter: { open: false }) { totalCount edges { node { id } } }
      major: incidents(filter: { impact: [MAJOR, CRITICAL] }) { edges { node { id } } }
      identified: incidents(filter: { status: [IDENTIFIED] }) { totalCount edges { node { id } } }
      ofService: incidents(filter: { serviceId: "${ids.Service}" }) { edges { node { id } } }
      ofNothing: incidents(filter: { serviceId: "svc_none" }) { totalCount edges { node { id } } }
      grouped: services(filter: { groupId: "${ids.ServiceGroup}" }) { edges { node { id } } }
      ungrouped: services(filter: { groupId: null }) { edges { node { id } } }
      scheduled: maintenances(filter: { status: [SCHEDULED], serviceId: "${ids.Service}" }) { edges { node { id } } }
      running: maintenances(filter: { status: [IN_PROGRESS] }, orderBy: { field: STARTS_AT, direction: ASC }) { edges { node { id } } }`,
    )
    const found = (alias: string) => nodesOf(page[alias] as Connection<{ id: string }>).map(({ id }) => id)
    expect(page['all']?.totalCount).toBe(2)
    expect(found('all')).toEqual([ids.Incident, old.id])
    expect(found('oldest')).toEqual([old.id, ids.Incident])
    expect([found('open'), page['open']?.totalCount]).toEqual([[ids.Incident], 1])
    expect([found('closed'), page['closed']?.totalCount]).toEqual([[old.id], 1])
    expect(found('major')).toEqual([ids.Incident])
    expect([found('identified'), page['identified']?.totalCount]).toEqual([[], 0])
    expect(found('ofService')).toEqual([ids.Incident])
    expect([found('ofNothing'), page['ofNothing']?.totalCount]).toEqual([[], 0])
    expect(found('grouped')).toEqual([ids.Service])
    expect(found('ungrouped')).toEqual([loose.id])
    expect(found('scheduled')).toEqual([ids.Maintenance])
    expect(found('running')).toEqual([])
  })

  test('reads its audit trail with actors, forwards and backwards', async () => {
    const { key, ids, id } = await filledOrganization(url, planned)
    type Trail = { events: Connection<{ kind: string; cursor: string; subjectId: string }> }
    const event = 'cursor kind at actor apiKey { id name } subjectId subjectName'
    const { events } = await own<Trail>(key, `events { totalCount edges { cursor node { ${event} } } }`)
    const nodes = nodesOf(events)
    expect(events.totalCount).toBe(nodes.length)
    const scheduled = nodes.findIndex(({ subjectId }) => subjectId === ids.Maintenance)
    expect(nodes[scheduled]).toEqual({
      cursor: encodeCursor(nodes.length - scheduled),
      kind: 'MAINTENANCE_SCHEDULED',
      at: now.toISOString(),
      actor: 'API_KEY',
      apiKey: { id: ids.ApiKey, name: 'First key' },
      subjectId: ids.Maintenance,
      subjectName: 'New disks',
    })
    expect(nodes.at(-1)).toMatchObject({ kind: 'ORGANIZATION_CREATED', actor: 'OPERATOR', apiKey: null, subjectId: id })
    expect(nodes.map(({ cursor }) => cursor)).toEqual(events.edges.map(({ cursor }) => cursor))

    const paged: string[] = []
    for (let after = ''; ; ) {
      const args = `first: 2, orderBy: { field: OCCURRED_AT, direction: ASC }${after && `, after: "${after}"`}`
      const page = await own<Trail>(
        key,
        `events(${args}) { pageInfo { hasNextPage endCursor } edges { node { cursor } } }`,
      )
      paged.push(...nodesOf(page.events).map(({ cursor }) => cursor))
      if (!page.events.pageInfo.hasNextPage) break
      after = page.events.pageInfo.endCursor
    }
    expect(paged).toEqual(nodes.map(({ cursor }) => cursor).reverse())
    const last = await own<Trail>(key, 'events(last: 2) { edges { node { cursor } } }')
    expect(nodesOf(last.events)).toEqual(nodes.slice(-2).map(({ cursor }) => ({ cursor })))
    const filtered = await own<Trail>(
      key,
      `events(filter: { subjectId: "${ids.Incident}", kind: [INCIDENT_CREATED, INCIDENT_UPDATED], apiKeyId: "${ids.ApiKey}" }) { totalCount edges { node { kind } } }`,
    )
    expect(filtered.events).toEqual({ totalCount: 1, edges: [{ node: { kind: 'INCIDENT_CREATED' } }] })
  })

  test.each(
    ['services', 'serviceGroups', 'incidents', 'maintenances', 'events'].flatMap((field) =>
      ['!', ...['GPC:S:a\u0000b', 'GPC:N:5', 'GPC:J:[1]'].map(encoded)].map((cursor) => [field, cursor]),
    ),
  )('refuses for %s the cursor %s, which is none', async (field, cursor) => {
    const { errors } = await attempt(
      shared.key,
      `{ organization { ${field}(after: "${cursor}") { edges { cursor } } } }`,
    )
    expect(errors?.[0]?.message).toMatch(/cursor/i)
    expect(errors?.[0]?.extensions?.['code']).not.toBe('INTERNAL')
  })
})

describe('the public page', () => {
  const page = `slug name description timeZone accentColor logoUrl links { label url } customDomain cursor
    status { indicator description }
    services { id name description groupId position status }
    serviceGroups { id name description position services { id } }
    incidents { id title status impact startedAt resolvedAt services { status service { id name status } }
      updates { nodes { id incidentId status message createdAt editedAt services { status service { id } } } } }
    maintenances { id title status startsAt endsAt services { id } updates { nodes { id maintenanceId status message createdAt } } }
    pastIncidents { totalCount edges { node { id title } } }
    pastMaintenances { totalCount edges { node { id status services { id } updates { nodes { message } } } } }`
  const read = (slug: string, fields = page) =>
    post(url, { query: `query ($slug: String!) { statusPage(slug: $slug) { ${fields} } }`, variables: { slug } })

  test('shows everyone the current state', async () => {
    const { key, slug, ids } = await filledOrganization(url, planned)
    const old = await mutate(url, key, 'createIncident', 'Incident', {
      title: 'Old',
      status: 'RESOLVED',
      impact: 'MINOR',
      message: 'Over.',
    })
    const done = await mutate(url, key, 'scheduleMaintenance', 'Maintenance', {
      title: 'Done',
      message: 'It is short.',
      startsAt: '2026-11-20T11:00:00Z',
      endsAt: planned.endsAt,
      serviceIds: [ids.Service],
    })
    await mutate(url, key, 'updateMaintenance', 'Maintenance', { id: done.id, status: 'COMPLETED' })
    const { data, errors } = await read(slug)
    expect(errors).toBeUndefined()
    expect(data).toMatchObject({
      statusPage: {
        slug,
        name: 'Acme',
        cursor: expect.any(String),
        status: { indicator: 'MAJOR' },
        services: [{ id: ids.Service, name: 'API', groupId: ids.ServiceGroup, position: 0, status: 'PARTIAL_OUTAGE' }],
        serviceGroups: [{ id: ids.ServiceGroup, services: [{ id: ids.Service }] }],
        incidents: [
          {
            id: ids.Incident,
            services: [{ status: 'PARTIAL_OUTAGE', service: { id: ids.Service, status: 'PARTIAL_OUTAGE' } }],
            updates: { nodes: [{ id: ids.IncidentUpdate, message: 'We are looking.' }] },
          },
        ],
        maintenances: [
          { id: ids.Maintenance, services: [{ id: ids.Service }], updates: { nodes: [{ id: ids.MaintenanceUpdate }] } },
        ],
        pastIncidents: { totalCount: 1, edges: [{ node: { id: old.id } }] },
        pastMaintenances: {
          totalCount: 1,
          edges: [
            {
              node: {
                id: done.id,
                status: 'COMPLETED',
                services: [{ id: ids.Service }],
                updates: { nodes: [{ message: '' }, { message: 'It is short.' }] },
              },
            },
          ],
        },
      },
    })
  })

  test('agrees with the state behind pages and feeds', async () => {
    const { organization } = await createOrganization(testContext(db, { actor: { kind: 'operator' } }), {
      name: 'Acme',
      slug: 'acme',
      contactEmail: 'ops@acme.example',
    })
    const actor = {
      kind: 'apiKey',
      keyId: 'key',
      organizationId: organization.id,
      scope: 'ADMIN',
      checkPlan: 'FREE',
    } as const
    const ctx = testContext(db, { actor, now: () => now })
    const group = await createServiceGroup(ctx, { name: 'Europe' })
    const services = []
    for (const name of ['API', 'Web', 'Mail']) services.push(await createService(ctx, { name, groupId: group.id }))
    const [api, web, mail] = services.map(({ id }) => id)
    await updateService(ctx, { id: mail, statusOverride: 'DEGRADED_PERFORMANCE', groupId: null })
    await reorderServices(ctx, { ids: [mail, api, web] })
    for (const status of ['MONITORING', 'RESOLVED', 'INVESTIGATING'] as const) {
      const impacts = [{ serviceId: api, status: 'PARTIAL_OUTAGE' }]
      const { id } = await createIncident(ctx, {
        title: status,
        status,
        impact: 'MINOR',
        message: 'One.',
        services: impacts,
      })
      await postIncidentUpdate(ctx, { incidentId: id, status, message: 'Two.' })
    }
    const times = { startsAt: at('11:00'), endsAt: at('13:00') }
    await scheduleMaintenance(ctx, { title: 'Now', message: 'Now.', serviceIds: [web, mail], ...times })
    await scheduleMaintenance(ctx, { title: 'Later', message: 'Later.', serviceIds: [api], ...planned })

    const state = await readPageState(db, 'acme', now)
    const { data, errors } = await graphql({
      schema,
      source: `{ statusPage(slug: "acme") { name cursor status { indicator description unknownSince } services { id status unknownSince groupId position }
        serviceGroups { id } incidents { id status services { service { id } status } updates { nodes { id message } } }
        maintenances { id status services { id } updates { nodes { id } } } pastIncidents { edges { node { id } } } } }`,
      contextValue: { ...ctx, actor: { kind: 'visitor' } },
    })
    expect(errors).toBeUndefined()
    expect(data?.['statusPage']).toEqual({
      name: state.organization.name,
      cursor: state.cursor,
      status: { indicator: state.status.indicator, description: state.status.description, unknownSince: null },
      services: state.services.map(({ id, status, unknownSince, groupId, position }) => ({
        ...{ id, status, unknownSince, groupId, position },
      })),
      serviceGroups: state.groups.map(({ id }) => ({ id })),
      incidents: (await readIncidentTimelines(db, state.incidents, fullTimeline, state.scope)).map(
        ({ id, status, services, updates }) => ({
          id,
          status,
          services: services.map(({ serviceId, status }) => ({ service: { id: serviceId }, status })),
          updates: { nodes: updates.map(({ id, body }) => ({ id, message: body })) },
        }),
      ),
      maintenances: (await readMaintenanceTimelines(db, state.maintenances, fullTimeline, state.scope)).map(
        ({ id, status, services, updates }) => ({
          id,
          status,
          services: services.map(({ serviceId }) => ({ id: serviceId })),
          updates: { nodes: updates.map(({ id }) => ({ id })) },
        }),
      ),
      pastIncidents: { edges: state.recentIncidents.map(({ id }) => ({ node: { id } })) },
    })
    expect(state.services.map(({ status }) => status)).toEqual([
      'DEGRADED_PERFORMANCE',
      'PARTIAL_OUTAGE',
      'UNDER_MAINTENANCE',
    ])
  })

  test.each(['', 'nobody', 'ACME', 'x'.repeat(10_000)])('is null for the slug %j', async (slug) => {
    expect(await read(slug)).toEqual({ status: 200, data: { statusPage: null } })
  })

  test('has one id, accepted everywhere, also for its domain', async () => {
    const { key, slug } = await newOrganization(url)
    const { id } = await succeed<{ id: string }>(url, undefined, `{ statusPage(slug: "${slug}") { id } }`)
    expect(id).toMatch(/^pag_[0-9a-v]{24}$/)
    const found = await post(url, { query: `{ node(id: "${id}") { __typename id ... on StatusPage { slug } } }` })
    expect(found.data).toEqual({ node: { __typename: 'StatusPage', id, slug } })
    const both = await own<{ id: string; statusPage: object }>(key, 'id statusPage { __typename id }')
    expect(both.statusPage).toEqual({ __typename: 'StatusPage', id })
    const nodes = await post(url, { key, query: `{ nodes(ids: ["${both.id}", "${id}"]) { __typename id } }` })
    expect(nodes.data).toEqual({
      nodes: [
        { __typename: 'Organization', id: both.id },
        { __typename: 'StatusPage', id },
      ],
    })
    const client = websocketClient(url)
    const events = client.iterate({
      query: `subscription { statusPageEvents(slug: "${slug}", after: "0") { page { id } } }`,
    })
    await mutate(url, key, 'updateOrganization', 'Organization', { name: 'Renamed' })
    expect((await events.next()).value).toEqual({ data: { statusPageEvents: { page: { id } } } })
    await client.dispose()
    // This service has no address of its own, so every domain is invalid: the page is looked up first.
    const requested = async (pageId: string) => {
      const query = `mutation { requestDomain(input: { pageId: "${pageId}", domain: "one.example.org" }) { ${error} } }`
      return (await attempt(key, query)).answer?.['code']
    }
    expect(await requested(id)).toBe('INVALID_INPUT')
    expect(await requested(both.id)).toBe('INVALID_INPUT')
    expect(await requested(`pag_${'0'.repeat(24)}`)).toBe('NOT_FOUND')
  })

  test('has the last event’s cursor', async () => {
    const { key, slug } = await filledOrganization(url, planned)
    const { events } = await own<{ events: Connection<object> }>(key, 'events { totalCount }')
    expect((await read(slug, 'cursor')).data).toEqual({ statusPage: { cursor: encodeCursor(events.totalCount) } })
  })
})

describe('the cost of an operation', () => {
  let many: FilledOrganization
  /** Counts the statements for one operation, which has to succeed. */
  const statements = (query: string, key?: string) =>
    fewestStatements(async () => expect((await post(url, { query, key })).errors).toBeUndefined())

  test('reading 50 incidents with timelines takes a handful of statements', async () => {
    many = await filledOrganization(url, planned)
    const incident = `id title status impact startedAt resolvedAt services { status service { id name status } }
      updates { nodes { id status message createdAt services { status service { id name } } } }`
    const query = (first: number) =>
      `{ organization { incidents(first: ${first}) { totalCount edges { node { ${incident} } } } } }`
    const one = await statements(query(1), many.key)
    for (let count = 1; count < 50; count += 1)
      await mutate(url, many.key, 'createIncident', 'Incident', {
        title: `No. ${count}`,
        status: 'MONITORING',
        impact: 'MINOR',
        message: 'So.',
        services: [{ serviceId: many.ids.Service, status: 'DEGRADED_PERFORMANCE' }],
      })
    const fifty = await statements(query(50), many.key)
    // On a busy machine, its lists are completed in several time slices.
    expect(fifty).toBeLessThan(one + 10)
    // One of them reads the organization's sizes, because the weight exceeds the limit of the largest possible one.
    expect(fifty).toBeLessThanOrEqual(25)
  })

  test('a full page takes no more statements for fifty incidents than for one', async () => {
    const one = await filledOrganization(url, planned)
    const query = (slug: string) => `{ statusPage(slug: "${slug}") { name cursor status { indicator description }
      services { id name description groupId status } serviceGroups { id name services { id name status } }
      incidents { id title status impact startedAt services { status service { id name } }
        updates { nodes { id status message createdAt services { status service { id name } } } } }
      maintenances { id title status startsAt endsAt services { id name } updates { nodes { id message status createdAt } } }
      pastIncidents(first: 20) { edges { node { id title resolvedAt updates { nodes { message } } } } } } }`
    // With a key, because visitors are answered from the cache.
    const single = await statements(query(one.slug), one.key)
    // On a busy machine, a list is completed in several time slices, each of which reads some of its rows. One
    // statement per incident would be 49 more.
    expect(await statements(query(many.slug), many.key)).toBeLessThan(single + 10)
  })

  test('a connection reads one page from the database', async () => {
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    for (const field of ['services', 'serviceGroups', 'incidents', 'maintenances', 'events'])
      await own(many.key, `${field}(first: 3) { edges { node { __typename } } }`)
    const texts = sent.mock.calls.map(([query]) => (query as unknown as { text: string }).text)
    const pages = texts.filter((text) =>
      /FROM "public"\."(Service|ServiceGroup|Incident|Maintenance|Event)"/.test(text),
    )
    expect(pages).toHaveLength(5)
    for (const text of pages) expect(text).toMatch(/ LIMIT /)
  })

  test('an object that is requested many times costs as much as many objects', async () => {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Incident { updates { nodes { message services { status } } } } } }`
    const { errors } = await post(url, { query, variables: { ids: Array(1000).fill(many.ids.Incident) } })
    expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['OPERATION_TOO_LARGE'])
    const over = `{ nodes(ids: [${`"${many.ids.Incident}" `.repeat(101)}]) { id } }`
    expect((await post(url, { query: over })).errors).toMatchObject([
      { message: expect.stringContaining('ids: must have at most 100 items'), extensions: { code: 'INVALID_INPUT' } },
    ])
    const { data } = await post(url, { query, variables: { ids: Array(10).fill(many.ids.Incident) } })
    expect(data?.['nodes']).toHaveLength(10)
  })

  test('public types have no cycles, so a small query has no huge result', () => {
    const circleFrom = (name: string, path: readonly string[]): string | null => {
      if (path.includes(name)) return [...path, name].join(' → ')
      const type = schema.getType(name)
      if (!isObjectType(type)) return null
      const next = Object.values(type.getFields()).map((field) => getNamedType(field.type).name)
      return next.map((each) => circleFrom(each, [...path, name])).find((circle) => circle !== null) ?? null
    }
    for (const name of ['StatusPage', 'StatusPageEvent', ...Object.keys(many.ids)])
      expect(circleFrom(name, [])).toBeNull()
  })
})

test('validation errors are union members with paths', async () => {
  const { key, ids } = await filledOrganization(url, planned)
  const invalid = await attempt(
    key,
    `mutation { createIncident(input: { title: "", status: RESOLVED, impact: NONE, message: "", services: [{ serviceId: "x", status: UNDER_MAINTENANCE }] }) { ${error} } }`,
  )
  expect(invalid.answer).toMatchObject({
    __typename: 'ValidationError',
    code: 'INVALID_INPUT',
    issues: expect.arrayContaining([
      expect.objectContaining({ path: ['title'] }),
      expect.objectContaining({ path: ['services', '0', 'status'] }),
    ]),
  })
  const missing = await attempt(key, `mutation { createService(input: { name: "x", groupId: "grp_x" }) { ${error} } }`)
  expect(missing.answer).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  const stale = await attempt(
    key,
    `mutation ($id: ID!) { updateService(input: { id: $id, name: "x", version: 7 }) { ${error} } }`,
    { id: ids.Service },
  )
  expect(stale.answer).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })
})

test('of two concurrent edits of one version, one gets a conflict', async () => {
  const { key, ids } = await filledOrganization(url, planned)
  for (let version = 1; version <= 5; version += 1) {
    const write = (name: string) =>
      attempt(key, `mutation ($input: UpdateServiceInput!) { updateService(input: $input) { __typename } }`, {
        input: { id: ids.Service, name, version },
      })
    const answers = await Promise.all([write(`one ${version}`), write(`other ${version}`)])
    expect(answers.map(({ answer }) => answer?.['__typename']).sort()).toEqual(['ConflictError', 'Service'])
  }
})

test('a READ key cannot change anything', async () => {
  const { key } = await newOrganization(url)
  const made = await attempt(
    key,
    'mutation { createApiKey(input: { name: "r", scope: READ }) { ... on CreateApiKeyPayload { secret } } }',
  )
  const { errors } = await attempt(
    made.answer?.['secret'] as string,
    `mutation { createService(input: { name: "x" }) { ${error} } }`,
  )
  expect(errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['FORBIDDEN'])
})

test('the operator can read and do what an owner can', async () => {
  const { ids } = await filledOrganization(url, planned)
  const { data } = await attempt(
    operatorToken,
    'query ($id: ID!) { node(id: $id) { ... on Service { version statusOverride } } }',
    { id: ids.Service },
  )
  expect(data).toEqual({ node: { version: 1, statusOverride: null } })
  const { answer, errors } = await attempt(
    operatorToken,
    `mutation ($id: ID!) { deleteService(id: $id) { ... on DeleteServicePayload { id } ${refusal} } }`,
    { id: ids.Service },
  )
  expect({ answer, errors }).toEqual({ answer: { id: ids.Service } })
})
