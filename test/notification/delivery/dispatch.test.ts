import { describe, expect, test } from 'vitest'
import { HOUR } from '../../../src/core/time.ts'
import type { NotificationPayload } from '../../../src/notification/content/payload.ts'
import { parsePayload } from '../../../src/notification/content/payload.ts'
import { dispatch, findUndispatched } from '../../../src/notification/delivery/dispatch.ts'
import { updateIncident } from '../../../src/status/incident/incident-edits.ts'
import { createIncident } from '../../../src/status/incident/incident-opening.ts'
import { postIncidentUpdate } from '../../../src/status/incident/incident-updates.ts'
import {
  advanceMaintenance,
  cancelMaintenance,
  scheduleMaintenance,
  updateMaintenance,
} from '../../../src/status/maintenance/maintenance.ts'
import type { Tenant } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)
const { system } = notified
const email = (name: string) => ({ email: `${name}@reader.example` })
const at = (hours: number) => new Date(notified.now().getTime() + hours * HOUR)

/** The notifications of each subscriber by name, in order. */
async function reported(tenant: Tenant): Promise<Record<string, string[]>> {
  await dispatch(system, tenant.id)
  const deliveries = await prisma.delivery.findMany({
    where: { organizationId: tenant.id, seq: { not: null } },
    include: { subscriber: true },
    orderBy: { seq: 'asc' },
  })
  const payloads = new Map((await payloadsOf(tenant)).map((payload) => [payload.seq, payload]))
  const grouped: Record<string, string[]> = {}
  for (const { subscriber, seq } of deliveries) {
    const payload = payloads.get(seq ?? -1)
    const name = subscriber.label.split('@', 1)[0] ?? ''
    grouped[name] = [...(grouped[name] ?? []), `${payload?.step} ${payload?.title}`]
  }
  return grouped
}
async function payloadsOf({ id }: Tenant): Promise<(NotificationPayload & { seq: number })[]> {
  const rows = await prisma.notificationPayload.findMany({ where: { organizationId: id }, orderBy: { seq: 'asc' } })
  return rows.map(({ content, seq }) => ({ ...parsePayload(content), seq }))
}
const maintenance = (tenant: Tenant, title: string, starts: number, serviceIds: string[] = []) =>
  scheduleMaintenance(notified.owner(tenant), {
    title,
    message: `${title}.`,
    startsAt: at(starts),
    endsAt: at(5),
    serviceIds,
  })

