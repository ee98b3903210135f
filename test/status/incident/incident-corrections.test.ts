import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Conflict, Invalid, NotFound } from '../../../src/core/errors.ts'
import { DAY, HOUR, MINUTE, utcDay } from '../../../src/core/time.ts'
import type { IncidentStatus } from '../../../src/generated/prisma/enums.ts'
import { dispatch } from '../../../src/notification/delivery/dispatch.ts'
import { startDispatch } from '../../../src/notification/subscriber/subscriber.ts'
import { changedServices, correctedResolvedAt, deriveState } from '../../../src/status/incident/incident-corrections.ts'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import {
  deleteIncidentUpdate,
  editIncidentUpdate,
  postIncidentUpdate,
} from '../../../src/status/incident/incident-updates.ts'
import {
  deleteMaintenance,
  deleteMaintenanceUpdate,
  editMaintenanceUpdate,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { noIds, tenantsOf } from '../setup.ts'
import { incidentTimelineInclude } from '../timelines.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)

const at = (minutes: number) => new Date(noon.getTime() + minutes * MINUTE)
const given = { title: 'API is down', status: 'INVESTIGATING', impact: 'MAJOR', message: 'We look.' }

/**
 * A tenant at noon, with an incident that began an hour ago, was identified 40 minutes ago and resolved 20 minutes ago.
 */
async function withPast() {
  const acme = await tenant()
  const [api = '', site = ''] = await acme.services('API', 'Site')
  const created = { ...given, startedAt: at(-60), services: [{ serviceId: api, status: 'MAJOR_OUTAGE' }] }
  const { id } = await createIncident(acme.later(-60 * MINUTE), created)
  const post = (minutes: number, status: IncidentStatus, more: object = {}) =>
    postIncidentUpdate(acme.later(minutes * MINUTE), { incidentId: id, status, message: 'News.', ...more })
  const identified = await post(-40, 'IDENTIFIED', { services: [{ serviceId: api, status: 'PARTIAL_OUTAGE' }] })
  const resolved = await post(-20, 'RESOLVED')
  const read = () => prisma.incident.findUniqueOrThrow({ where: { id }, include: incidentTimelineInclude })
  /** A summary of the incident: status, resolution time, statuses of services. */
  const state = async () => {
    const { status, resolvedAt, services } = await read()
    const names = { [api]: 'API', [site]: 'Site' }
    return [status, resolvedAt, ...services.map((each) => `${names[each.serviceId]} ${each.status}`)]
  }
  const timeline = async () => (await read()).updates.map((each) => each.status).reverse()
  return { ...acme, api, site, id, identified, resolved, post, read, state, timeline }
}

describe('the state derived from a timeline', () => {
  const update = fc.record({
    status: fc.constantFrom('INVESTIGATING', 'IDENTIFIED', 'RESOLVED'),
    minute: fc.nat(1000),
    services: fc.uniqueArray(
      fc.record({ serviceId: fc.constantFrom('a', 'b', 'c'), status: fc.constantFrom('OPERATIONAL', 'MAJOR_OUTAGE') }),
      { selector: ({ serviceId }) => serviceId },
    ),
  })
  const timelines = fc.uniqueArray(update, { selector: ({ minute }) => minute, minLength: 1, maxLength: 8 })
  const read = (updates: readonly (typeof update extends fc.Arbitrary<infer E> ? E : never)[]) =>
    deriveState(
      [...updates]
        .sort((one, other) => one.minute - other.minute)
        .map(({ status, minute, services }) => ({ status, createdAt: at(minute), services })),
    )

  test('follows the newest update, whatever order updates were posted in', () => {
    fc.assert(
      fc.property(timelines, (updates) => {
        const newest = [...updates].sort((one, other) => other.minute - one.minute)[0]
        const state = read(updates)
        expect(state.status).toBe(newest?.status)
        expect(state.resolvedAt === null).toBe(newest?.status !== 'RESOLVED')
        if (state.status === 'RESOLVED') expect(new Set(state.services.values()).size).toBeLessThan(2)
      }),
    )
  })

  test('equals the state of an incident created that way', () => {
    fc.assert(
      fc.property(timelines, timelines, (before, after) => {
        const [was, is] = [read(before), read(after)]
        const services = new Map(was.services)
        for (const [id, status] of changedServices(was, is)) {
          if (status === null) services.delete(id)
          else services.set(id, status)
        }
        expect(services).toEqual(is.services)
        expect(correctedResolvedAt(was.resolvedAt, was, is)).toEqual(is.resolvedAt)
      }),
    )
  })

  test('keeps a manually set end while the resolving update stays', () => {
    const was = read([{ status: 'RESOLVED', minute: 5, services: [] }])
    expect(correctedResolvedAt(at(3), was, was)).toEqual(at(3))
    expect(correctedResolvedAt(at(3), was, read([{ status: 'RESOLVED', minute: 4, services: [] }]))).toEqual(at(4))
  })
})

describe('the times of an incident', () => {
  test('can be set in order, but not in the future', async () => {
    const { ctx, id, read, news } = await withPast()
    await updateIncident(ctx, { id, startedAt: at(-90), resolvedAt: at(-30) })
    expect(await read()).toMatchObject({ startedAt: at(-90), resolvedAt: at(-30), status: 'RESOLVED' })
    expect((await news()).at(-1)).toBe('INCIDENT_UPDATED API is down')
    for (const times of [{ startedAt: at(1) }, { resolvedAt: at(1) }, { startedAt: at(-20) }, { resolvedAt: at(-91) }])
      await expect(updateIncident(ctx, { id, ...times }), JSON.stringify(times)).rejects.toThrow(Invalid)
    expect(await read()).toMatchObject({ startedAt: at(-90), resolvedAt: at(-30) })
  })

  test('have no end while it is open', async () => {
    const { ctx } = await tenant()
    const { id } = await createIncident(ctx, given)
    await expect(updateIncident(ctx, { id, resolvedAt: noon })).rejects.toThrow('not resolved')
    await expect(createIncident(ctx, { ...given, resolvedAt: noon })).rejects.toThrow('not resolved')
  })

  test('are kept for a past incident, which notifies no one', async () => {
    const { id: organizationId, ctx, news } = await tenant()
    const system = { ...ctx, actor: { kind: 'system' } as const }
    await startDispatch(prisma, organizationId, 0)
    const past = { ...given, status: 'RESOLVED', startedAt: at(-90), resolvedAt: at(-60) }
    const incident = await createIncident(ctx, past)
    expect(incident).toMatchObject({ startedAt: at(-90), resolvedAt: at(-60), createdAt: noon })
    const [update] = await prisma.incidentUpdate.findMany({ where: { incidentId: incident.id } })
    expect(update).toMatchObject({ createdAt: at(-60), status: 'RESOLVED' })
    expect(await news()).toEqual(['INCIDENT_BACKFILLED API is down'])
    await dispatch(system, organizationId)
    expect(await prisma.notificationPayload.count({ where: { organizationId } })).toBe(0)
    await expect(createIncident(ctx, { ...past, startedAt: at(-59) })).rejects.toThrow(Invalid)
  })
})

describe('the timeline of an incident', () => {
  test('accepts an earlier update, which only changes what no newer one sets', async () => {
    const { post, ctx, id, site, state, timeline, news, resolved } = await withPast()
    const before = await state()
    const backfilled = await post(0, 'MONITORING', { createdAt: at(-30) })
    expect(backfilled.createdAt).toEqual(at(-30))
    expect(await timeline()).toEqual(['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'])
    expect(await state()).toEqual(before)
    expect((await news()).at(-1)).toBe('INCIDENT_UPDATE_BACKFILLED API is down')
    const services = [{ serviceId: site, status: 'PARTIAL_OUTAGE' }]
    const again = {
      incidentId: id,
      status: 'IDENTIFIED',
      message: 'Also the site.',
      createdAt: resolved.createdAt,
      services,
    }
    // At the time of another update, it is placed just after it, and is therefore the newest.
    expect((await postIncidentUpdate(ctx, again)).createdAt).toEqual(new Date(resolved.createdAt.getTime() + 1))
    expect(await state()).toEqual(['IDENTIFIED', null, 'API OPERATIONAL', 'Site PARTIAL_OUTAGE'])
  })

  test('rejects updates in the future and resolutions before the start', async () => {
    const { post } = await withPast()
    await expect(post(0, 'MONITORING', { createdAt: at(1) })).rejects.toThrow('must not be in the future')
    const fresh = await tenant()
    const { id: incidentId } = await createIncident(fresh.ctx, given)
    const early = { incidentId, status: 'RESOLVED', message: 'Over.', createdAt: at(-1) }
    // An update before the first one is not the newest, so it resolves nothing.
    await postIncidentUpdate(fresh.ctx, early)
    expect((await prisma.incident.findUniqueOrThrow({ where: { id: incidentId } })).status).toBe('INVESTIGATING')
  })

  test('is reordered when times are edited, and the incident follows', async () => {
    const { ctx, identified, resolved, state, timeline, read } = await withPast()
    await editIncidentUpdate(ctx, { id: resolved.id, createdAt: at(-50) })
    expect(await timeline()).toEqual(['INVESTIGATING', 'RESOLVED', 'IDENTIFIED'])
    expect(await state()).toEqual(['IDENTIFIED', null, 'API PARTIAL_OUTAGE'])
    await editIncidentUpdate(ctx, { id: resolved.id, createdAt: at(-10) })
    expect(await state()).toEqual(['RESOLVED', at(-10), 'API OPERATIONAL'])
    await editIncidentUpdate(ctx, { id: identified.id, createdAt: at(-10) })
    expect((await read()).updates.map((each) => each.createdAt)).toEqual([new Date(+at(-10) + 1), at(-10), at(-60)])
    await expect(editIncidentUpdate(ctx, { id: resolved.id, createdAt: at(1) })).rejects.toThrow(Invalid)
  })

  test('cannot resolve the incident before it started', async () => {
    const { ctx, id, resolved, identified, state } = await withPast()
    await deleteIncidentUpdate(ctx, identified.id)
    const [first] = await prisma.incidentUpdate.findMany({ where: { incidentId: id }, orderBy: { createdAt: 'asc' } })
    await editIncidentUpdate(ctx, { id: first?.id, createdAt: at(-80) })
    const before = await state()
    await expect(editIncidentUpdate(ctx, { id: resolved.id, createdAt: at(-70) })).rejects.toThrow('before it started')
    expect(await state()).toEqual(before)
  })

  test('can lose single updates, and the incident follows the rest', async () => {
    const { ctx, resolved, identified, id, state, timeline, news } = await withPast()
    await deleteIncidentUpdate(ctx, resolved.id)
    expect(await state()).toEqual(['IDENTIFIED', null, 'API PARTIAL_OUTAGE'])
    await deleteIncidentUpdate(ctx, identified.id)
    expect(await state()).toEqual(['INVESTIGATING', null, 'API MAJOR_OUTAGE'])
    expect(await timeline()).toEqual(['INVESTIGATING'])
    expect((await news()).slice(-2)).toEqual(Array(2).fill('INCIDENT_UPDATE_DELETED API is down'))
    const [last] = await prisma.incidentUpdate.findMany({ where: { incidentId: id } })
    await expect(deleteIncidentUpdate(ctx, last?.id ?? '')).rejects.toThrow(Conflict)
  })

  test('keeps manual values that a correction does not affect', async () => {
    const { ctx, id, site, identified, state } = await withPast()
    await updateIncident(ctx, { id, resolvedAt: at(-15), services: [{ serviceId: site, status: 'OPERATIONAL' }] })
    await deleteIncidentUpdate(ctx, identified.id)
    expect(await state()).toEqual(['RESOLVED', at(-15), 'Site OPERATIONAL'])
  })

  test('cannot be edited by another organization', async () => {
    const { resolved } = await withPast()
    const { ctx } = await tenant()
    for (const id of [resolved.id, ...noIds('upd')])
      await expect(deleteIncidentUpdate(ctx, id)).rejects.toThrow(NotFound)
  })

  test('is announced as posted, even if corrected before delivery', async () => {
    const { ctx, slug, post, resolved, identified } = await withPast()
    const { id: organizationId } = await prisma.organization.findUniqueOrThrow({ where: { slug } })
    await startDispatch(prisma, organizationId, 0)
    await prisma.subscriber.create({ data: subscriberOf(organizationId) })
    await deleteIncidentUpdate(ctx, identified.id)
    await editIncidentUpdate(ctx, { id: resolved.id, createdAt: at(-10) })
    await post(0, 'MONITORING', { createdAt: at(-30) })
    await dispatch({ ...ctx, actor: { kind: 'system' } }, organizationId)
    const payloads = await prisma.notificationPayload.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })
    expect(payloads.map(({ content }) => (content as { step: string }).step)).toEqual(['CREATED', 'RESOLVED'])
  })
})

