import { describe, expect, test } from 'vitest'
import { Invalid, NotFound } from '../../../src/core/errors.ts'
import { HOUR, MINUTE } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import { statusEvents } from '../../../src/monitoring/monitor-events.ts'
import { readServiceUptimes, readUptimeSettings } from '../../../src/monitoring/uptime/service-uptime.ts'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { importIncidents } from '../../../src/status/incident/incident-import.ts'
import { createIncident, openIncident } from '../../../src/status/incident/incident-opening.ts'
import { publishIncident } from '../../../src/status/incident/incident-publication.ts'
import { updateIncidentServices } from '../../../src/status/incident/incident-services.ts'
import { editIncidentUpdate, postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import { scheduleMaintenance, updateMaintenance } from '../../../src/status/maintenance/maintenance.ts'
import { importMaintenances } from '../../../src/status/maintenance/maintenance-import.ts'
import { runDueMaintenance } from '../../../src/status/maintenance/maintenance-job.ts'
import { createService, createServices, updateService } from '../../../src/status/service/service.ts'
import { readShownStatuses } from '../../../src/status/service/service-queries.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { membersOf, type Tenant, tenantsOf } from '../setup.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const member = membersOf(prisma)

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const statement = (id: string) =>
  prisma.service.findUniqueOrThrow({ where: { id }, select: { statedAt: true, statusOverride: true } })
const shown = async (id: string) => (await readShownStatuses({ db: prisma }, { id }))[0]?.shown
/** An organization with a service whose status nobody has stated, created an hour before noon. */
async function unstated(): Promise<{ readonly acme: Tenant; readonly id: string }> {
  const acme = await tenant()
  const { id } = await createService(acme.later(-HOUR), { name: 'API' })
  return { acme, id }
}
const reported = { title: 'Slow', status: 'INVESTIGATING', impact: 'MINOR', message: 'We look.' } as const

describe('a new service', () => {
  test('has no status unless someone states one', async () => {
    const { acme, id } = await unstated()
    expect(await statement(id)).toEqual({ statedAt: null, statusOverride: null })
    expect(await shown(id)).toBe('UNKNOWN')
    expect(await acme.news()).toEqual(['SERVICE_CREATED API'])
  })

  test.each([
    ['OPERATIONAL', null],
    ['PARTIAL_OUTAGE', 'PARTIAL_OUTAGE'],
    ['UNDER_MAINTENANCE', 'UNDER_MAINTENANCE'],
  ] as const)('that is created as %s has it, and the log says who stated it', async (status, statusOverride) => {
    const acme = await tenant()
    const { id, ctx } = await member(acme, 'Ada')
    const service = await createService(ctx, { name: 'API', status })
    expect(await statement(service.id)).toEqual({ statedAt: noon, statusOverride })
    expect(await shown(service.id)).toBe(status)
    expect((await acme.events()).slice(-2)).toMatchObject([
      { kind: 'SERVICE_CREATED', actorKind: 'USER', actorUserId: id },
      { kind: 'SERVICE_STATUS_CHANGED', actorKind: 'USER', actorUserId: id, notifySubscribers: false },
    ])
  })

  test('that is created with others is stated or not by itself, and no unknown status is accepted', async () => {
    const { ctx, news } = await tenant()
    const made = await createServices(ctx, [
      { name: 'A', status: 'OPERATIONAL' },
      { name: 'B' },
      { name: 'C', status: 'UNKNOWN' },
      { name: 'D', status: 'MAJOR_OUTAGE' },
    ])
    expect(made).toMatchObject([
      { statedAt: noon, statusOverride: null },
      { statedAt: null, statusOverride: null },
      expect.any(Invalid),
      { statedAt: noon, statusOverride: 'MAJOR_OUTAGE' },
    ])
    expect(await news()).toEqual([
      ...['SERVICE_CREATED A', 'SERVICE_STATUS_CHANGED A', 'SERVICE_CREATED B', 'SERVICE_CREATED D'],
      'SERVICE_STATUS_CHANGED D',
    ])
  })
})

describe('an edit', () => {
  test('states a status once; operational leaves room for incidents', async () => {
    const { acme, id } = await unstated()
    await updateService(acme.ctx, { id, status: 'OPERATIONAL' })
    expect(await statement(id)).toEqual({ statedAt: noon, statusOverride: null })
    await updateService(acme.later(HOUR), { id, status: 'OPERATIONAL' })
    await createIncident(acme.later(HOUR), { ...reported, services: [{ serviceId: id, status: 'MAJOR_OUTAGE' }] })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['MAJOR_OUTAGE', noon])
    const changes = ['SERVICE_UPDATED API', 'SERVICE_STATUS_CHANGED API']
    expect(await acme.news()).toEqual(['SERVICE_CREATED API', ...changes, 'INCIDENT_CREATED Slow'])
  })

  test('sets and removes an override by its status, which a change of the override states too', async () => {
    const { acme, id } = await unstated()
    await updateService(acme.ctx, { id, status: 'DEGRADED_PERFORMANCE' })
    expect(await statement(id)).toEqual({ statedAt: noon, statusOverride: 'DEGRADED_PERFORMANCE' })
    // Callers without UNKNOWN see the same status as before, but it is stated now.
    expect((await acme.news()).at(-1)).toBe('SERVICE_STATUS_CHANGED API')
    await updateService(acme.ctx, { id, status: 'OPERATIONAL' })
    expect([await shown(id), (await statement(id)).statusOverride]).toEqual(['OPERATIONAL', null])
    const other = await unstated()
    await updateService(other.acme.ctx, { id: other.id, statusOverride: 'MAJOR_OUTAGE' })
    await updateService(other.acme.later(HOUR), { id: other.id, statusOverride: null })
    expect([await shown(other.id), await statement(other.id)]).toEqual([
      'OPERATIONAL',
      { statedAt: noon, statusOverride: null },
    ])
  })

  test('of something else, or of no override, states nothing; two statuses are refused', async () => {
    const { acme, id } = await unstated()
    await updateService(acme.ctx, { id, name: 'Web', statusOverride: null, status: null })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['UNKNOWN', null])
    const both = updateService(acme.ctx, { id, status: 'OPERATIONAL', statusOverride: null })
    await expect(both).rejects.toMatchObject({ constructor: Invalid, issues: [{ path: ['status'] }] })
  })

  test('keeps the statement of an earlier version’s override, which did not record it', async () => {
    const { acme, id } = await unstated()
    await prisma.service.update({ where: { id }, data: { statusOverride: 'MAJOR_OUTAGE' } })
    expect(await shown(id)).toBe('MAJOR_OUTAGE')
    await updateService(acme.ctx, { id, statusOverride: null })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['OPERATIONAL', noon])
  })

  test('is not possible in another organization', async () => {
    const { id } = await unstated()
    const other = await tenant()
    await expect(updateService(other.ctx, { id, status: 'OPERATIONAL' })).rejects.toBeInstanceOf(NotFound)
    const named = createIncident(other.ctx, { ...reported, services: [{ serviceId: id, status: 'OPERATIONAL' }] })
    await expect(named).rejects.toBeInstanceOf(NotFound)
    const foreign = { id: '1', ...reported, startedAt: at(-MINUTE).toISOString(), resolvedAt: null, postmortem: null }
    const updates = [
      { at: at(-MINUTE).toISOString(), ...reported, services: [{ serviceId: id, status: 'OPERATIONAL' }] },
    ]
    await importIncidents(other.ctx, { source: 'STATUSPAGE', installation: 'x', dryRun: false }, [
      { ...foreign, updates },
    ])
    expect(await statement(id)).toEqual({ statedAt: null, statusOverride: null })
  })
})