describe('an event creates one delivery per interested subscriber', () => {
  test('by topic', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, { ...email('both') })
    await notified.subscriber(tenant, { ...email('incidents'), topics: ['INCIDENTS'] })
    await notified.subscriber(tenant, { ...email('maintenance'), topics: ['MAINTENANCES'] })
    await notified.incident(tenant, 'Outage')
    await maintenance(tenant, 'New disks', 1)
    expect(await reported(tenant)).toEqual({
      both: ['CREATED Outage', 'SCHEDULED New disks'],
      incidents: ['CREATED Outage'],
      maintenance: ['SCHEDULED New disks'],
    })
  })

  test('filtered by service; events without a service go to all', async () => {
    const tenant = await notified.tenant()
    const [mail = '', web = ''] = await tenant.services('Mail', 'Web')
    await notified.subscriber(tenant, { ...email('all') })
    await notified.subscriber(tenant, { ...email('mail'), serviceIds: [mail] })
    await notified.subscriber(tenant, { ...email('either'), serviceIds: [mail, web] })
    await notified.incident(tenant, 'of mail', [mail])
    await notified.incident(tenant, 'of web', [web])
    await notified.incident(tenant, 'of both', [mail, web])
    await notified.incident(tenant, 'of nothing')
    await maintenance(tenant, 'web too', 1, [web])
    expect(await reported(tenant)).toEqual({
      all: ['CREATED of mail', 'CREATED of web', 'CREATED of both', 'CREATED of nothing', 'SCHEDULED web too'],
      mail: ['CREATED of mail', 'CREATED of both', 'CREATED of nothing'],
      either: ['CREATED of mail', 'CREATED of web', 'CREATED of both', 'CREATED of nothing', 'SCHEDULED web too'],
    })
  })

  test('only for events after the confirmation', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, email('early'))
    await notified.incident(tenant, 'One')
    await notified.subscriber(tenant, email('late'))
    await notified.incident(tenant, 'Two')
    expect(await reported(tenant)).toEqual({ early: ['CREATED One', 'CREATED Two'], late: ['CREATED Two'] })
  })

  test('once, by any number of workers and attempts', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, email('ada'))
    const incident = await notified.incident(tenant, 'One')
    await Promise.all([dispatch(system, tenant.id), dispatch(system, tenant.id), dispatch(system, tenant.id)])
    await notified.update(tenant, incident, 'More')
    await dispatch(system, tenant.id)
    await dispatch(system, tenant.id)
    expect(await reported(tenant)).toEqual({ ada: ['CREATED One', 'UPDATED One'] })
    // Even after the position was lost.
    await prisma.dispatch.update({ where: { organizationId: tenant.id }, data: { seq: 0 } })
    await dispatch(system, tenant.id)
    expect(await prisma.delivery.count({ where: { organizationId: tenant.id } })).toBe(2)
  })

  test('also for events during days of downtime, with the data of that time', async () => {
    const tenant = await notified.tenant()
    const [mail = ''] = await tenant.services('Mail')
    await notified.subscriber(tenant, email('ada'))
    const incident = await notified.incident(tenant, 'Old', [mail])
    await notified.update(tenant, incident, 'We see why.')
    await notified.update(tenant, incident, 'It is over.', 'RESOLVED')
    await updateIncident(notified.owner(tenant), { id: incident, title: 'Renamed' })
    notified.time += 3 * 24 * 60
    await reported(tenant)
    expect(await payloadsOf(tenant)).toMatchObject([
      {
        step: 'CREATED',
        title: 'Old',
        status: 'INVESTIGATING',
        message: 'First of Old.',
        services: [{ status: 'MAJOR_OUTAGE' }],
      },
      { step: 'UPDATED', status: 'MONITORING', message: 'We see why.', services: [{ status: 'MAJOR_OUTAGE' }] },
      {
        step: 'RESOLVED',
        status: 'RESOLVED',
        message: 'It is over.',
        services: [{ name: 'Mail', status: 'OPERATIONAL' }],
      },
    ])
    const dues = await prisma.delivery.findMany({ where: { organizationId: tenant.id } })
    expect(dues.map(({ dueAt }) => dueAt)).toEqual(Array(3).fill(notified.now()))
  })

  test('but not for corrections or private events', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, { ...email('ada'), topics: ['INCIDENTS', 'MAINTENANCES', 'SERVICE_STATUS'] })
    const incident = await notified.incident(tenant, 'One')
    await updateIncident(notified.owner(tenant), { id: incident, title: 'Another name' })
    await tenant.services('Mail')
    const { id } = await maintenance(tenant, 'New disks', 1)
    await updateMaintenance(notified.owner(tenant), { id, title: 'Newer disks' })
    expect(await reported(tenant)).toEqual({ ada: ['CREATED One', 'SCHEDULED New disks'] })
  })
})

describe('without notifySubscribers, nothing is delivered', () => {
  const silent = { notifySubscribers: false }

  test('of an incident and its updates, by any number of workers and attempts', async () => {
    const tenant = await notified.tenant()
    const owner = notified.owner(tenant)
    await notified.subscriber(tenant, email('ada'))
    const fields = { title: 'Quiet', status: 'INVESTIGATING', impact: 'MINOR', message: 'Only on the page.' }
    const { id } = await createIncident(owner, { ...fields, ...silent })
    await notified.update(tenant, id, 'Notified.')
    await postIncidentUpdate(owner, { incidentId: id, status: 'RESOLVED', message: 'Over.', ...silent })
    expect(await reported(tenant)).toEqual({ ada: ['UPDATED Quiet'] })
    // A worker that died before its commit, and one that processes everything again.
    await prisma.dispatch.update({ where: { organizationId: tenant.id }, data: { seq: 0 } })
    await Promise.all([dispatch(system, tenant.id), dispatch(system, tenant.id)])
    expect(await reported(tenant)).toEqual({ ada: ['UPDATED Quiet'] })
    expect(await payloadsOf(tenant)).toHaveLength(1)
  })

  test('of a maintenance, nor of its start and end', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, email('ada'))
    const times = { startsAt: at(1), endsAt: at(2) }
    const { id } = await scheduleMaintenance(notified.owner(tenant), {
      ...{ title: 'Quiet', message: 'Planned.' },
      ...{ ...times, ...silent },
    })
    await updateMaintenance(notified.owner(tenant), { id, message: 'Soon.' })
    notified.time += 24 * 60
    await advanceMaintenance(system, id)
    expect((await prisma.maintenance.findUniqueOrThrow({ where: { id } })).status).toBe('COMPLETED')
    expect(await reported(tenant)).toEqual({})
  })

  test('of a maintenance until an edit enables it', async () => {
    const tenant = await notified.tenant()
    const owner = notified.owner(tenant)
    await notified.subscriber(tenant, email('ada'))
    const times = { startsAt: at(1), endsAt: at(2) }
    const quiet = { title: 'Quiet', message: 'Planned.', ...times, ...silent }
    const { id } = await scheduleMaintenance(owner, quiet)
    await updateMaintenance(owner, { id, notifySubscribers: true })
    await updateMaintenance(owner, { id, startsAt: at(0) })
    expect(await reported(tenant)).toEqual({ ada: ['STARTED Quiet'] })
    const { id: other } = await scheduleMaintenance(owner, { ...quiet, title: 'Other' })
    await cancelMaintenance(owner, { id: other, notifySubscribers: true })
    expect(await reported(tenant)).toEqual({ ada: ['STARTED Quiet', 'CANCELLED Other'] })
  })
})