const subscriberOf = (organizationId: string) => ({
  id: `sub_${organizationId.slice(4)}`,
  organizationId,
  channel: 'EMAIL' as const,
  address: 'reader@a.example',
  addressHash: organizationId,
  label: 'reader@a.example',
  destination: 'a.example',
  tokenHash: organizationId,
  token: '',
  topics: ['INCIDENTS' as const],
  allServices: true,
  createdAt: noon,
  confirmableUntil: noon,
  confirmedAt: noon,
})

describe('a maintenance', () => {
  const planned = { title: 'New disks', message: 'We swap disks.', startsAt: at(-DAY / MINUTE), endsAt: at(60) }

  test('can be deleted, and the days of its run are recomputed', async () => {
    const { id: organizationId, ctx, services, news } = await tenant()
    const serviceIds = await services('API')
    const { id } = await scheduleMaintenance(ctx, { ...planned, serviceIds })
    const days = { organizationId, up: 0, degraded: 0, down: 0, unknown: 0, maintenance: 1 }
    const day = { subjectId: serviceIds[0] ?? '', day: utcDay(noon), ...days }
    const old = { ...day, day: new Date(utcDay(noon).getTime() - 5 * DAY) }
    await prisma.uptimeDay.createMany({ data: [day, old] })
    await deleteMaintenance(ctx, id)
    expect(await prisma.maintenance.count({ where: { id } })).toBe(0)
    expect(await prisma.uptimeDay.findMany({ where: { organizationId }, select: { day: true } })).toEqual([
      { day: old.day },
    ])
    expect((await news()).at(-1)).toBe('MAINTENANCE_DELETED New disks')
    await expect(deleteMaintenance(ctx, id)).rejects.toThrow(NotFound)
  })

  test('has updates that can be edited and deleted, except the only one', async () => {
    const { ctx, later, news } = await tenant()
    const { id } = await scheduleMaintenance(ctx, { ...planned, startsAt: at(30) })
    await updateMaintenance(later(MINUTE), { id, message: 'It will be quick.' })
    const read = () =>
      prisma.maintenanceUpdate.findMany({ where: { maintenanceId: id }, orderBy: { createdAt: 'asc' } })
    const [first, second] = await read()
    const edited = await editMaintenanceUpdate(later(HOUR), {
      id: second?.id,
      message: 'It will take long.',
      createdAt: first?.createdAt,
      version: 1,
    })
    expect(edited).toMatchObject({ message: 'It will take long.', createdAt: new Date(noon.getTime() + 1), version: 2 })
    await expect(editMaintenanceUpdate(ctx, { id: second?.id, message: 'x', version: 1 })).rejects.toThrow(Conflict)
    await expect(editMaintenanceUpdate(ctx, { id: second?.id, createdAt: at(1) })).rejects.toThrow(Invalid)
    await deleteMaintenanceUpdate(ctx, first?.id ?? '')
    await expect(deleteMaintenanceUpdate(ctx, second?.id ?? '')).rejects.toThrow(Conflict)
    expect(await read()).toHaveLength(1)
    expect((await news()).slice(-2)).toEqual([
      'MAINTENANCE_UPDATE_EDITED New disks',
      'MAINTENANCE_UPDATE_DELETED New disks',
    ])
    const stranger = await tenant()
    await expect(deleteMaintenanceUpdate(stranger.ctx, second?.id ?? '')).rejects.toThrow(NotFound)
  })
})