describe('an incident', () => {
  const named = (serviceId: string, status = 'PARTIAL_OUTAGE') => ({ services: [{ serviceId, status }] })

  test.each([
    ['now', undefined, noon],
    ['a while ago', at(-30 * MINUTE), at(-30 * MINUTE)],
    ['before the service existed', at(-3 * HOUR), at(-HOUR)],
  ] as const)('that started %s states its services since then', async (_, startedAt, statedAt) => {
    const { acme, id } = await unstated()
    const other = await createService(acme.ctx, { name: 'Other' })
    const { id: incidentId } = await createIncident(acme.ctx, { ...reported, ...named(id), startedAt })
    await postIncidentUpdate(acme.ctx, { incidentId, status: 'RESOLVED', message: 'Over.' })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['OPERATIONAL', statedAt])
    expect([await shown(other.id), (await statement(other.id)).statedAt]).toEqual(['UNKNOWN', null])
  })

  test('moves a statement to an earlier time, never to a later one', async () => {
    const { acme, id } = await unstated()
    await updateService(acme.ctx, { id, status: 'OPERATIONAL' })
    const { id: incidentId } = await createIncident(acme.later(HOUR), { ...reported, ...named(id) })
    expect((await statement(id)).statedAt).toEqual(noon)
    await updateIncident(acme.later(HOUR), { id: incidentId, startedAt: at(-10 * MINUTE) })
    expect((await statement(id)).statedAt).toEqual(at(-10 * MINUTE))
  })

  test('that is a draft states nothing until it is published', async () => {
    const { acme, id } = await unstated()
    const draft = await createIncident(acme.ctx, { ...reported, ...named(id), visibility: 'DRAFT' })
    await postIncidentUpdate(acme.ctx, { incidentId: draft.id, status: 'IDENTIFIED', message: 'Found.', ...named(id) })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['UNKNOWN', null])
    await publishIncident(acme.later(MINUTE), { id: draft.id })
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['PARTIAL_OUTAGE', noon])
  })

  test('of monitors states nothing until a person works on it', async () => {
    const { acme, id } = await unstated()
    const text = { title: 'Down', message: 'Timeout.', html: '', htmlVersion: 1 }
    const services = [{ serviceId: id, status: 'MAJOR_OUTAGE' }] as const
    const fields = {
      ...text,
      status: 'INVESTIGATING',
      impact: 'MAJOR',
      services,
      startedAt: noon,
      automatic: true,
    } as const
    const incident = await change(acme.ctx, acme.id, (tx) => openIncident(tx, acme.id, fields))
    expect((await statement(id)).statedAt).toBeNull()
    const { id: updateId } = await prisma.incidentUpdate.findFirstOrThrow({ where: { incidentId: incident.id } })
    await editIncidentUpdate(acme.ctx, { id: updateId, message: 'We look.' })
    expect((await statement(id)).statedAt).toEqual(noon)
  })

  test.each([
    [
      'an update',
      (acme: Tenant, incidentId: string, of: object) =>
        postIncidentUpdate(acme.ctx, { incidentId, status: 'IDENTIFIED', message: 'Found.', ...of }),
    ],
    [
      'an earlier update',
      (acme: Tenant, incidentId: string, of: object) =>
        postIncidentUpdate(acme.ctx, {
          incidentId,
          status: 'IDENTIFIED',
          message: 'Found.',
          createdAt: at(-5 * MINUTE),
          ...of,
        }),
    ],
    ['an edit', (acme: Tenant, id: string, of: object) => updateIncident(acme.ctx, { id, ...of })],
    [
      'an edit of its services',
      (acme: Tenant, incidentId: string, of: object) => updateIncidentServices(acme.ctx, { incidentId, ...of }),
    ],
  ] as const)('states a service that %s adds', async (_, add) => {
    const { acme, id } = await unstated()
    const { id: incidentId } = await createIncident(acme.later(-MINUTE), { ...reported, startedAt: at(-10 * MINUTE) })
    expect((await statement(id)).statedAt).toBeNull()
    await add(acme, incidentId, named(id))
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['PARTIAL_OUTAGE', at(-10 * MINUTE)])
  })

  test('that is imported states its services, since they exist here', async () => {
    const { acme, id } = await unstated()
    const past = { id: '1', title: 'Old', impact: 'MINOR', startedAt: at(-50 * HOUR).toISOString() }
    const update = { at: past.startedAt, status: 'INVESTIGATING', message: 'Hm.', ...named(id) }
    const imported = { ...past, resolvedAt: at(-49 * HOUR).toISOString(), updates: [update], postmortem: null }
    const outcomes = await importIncidents(acme.ctx, { source: 'STATUSPAGE', installation: 'x', dryRun: false }, [
      imported,
    ])
    expect(outcomes).toMatchObject([{ outcome: 'CREATED' }])
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['OPERATIONAL', at(-HOUR)])
  })
})