test('a maintenance is announced when it is scheduled, starts, ends or is cancelled', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, email('ada'))
  const owner = notified.owner(tenant)
  const { id } = await maintenance(tenant, 'Disks', 1)
  await updateMaintenance(owner, { id, status: 'IN_PROGRESS', message: 'We begin.' })
  await updateMaintenance(owner, { id, status: 'COMPLETED', message: 'Done.' })
  const { id: other } = await maintenance(tenant, 'Cables', 2)
  await cancelMaintenance(owner, { id: other, message: 'Not today.' })
  await maintenance(tenant, 'At once', 0)
  expect(await reported(tenant)).toEqual({
    ada: [
      'SCHEDULED Disks',
      'STARTED Disks',
      'COMPLETED Disks',
      'SCHEDULED Cables',
      'CANCELLED Cables',
      'SCHEDULED At once',
    ],
  })
  expect((await payloadsOf(tenant)).map((payload) => ('message' in payload ? payload.message : ''))).toEqual([
    'Disks.',
    'We begin.',
    'Done.',
    'Cables.',
    'Not today.',
    'At once.',
  ])
})

test('a maintenance is announced when it is rescheduled and updated, with the data of that time', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, email('ada'))
  const owner = notified.owner(tenant)
  const { id } = await maintenance(tenant, 'Disks', 1)
  await updateMaintenance(owner, { id, startsAt: at(5), endsAt: at(6) })
  await updateMaintenance(owner, { id, message: 'Bring coffee.' })
  await updateMaintenance(owner, { id, endsAt: at(7), message: 'Longer.' })
  await updateMaintenance(owner, { id, status: 'IN_PROGRESS' })
  await updateMaintenance(owner, { id, status: 'VERIFYING', message: 'We look.' })
  const { id: atOnce } = await maintenance(tenant, 'At once', 0)
  await updateMaintenance(owner, { id: atOnce, message: 'Half done.' })
  await reported(tenant)
  const payloads = (await payloadsOf(tenant)).map((payload) =>
    payload.about === 'MAINTENANCE' ? [payload.step, payload.title, payload.status, payload.message] : [],
  )
  expect(payloads).toEqual([
    ['SCHEDULED', 'Disks', 'SCHEDULED', 'Disks.'],
    ['RESCHEDULED', 'Disks', 'SCHEDULED', ''],
    ['UPDATED', 'Disks', 'SCHEDULED', 'Bring coffee.'],
    ['UPDATED', 'Disks', 'SCHEDULED', 'Longer.'],
    ['STARTED', 'Disks', 'IN_PROGRESS', ''],
    ['UPDATED', 'Disks', 'VERIFYING', 'We look.'],
    ['SCHEDULED', 'At once', 'IN_PROGRESS', 'At once.'],
    ['UPDATED', 'At once', 'IN_PROGRESS', 'Half done.'],
  ])
})

test('only organizations with new events are read', async () => {
  const [quiet, busy] = [await notified.tenant(), await notified.tenant()]
  for (const tenant of [quiet, busy]) await notified.subscriber(tenant, email('ada'))
  await notified.incident(busy, 'One')
  const ids = [quiet.id, busy.id]
  expect(await findUndispatched(pool, ids)).toEqual([busy.id])
  expect(await findUndispatched(pool, null)).toContain(busy.id)
  await dispatch(system, busy.id)
  expect(await findUndispatched(pool, ids)).toEqual([])
})
