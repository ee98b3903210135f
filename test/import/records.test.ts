// @slow
import { describe, expect, test } from 'vitest'
import { Forbidden, Invalid } from '../../src/core/errors.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { importRecords } from '../../src/import/records.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { postIncidentUpdate } from '../../src/status/incident/incident-updates.ts'
import { runDueMaintenance } from '../../src/status/maintenance/maintenance-job.ts'
import { notifiedIn } from '../notification/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const source = 'Atlassian Statuspage'
const ago = (ms: number) => new Date(noon.getTime() - ms).toISOString()

/** An organization with an imported service, and a subscriber. */
async function owner() {
  const tenant = await notified.tenant()
  const [id = ''] = await tenant.services('API')
  await prisma.managedObject.create({
    data: {
      ...{ organizationId: tenant.id, section: 'services', key: 'statuspage-a', file: 'import from statuspage' },
      ...{ objectId: id, given: '', fields: {}, appliedSeq: 0 },
    },
  })
  await notified.subscriber(tenant, { email: 'ana@a.example' })
  const ctx = notified.owner(tenant)
  const give = async (records: object, more: object = {}) =>
    (await importRecords(ctx, { source, ...records, ...more })).map(({ outcome, reason }) =>
      `${outcome} ${reason}`.trim(),
    )
  return { tenant, id, ctx, give, where: { organizationId: tenant.id } }
}

const services = (status: string) => [{ key: 'statuspage-a', status }]
const incident = {
  ...{ id: 'i1', title: 'Slow', impact: 'MAJOR', startedAt: ago(3 * DAY), resolvedAt: ago(3 * DAY - HOUR) },
  updates: [
    { at: ago(3 * DAY - HOUR), status: 'RESOLVED', message: 'Fixed', services: [] },
    { at: ago(3 * DAY), status: 'INVESTIGATING', message: 'We look.', services: services('PARTIAL_OUTAGE') },
    {
      at: ago(3 * DAY),
      status: 'IDENTIFIED',
      message: `${'Long. '.repeat(100)}`,
      services: services('MAJOR_OUTAGE'),
    },
  ],
  postmortem: { message: '# Why', publishedAt: ago(2 * DAY) },
}