describe('a maintenance', () => {
  const plan = (id: string) => ({
    title: 'Work',
    message: 'We work.',
    serviceIds: [id],
    startsAt: at(HOUR),
    endsAt: at(2 * HOUR),
  })

  test('states its services when it begins, not when it is planned', async () => {
    const { acme, id } = await unstated()
    await scheduleMaintenance(acme.ctx, plan(id))
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['UNKNOWN', null])
    const job = (time: Date) => runDueMaintenance(testContext(prisma, { actor: { kind: 'system' }, now: () => time }))
    await job(at(HOUR + MINUTE))
    expect([await shown(id), (await statement(id)).statedAt]).toEqual(['UNDER_MAINTENANCE', at(HOUR)])
    await job(at(2 * HOUR))
    expect(await shown(id)).toBe('OPERATIONAL')
  })

  test('that a person starts, that gets a service while it runs, and that was imported states them', async () => {
    const { acme, id } = await unstated()
    const late = await createService(acme.ctx, { name: 'Late' })
    const { id: maintenanceId } = await scheduleMaintenance(acme.ctx, plan(id))
    await updateMaintenance(acme.ctx, { id: maintenanceId, status: 'IN_PROGRESS' })
    expect((await statement(id)).statedAt).toEqual(noon)
    await updateMaintenance(acme.later(MINUTE), { id: maintenanceId, serviceIds: [id, late.id] })
    expect((await statement(late.id)).statedAt).toEqual(noon)
    const moved = await unstated()
    const [startsAt, endsAt] = [at(-10 * MINUTE).toISOString(), at(HOUR).toISOString()]
    const running = {
      id: '1',
      title: 'Work',
      status: 'IN_PROGRESS',
      startsAt,
      endsAt,
      serviceIds: [moved.id],
      updates: [],
    }
    await importMaintenances(moved.acme.ctx, { source: 'STATUSPAGE', installation: 'x', dryRun: false }, [running])
    expect((await statement(moved.id)).statedAt).toEqual(at(-10 * MINUTE))
  })

  test('of an earlier version counts while it runs, although that did not record it', async () => {
    const { acme, id } = await unstated()
    const { id: maintenanceId } = await scheduleMaintenance(acme.ctx, plan(id))
    await prisma.maintenance.update({ where: { id: maintenanceId }, data: { status: 'IN_PROGRESS', startedAt: noon } })
    expect(await shown(id)).toBe('UNDER_MAINTENANCE')
  })
})

