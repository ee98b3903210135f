import { describe, expect, test } from 'vitest'
import { updateOrganization } from '../../../src/account/organization/organization.ts'
import { transaction } from '../../../src/core/context.ts'
import { NotFound } from '../../../src/core/errors.ts'
import { DAY, HOUR } from '../../../src/core/time.ts'
import { decodeCursor } from '../../../src/event-log/event.ts'
import { deleteIncident, updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { cancelMaintenance, scheduleMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { createService, reorderServices, updateService } from '../../../src/status/service/service.ts'
import { createServiceGroup, reorderServiceGroups } from '../../../src/status/service/service-group.ts'
import { readIncidentTimelines } from '../../../src/status/timeline/timeline-reader.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { type Tenant, tenantsOf } from '../setup.ts'
import { fullTimeline } from '../timelines.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const read = ({ slug }: Tenant, now = noon) => readPageState(prisma, slug, now)
const reported = { title: 'Down', status: 'INVESTIGATING', impact: 'NONE', message: 'We look.' }
const work = { title: 'Work', message: 'We work.' }

describe('the state of a page', () => {
  test('of a new organization is empty, claims nothing about services, and has nothing private', async () => {
    const acme = await tenant()
    expect(await read(acme)).toEqual({
      organization: {
        id: acme.id,
        pageId: expect.stringMatching(/^pag_/),
        slug: acme.slug,
        name: 'Acme',
        description: '',
        timeZone: 'UTC',
        accentColor: '#0b6e5a',
        logoUrl: null,
        links: [],
        uptimeSource: 'MONITORS_AND_INCIDENTS',
        languages: [],
        defaultLanguage: 'EN',
        customDomain: null,
        embedOrigins: [],
        publishesReports: false,
      },
      scope: { organizationId: acme.id, serviceIds: null },
      tier: 'FREE',
      cursor: '2',
      position: { page: 1, days: 1 },
      changedAt: noon,
      readAt: noon,
      size: expect.any(Number),
      status: {
        kind: 'NOTHING',
        indicator: 'NONE',
        description: 'No open incidents',
        shown: 'OPERATIONAL',
        unknownSince: null,
      },
      groups: [],
      services: [],
      incidents: [],
      maintenances: [],
      recentIncidents: [],
      hasMoreRecent: false,
      withoutIncidentSince: noon,
      incidentHistory: {
        incidents: new Map(),
        readAt: noon,
        completeSince: at(-92 * DAY),
        known: { serviceIds: [], byJson: new Map() },
      },
    })
  })

  test('has the settings of the page', async () => {
    const acme = await tenant()
    const links = [{ label: 'Site', url: 'https://acme.example/' }]
    await updateOrganization(acme.ctx, { links, description: 'All of it.' })
    expect((await read(acme)).organization).toMatchObject({ links, description: 'All of it.' })
  })

  test('has groups and services in page order, with shown statuses', async () => {
    const acme = await tenant()
    const { ctx } = acme
    const [a, b] = [await createServiceGroup(ctx, { name: 'A' }), await createServiceGroup(ctx, { name: 'B' })]
    const one = await createService(ctx, { name: 'One', groupId: a.id, status: 'OPERATIONAL' })
    const [two = '', three = '', four = ''] = await acme.services('Two', 'Three', 'Four')
    await reorderServiceGroups(ctx, { ids: [b.id, a.id] })
    await reorderServices(ctx, { ids: [four, three, two, one.id] })
    await updateService(ctx, { id: two, statusOverride: 'DEGRADED_PERFORMANCE' })
    await createIncident(ctx, { ...reported, services: [{ serviceId: three, status: 'PARTIAL_OUTAGE' }] })
    await scheduleMaintenance(ctx, { ...work, startsAt: noon, endsAt: at(HOUR), serviceIds: [two, three, four] })
    const state = await read(acme)
    expect(state.groups.map(({ name }) => name)).toEqual(['B', 'A'])
    expect(state.services).toMatchObject(
      [
        { id: four, name: 'Four', groupId: null, status: 'UNDER_MAINTENANCE' },
        { id: three, name: 'Three', groupId: null, status: 'PARTIAL_OUTAGE' },
        { id: two, name: 'Two', groupId: null, status: 'DEGRADED_PERFORMANCE' },
        { id: one.id, name: 'One', groupId: a.id, status: 'OPERATIONAL' },
      ].map((service, position) => ({ ...service, description: '', position, createdAt: noon })),
    )
    expect(state.status.indicator).toBe('MAJOR')
  })

  test('includes the impact of an open incident without services', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const services = [{ serviceId: api, status: 'DEGRADED_PERFORMANCE' }]
    const { id } = await createIncident(acme.ctx, { ...reported, impact: 'CRITICAL', services })
    expect((await read(acme)).status.indicator).toBe('CRITICAL')
    await postIncidentUpdate(acme.ctx, { incidentId: id, status: 'RESOLVED', message: 'Well again.' })
    const state = await read(acme)
    expect([state.status.indicator, state.services[0]?.status]).toEqual(['NONE', 'OPERATIONAL'])
    expect([state.incidents.length, state.recentIncidents.map((incident) => incident.id)]).toEqual([0, [id]])
  })

  test('has all open incidents and resolved ones of two weeks, newest first', async () => {
    const acme = await tenant()
    const begin = (days: number, status: string) =>
      createIncident(acme.ctx, { ...reported, title: `${days}`, status, startedAt: at(-days * DAY) })
    for (const days of [90, 1, 20]) await begin(days, 'INVESTIGATING')
    for (const days of [15, 14, 2]) await begin(days, 'RESOLVED')
    const oldest = await prisma.incident.findFirstOrThrow({ where: { organizationId: acme.id, title: '90' } })
    await postIncidentUpdate(acme.ctx, { incidentId: oldest.id, status: 'IDENTIFIED', message: 'At last.' })
    const { incidents, recentIncidents } = await read(acme)
    expect(incidents.map(({ title }) => title)).toEqual(['1', '20', '90'])
    const timelines = await readIncidentTimelines(prisma, incidents, fullTimeline, { serviceIds: null })
    expect(timelines[2]?.updates.map(({ body }) => body)).toEqual(['At last.', 'We look.'])
    expect(recentIncidents.map(({ title }) => title)).toEqual(['2', '14'])
  })

  test('has running and scheduled maintenance by start time, and no past maintenance', async () => {
    const acme = await tenant()
    const plan = (title: string, from: number, to: number) =>
      scheduleMaintenance(acme.ctx, { ...work, title, startsAt: at(from), endsAt: at(to) })
    await plan('later', 5 * HOUR, 6 * HOUR)
    await plan('running', -HOUR, HOUR)
    await plan('sooner', 2 * HOUR, 3 * HOUR)
    await cancelMaintenance(acme.ctx, { id: (await plan('cancelled', HOUR, 2 * HOUR)).id })
    const { maintenances, status } = await read(acme)
    expect(maintenances.map(({ title }) => title)).toEqual(['running', 'sooner', 'later'])
    // Maintenance without services is announced only.
    expect(status.indicator).toBe('NONE')
  })

  test('contains nothing of another organization', async () => {
    const [mine, theirs] = [await tenant(), await tenant()]
    const [api = ''] = await theirs.services('API')
    await createIncident(theirs.ctx, { ...reported, services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }] })
    expect(await read(mine)).toMatchObject({ services: [], incidents: [], status: { indicator: 'NONE' } })
  })
})