describe('incidents of another tool', () => {
  test('are written once, with timeline, services and post-mortem, and send no notifications', async () => {
    const { tenant, id, give, where } = await owner()
    const events = async () => (await tenant.news()).slice(1)
    expect(await give({ incidents: [incident] }, { dryRun: true })).toEqual([`CREATED ${ago(3 * DAY).slice(0, 10)}`])
    expect(await prisma.incident.count({ where })).toBe(0)
    expect((await give({ incidents: [incident] }))[0]).toMatch(/^CREATED/)
    const written = await prisma.incident.findFirstOrThrow({
      where,
      include: { updates: { orderBy: { createdAt: 'asc' }, include: { services: true } }, services: true },
    })
    expect(written).toMatchObject({
      ...{ title: 'Slow', status: 'RESOLVED', impact: 'MAJOR', visibility: 'PUBLIC', automatic: false },
      ...{ startedAt: new Date(incident.startedAt), resolvedAt: new Date(incident.resolvedAt), importedFrom: source },
      services: [{ serviceId: id, status: 'OPERATIONAL' }],
    })
    expect(written.updates.map(({ status, createdAt }) => [status, noon.getTime() - createdAt.getTime()])).toEqual([
      ['INVESTIGATING', 3 * DAY],
      // Two at the same time keep their order, one millisecond apart.
      ['IDENTIFIED', 3 * DAY - 1],
      ['RESOLVED', 3 * DAY - HOUR],
    ])
    expect(written.updates.map(({ html }) => html?.slice(0, 9))).toEqual(['<p>We loo', '<p>Long. ', '<p>Fixed<'])
    expect(written.updates[1]?.services).toMatchObject([{ serviceId: id, status: 'MAJOR_OUTAGE' }])
    expect(await prisma.postmortem.findUnique({ where: { id: written.id } })).toMatchObject({
      message: '# Why',
      publishedAt: new Date(incident.postmortem.publishedAt),
    })
    expect(await events()).toEqual([`HISTORY_IMPORTED ${source}: 1 incident`])
    await dispatch(notified.system, tenant.id)
    expect(await prisma.delivery.count({ where })).toBe(0)
    expect(await give({ incidents: [incident] })).toEqual([expect.stringMatching(/^UNCHANGED/)])
    expect(await events()).toHaveLength(1)
  })

  test('change here when they change there, unless people have changed or deleted them', async () => {
    const { give, ctx, where } = await owner()
    const open = { ...incident, resolvedAt: null, postmortem: null, updates: incident.updates.slice(1) }
    await give({ incidents: [open] })
    const { id } = await prisma.incident.findFirstOrThrow({ where })
    expect(await prisma.incident.findUnique({ where: { id } })).toMatchObject({
      status: 'IDENTIFIED',
      resolvedAt: null,
    })
    expect((await give({ incidents: [incident] }))[0]).toMatch(/^CHANGED/)
    expect(await prisma.incident.findMany({ where, include: { updates: true } })).toMatchObject([
      { id, status: 'RESOLVED', version: 2, updates: [{}, {}, {}] },
    ])
    await postIncidentUpdate(ctx, { incidentId: id, status: 'RESOLVED', message: 'Ours' })
    const renamed = { ...incident, title: 'Slower' }
    expect(await give({ incidents: [renamed] })).toEqual([
      'SKIPPED It was changed here since it was imported, and has changed there.',
    ])
    // Reported once.
    expect((await give({ incidents: [renamed] }))[0]).toMatch(/^UNCHANGED/)
    expect(await prisma.incident.findUnique({ where: { id } })).toMatchObject({ title: 'Slow' })
    await prisma.incident.delete({ where: { id } })
    expect(await give({ incidents: [incident] })).toEqual(['SKIPPED It was deleted here. It has changed there since.'])
    expect(await prisma.incident.count({ where })).toBe(0)
  })

  test('of two installations, or for services of others, are kept apart', async () => {
    const { give, where } = await owner()
    const other = await owner()
    await give({ incidents: [incident] })
    expect((await give({ incidents: [incident] }, { name: 'b' }))[0]).toMatch(/^CREATED/)
    expect((await other.give({ incidents: [incident] }))[0]).toMatch(/^CREATED/)
    const links = await prisma.incidentService.findMany({ where: { incident: { organizationId: other.tenant.id } } })
    expect(links).toMatchObject([{ serviceId: other.id }])
    expect(await prisma.incident.count({ where })).toBe(2)
    const unknown = {
      ...incident,
      id: 'i2',
      updates: [{ ...incident.updates[1], services: [{ key: other.id, status: 'MAJOR_OUTAGE' }] }],
    }
    await give({ incidents: [unknown] })
    expect(await prisma.incidentService.count({ where: { incident: where } })).toBe(2)
  })

  test.each([
    [{ title: '' }, 'title must not be blank'],
    [{ title: 'a\u202eb' }, 'title must not have'],
    [{ startedAt: 'soon' }, 'startedAt must be'],
    [{ startedAt: '0001-01-01T00:00:00Z' }, 'startedAt must be in a year'],
    [{ updates: [] }, 'updates must have at least one update'],
    [{ updates: [{ ...incident.updates[0], at: ago(-DAY) }] }, 'It has a time in the future'],
    [{ updates: [{ ...incident.updates[0], message: 'x'.repeat(10_001) }] }, 'updates.0.message must have at most'],
    [{ impact: 'HUGE' }, 'impact must be'],
  ])('with %j are skipped; the others are imported', async (wrong, reason) => {
    const { give, where } = await owner()
    const found = await give({
      incidents: [
        { ...incident, ...wrong },
        { ...incident, id: 'i2' },
        { ...incident, id: 'i2' },
      ],
    })
    expect(found[0]).toContain(`SKIPPED ${reason}`)
    expect(found.slice(1)).toEqual([expect.stringMatching(/^CREATED/), 'SKIPPED It is listed twice.'])
    expect(await prisma.incident.count({ where })).toBe(1)
  })

  test('require the scope ADMIN, and have limits', async () => {
    const { tenant, ctx, give } = await owner()
    const writer = { ...ctx, actor: tenant.as('WRITE').actor }
    await expect(importRecords(writer, { source, incidents: [incident] })).rejects.toThrow(Forbidden)
    const many = Array.from({ length: 101 }, (_, index) => ({ ...incident, id: String(index) }))
    await expect(give({ incidents: many })).rejects.toThrow(Invalid)
    const updates = Array.from({ length: 500 }, () => incident.updates[1])
    await expect(give({ incidents: many.slice(0, 5).map((each) => ({ ...each, updates })) })).rejects.toThrow(
      '2000 updates',
    )
  })
})