test('the figures of a service without monitors begin with its first statement', async () => {
  const { acme, id } = await unstated()
  const span = [{ id, from: at(-HOUR), to: at(HOUR) }]
  const uptime = async () => {
    const settings = (await readUptimeSettings({ db: prisma }, [acme.id])).get(acme.id)
    if (settings === undefined) throw new Error('There is no organization.')
    return (await readServiceUptimes(prisma, settings, span, at(HOUR)))[0]
  }
  expect(await uptime()).toMatchObject({ source: 'INCIDENTS', percent: null, coverage: 0 })
  await updateService(acme.ctx, { id, status: 'OPERATIONAL' })
  expect(await uptime()).toMatchObject({ percent: 100, coverage: 50, tally: { up: HOUR, unknown: HOUR } })
  const services = [{ serviceId: id, status: 'MAJOR_OUTAGE' }]
  await createIncident(acme.later(HOUR), { ...reported, services, startedAt: at(-30 * MINUTE) })
  expect(await uptime()).toMatchObject({ coverage: 75, tally: { down: 90 * MINUTE, unknown: 30 * MINUTE } })
})

test('a service that loses its last monitor is unknown if nobody stated a status, and known otherwise', async () => {
  const { acme, id } = await unstated()
  const last = { serviceId: id, state: 'UP', unknownSince: null } as const
  const [event] = await statusEvents(acme.ctx, last, null)
  expect(event).toMatchObject({ kind: 'SERVICE_UNKNOWN', subjectId: id })
  await updateService(acme.ctx, { id, status: 'OPERATIONAL' })
  expect((await statusEvents(acme.ctx, last, null))[0]).toMatchObject({ kind: 'SERVICE_KNOWN', subjectId: id })
})