describe('a page', () => {
  test('is found by slug and by organization id', async () => {
    const acme = await tenant()
    expect(await readPageState(prisma, acme.id, noon)).toEqual(await read(acme))
  })

  test.each(['', 'nobody', 'No Slug', `org_${'0'.repeat(24)}`, 'a\u0000b', '../../..', 'x'.repeat(100_000)])(
    'is not found by %#',
    async (text) => {
      await expect(readPageState(prisma, text, noon)).rejects.toThrow(NotFound)
    },
  )

  test('can be read in an open transaction', async () => {
    const acme = await tenant()
    const state = await transaction(acme.ctx, async (tx) => {
      await createService(tx, { name: 'API' })
      return readPageState(tx.db, acme.slug, noon)
    })
    expect([state.services.length, state.cursor]).toEqual([1, '3'])
  })
})

test('the cursor agrees with all parts under concurrent writes', async () => {
  const acme = await tenant('PRO')
  const writes = Array.from({ length: 40 }, (_, index) => createService(acme.ctx, { name: `${index}` }))
  let writing = true
  const written = Promise.all(writes).finally(() => {
    writing = false
  })
  const seen: number[] = []
  while (writing) {
    const { services, cursor } = await read(acme)
    expect(services).toHaveLength((decodeCursor(cursor) ?? 0) - 2)
    seen.push(services.length)
  }
  await written
  expect(seen).toEqual(seen.toSorted((one, other) => one - other))
  expect((await read(acme)).services).toHaveLength(40)
})

describe('the effects of incidents, read after an earlier state', () => {
  test('equal a fresh read after any change, and are the same list if nothing changed', async () => {
    const acme = await tenant('PRO')
    const { ctx } = acme
    const [api = '', web = ''] = await acme.services('API', 'Web')
    const impaired = (serviceId: string) => [{ serviceId, status: 'MAJOR_OUTAGE' }]
    const times = { startedAt: at(-3 * HOUR), resolvedAt: at(-2 * HOUR) }
    const past = await createIncident(ctx, { ...reported, ...times, status: 'RESOLVED', services: impaired(api) })
    const open = await createIncident(ctx, { ...reported, services: impaired(web) })
    let earlier = await read(acme)
    const changes: readonly [keeps: readonly string[], () => Promise<unknown>][] = [
      [[api], () => postIncidentUpdate(ctx, { incidentId: open.id, status: 'IDENTIFIED', message: 'A disk.' })],
      [[api], () => postIncidentUpdate(ctx, { incidentId: open.id, status: 'RESOLVED', message: 'Replaced.' })],
      [[api, web], () => updateOrganization(ctx, { description: 'All of it.' })],
      [[web], () => updateIncident(ctx, { id: past.id, startedAt: at(-4 * HOUR) })],
      [[web], () => updateIncident(ctx, { id: past.id, title: 'Was down' })],
      [[api], () => postIncidentUpdate(ctx, { incidentId: open.id, status: 'MONITORING', message: 'Again.' })],
      // Services are identified by their order.
      [[], () => reorderServices(ctx, { ids: [web, api] })],
      [[], () => deleteIncident(ctx, past.id)],
    ]
    let hours = 0
    for (const [keeps, change] of changes) {
      await change()
      // The statuses from an open incident continue.
      const now = at(++hours * HOUR)
      const state = await readPageState(prisma, acme.slug, now, earlier)
      expect(state.incidentHistory).toEqual((await read(acme, now)).incidentHistory)
      const kept = [api, web].filter(
        (id) => state.incidentHistory.incidents.get(id) === earlier.incidentHistory.incidents.get(id),
      )
      expect(kept).toEqual(keeps)
      earlier = state
    }
  })
})