describe('maintenance of another tool', () => {
  const maintenance = (more: object) => ({
    ...{ id: 'm1', title: 'Upgrade', status: 'COMPLETED', startsAt: ago(2 * DAY), endsAt: ago(2 * DAY - HOUR) },
    ...{ services: ['statuspage-a', 'statuspage-gone'], updates: [], ...more },
  })

  test.each([
    // Past maintenance is completed immediately, so that no worker ends it and notifies subscribers.
    [{}, 'COMPLETED', -2 * DAY, -2 * DAY + HOUR],
    [{ status: 'SCHEDULED' }, 'COMPLETED', -2 * DAY, -2 * DAY + HOUR],
    [{ status: 'IN_PROGRESS', endsAt: ago(-HOUR) }, 'IN_PROGRESS', -2 * DAY, null],
    [{ status: 'SCHEDULED', endsAt: ago(-HOUR) }, 'IN_PROGRESS', -2 * DAY, null],
    [{ status: 'SCHEDULED', startsAt: ago(-HOUR), endsAt: ago(-2 * HOUR) }, 'SCHEDULED', null, null],
    [{ status: 'CANCELLED' }, 'CANCELLED', null, null],
    [{ endsAt: ago(-DAY) }, 'COMPLETED', -2 * DAY, 0],
    [{ endsAt: ago(3 * DAY) }, 'COMPLETED', -2 * DAY, -2 * DAY + MINUTE],
  ])('%j is %s', async (more, status, startedAt, endedAt) => {
    const { tenant, id, give, where } = await owner()
    expect((await give({ maintenances: [maintenance(more)] }))[0]).toMatch(/^CREATED/)
    const [written] = await prisma.maintenance.findMany({ where, include: { services: true, updates: true } })
    expect(written).toMatchObject({ title: 'Upgrade', status, importedFrom: source, services: [{ serviceId: id }] })
    const since = (at: Date | null | undefined) => (at ? at.getTime() - noon.getTime() : null)
    expect([since(written?.startedAt), since(written?.endedAt)]).toEqual([startedAt, endedAt])
    expect(written?.updates.length).toBeGreaterThan(0)
    await runDueMaintenance(notified.system)
    expect((await tenant.news()).slice(1)).toEqual([`HISTORY_IMPORTED ${source}: 1 maintenance`])
    expect((await give({ maintenances: [maintenance(more)] }))[0]).toMatch(/^UNCHANGED/)
  })

  test('that repeats becomes a series, which is replaced when it changes', async () => {
    const { tenant, give, where } = await owner()
    const series = {
      ...{ id: 's1', title: 'Weekly', message: 'Backup', startsAt: ago(DAY), durationMinutes: 30 },
      ...{ rule: 'FREQ=WEEKLY;BYDAY=MO', timeZone: 'Europe/Berlin', services: ['statuspage-a'] },
    }
    expect(await give({ series: [series] }, { dryRun: true })).toEqual(['CREATED repeats'])
    expect(
      await give({
        series: [series, { ...series, id: 's2', rule: 'FREQ=NEVER' }, { ...series, id: 's3', timeZone: 'Mars' }],
      }),
    ).toEqual([
      'CREATED repeats',
      expect.stringMatching(/^SKIPPED Its rule/),
      expect.stringMatching(/^SKIPPED Its rule/),
    ])
    const dates = await prisma.maintenance.count({ where: { ...where, status: 'SCHEDULED' } })
    expect(dates).toBeGreaterThan(0)
    expect(await give({ series: [series] })).toEqual(['UNCHANGED repeats'])
    expect(await give({ series: [{ ...series, durationMinutes: 60 }] })).toEqual(['CHANGED repeats'])
    expect(await prisma.maintenanceSeries.findMany({ where })).toMatchObject([{ durationMinutes: 60 }])
    expect(await prisma.maintenance.count({ where })).toBe(dates)
    expect(new Set((await tenant.news()).slice(1))).toEqual(
      new Set([`HISTORY_IMPORTED ${source}: 1 repeating maintenance`]),
    )
    await dispatch(notified.system, tenant.id)
    expect(await prisma.delivery.count({ where })).toBe(0)
  })
})

describe('subscribers of another tool', () => {
  test('are subscribed to the services that they follow there, without a message', async () => {
    const { tenant, id, give, where } = await owner()
    const subscribers = [
      { address: 'eve@a.example' },
      { address: 'Bob@a.example', services: ['statuspage-a'] },
      { address: 'zoe@a.example', services: ['api'] },
      { address: 'gone@a.example', services: ['statuspage-gone'] },
      { address: 'ana@a.example' },
      { address: 'nobody' },
    ]
    expect(await give({ subscribers }, { dryRun: true })).toEqual([
      ...Array(4).fill('CREATED'),
      'UNCHANGED',
      'SKIPPED It is not an email address.',
    ])
    expect(await give({ subscribers })).toEqual([
      ...Array(3).fill('CREATED'),
      'SKIPPED None of the services that it follows is here.',
      'UNCHANGED',
      'SKIPPED It is not an email address.',
    ])
    const made = await prisma.subscriber.findMany({ where, include: { services: true }, orderBy: { label: 'asc' } })
    expect(
      made.map(({ label, allServices, services: own }) => [label, allServices, own.map((each) => each.serviceId)]),
    ).toEqual([
      ['ana@a.example', true, []],
      ['bob@a.example', false, [id]],
      ['eve@a.example', true, []],
      ['zoe@a.example', false, [id]],
    ])
    expect(made.every(({ confirmedAt }) => confirmedAt !== null)).toBe(true)
    await dispatch(notified.system, tenant.id)
    expect(await prisma.delivery.count({ where })).toBe(0)
  })

  test('are imported up to the limit of the tier', async () => {
    const { give, where } = await owner()
    const subscribers = Array.from({ length: 60 }, (_, index) => ({ address: `a${index}@a.example` }))
    for (const dryRun of [true, false]) {
      const found = await give({ subscribers }, { dryRun })
      expect(found.slice(48, 51)).toEqual([
        'CREATED',
        'SKIPPED Your tier allows 50 subscribers.',
        'SKIPPED Your tier allows 50 subscribers.',
      ])
    }
    expect(await prisma.subscriber.count({ where })).toBe(50)
  })
})
