import { describe, expect, test } from 'vitest'
import { dispatch, undispatched } from '../../src/notification/dispatch.ts'
import type { Notice } from '../../src/notification/notice.ts'
import { readNotice } from '../../src/notification/notice.ts'
import { updateIncident } from '../../src/status/incident.ts'
import { cancelMaintenance, scheduleMaintenance, updateMaintenance } from '../../src/status/maintenance.ts'
import { HOUR } from '../../src/time.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { notifiedIn } from './setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)
const { system } = notified
const email = (name: string) => ({ email: `${name}@reader.example` })
const at = (hours: number) => new Date(notified.now().getTime() + hours * HOUR)

/** Who gets what: the name of each subscriber, and what was told, in order. */
async function told(tenant: Tenant): Promise<Record<string, string[]>> {
  await dispatch(system, tenant.id)
  const deliveries = await prisma.delivery.findMany({
    where: { organizationId: tenant.id, seq: { not: null } },
    include: { subscriber: true },
    orderBy: { seq: 'asc' },
  })
  const notices = new Map((await noticesOf(tenant)).map((notice) => [notice.seq, notice]))
  const grouped: Record<string, string[]> = {}
  for (const { subscriber, seq } of deliveries) {
    const notice = notices.get(seq ?? -1)
    const name = subscriber.label.split('@', 1)[0] ?? ''
    grouped[name] = [...(grouped[name] ?? []), `${notice?.step} ${notice?.title}`]
  }
  return grouped
}
async function noticesOf({ id }: Tenant): Promise<(Notice & { seq: number })[]> {
  const rows = await prisma.notice.findMany({ where: { organizationId: id }, orderBy: { seq: 'asc' } })
  return rows.map(({ content, seq }) => ({ ...readNotice(content), seq }))
}
const maintenance = (tenant: Tenant, title: string, starts: number, serviceIds: string[] = []) =>
  scheduleMaintenance(notified.owner(tenant), {
    title,
    message: `${title}.`,
    startsAt: at(starts),
    endsAt: at(5),
    serviceIds,
  })

describe('an event becomes one delivery for each subscriber who wants it', () => {
  test('by topic', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, { ...email('both') })
    await notified.subscriber(tenant, { ...email('incidents'), topics: ['INCIDENTS'] })
    await notified.subscriber(tenant, { ...email('maintenance'), topics: ['MAINTENANCES'] })
    await notified.incident(tenant, 'Outage')
    await maintenance(tenant, 'New disks', 1)
    expect(await told(tenant)).toEqual({
      both: ['CREATED Outage', 'SCHEDULED New disks'],
      incidents: ['CREATED Outage'],
      maintenance: ['SCHEDULED New disks'],
    })
  })

  test('by service; what names no service is for all', async () => {
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
    expect(await told(tenant)).toEqual({
      all: ['CREATED of mail', 'CREATED of web', 'CREATED of both', 'CREATED of nothing', 'SCHEDULED web too'],
      mail: ['CREATED of mail', 'CREATED of both', 'CREATED of nothing'],
      either: ['CREATED of mail', 'CREATED of web', 'CREATED of both', 'CREATED of nothing', 'SCHEDULED web too'],
    })
  })

  test('only of what came after it was confirmed', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, email('early'))
    await notified.incident(tenant, 'One')
    await notified.subscriber(tenant, email('late'))
    await notified.incident(tenant, 'Two')
    expect(await told(tenant)).toEqual({ early: ['CREATED One', 'CREATED Two'], late: ['CREATED Two'] })
  })

  test('once, however many workers are at it and however often', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, email('ada'))
    const incident = await notified.incident(tenant, 'One')
    await Promise.all([dispatch(system, tenant.id), dispatch(system, tenant.id), dispatch(system, tenant.id)])
    await notified.update(tenant, incident, 'More')
    await dispatch(system, tenant.id)
    await dispatch(system, tenant.id)
    expect(await told(tenant)).toEqual({ ada: ['CREATED One', 'UPDATED One'] })
    // Even when the position had been lost.
    await prisma.dispatch.update({ where: { organizationId: tenant.id }, data: { seq: 0 } })
    await dispatch(system, tenant.id)
    expect(await prisma.delivery.count({ where: { organizationId: tenant.id } })).toBe(2)
  })

  test('also of what happened while we were away for days, as it was then', async () => {
    const tenant = await notified.tenant()
    const [mail = ''] = await tenant.services('Mail')
    await notified.subscriber(tenant, email('ada'))
    const incident = await notified.incident(tenant, 'Old', [mail])
    await notified.update(tenant, incident, 'We see why.')
    await notified.update(tenant, incident, 'It is over.', 'RESOLVED')
    await updateIncident(notified.owner(tenant), { id: incident, title: 'Renamed' })
    notified.time += 3 * 24 * 60
    await told(tenant)
    expect(await noticesOf(tenant)).toMatchObject([
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

  test('but not of corrections, nor of what is private', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, { ...email('ada'), topics: ['INCIDENTS', 'MAINTENANCES', 'SERVICE_STATUS'] })
    const incident = await notified.incident(tenant, 'One')
    await updateIncident(notified.owner(tenant), { id: incident, title: 'Another name' })
    await tenant.services('Mail')
    const { id } = await maintenance(tenant, 'New disks', 1)
    await updateMaintenance(notified.owner(tenant), { id, title: 'Newer disks' })
    expect(await told(tenant)).toEqual({ ada: ['CREATED One', 'SCHEDULED New disks'] })
  })
})

test('a maintenance is told of when it is planned, starts, ends or is called off', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, email('ada'))
  const owner = notified.owner(tenant)
  const { id } = await maintenance(tenant, 'Disks', 1)
  await updateMaintenance(owner, { id, status: 'IN_PROGRESS', message: 'We begin.' })
  await updateMaintenance(owner, { id, status: 'COMPLETED', message: 'Done.' })
  const { id: other } = await maintenance(tenant, 'Cables', 2)
  await cancelMaintenance(owner, { id: other, message: 'Not today.' })
  await maintenance(tenant, 'At once', 0)
  expect(await told(tenant)).toEqual({
    ada: [
      'SCHEDULED Disks',
      'STARTED Disks',
      'COMPLETED Disks',
      'SCHEDULED Cables',
      'CANCELLED Cables',
      'SCHEDULED At once',
    ],
  })
  expect((await noticesOf(tenant)).map((notice) => ('message' in notice ? notice.message : ''))).toEqual([
    'Disks.',
    'We begin.',
    'Done.',
    'Cables.',
    'Not today.',
    'At once.',
  ])
})

test('a maintenance is told of when it is moved and written of, each with what was said then', async () => {
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
  await told(tenant)
  const notices = (await noticesOf(tenant)).map((notice) =>
    notice.about === 'MAINTENANCE' ? [notice.step, notice.title, notice.status, notice.message] : [],
  )
  expect(notices).toEqual([
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

test('only organizations with something new are looked at', async () => {
  const [quiet, busy] = [await notified.tenant(), await notified.tenant()]
  for (const tenant of [quiet, busy]) await notified.subscriber(tenant, email('ada'))
  await notified.incident(busy, 'One')
  const ids = [quiet.id, busy.id]
  expect(await undispatched(pool, ids)).toEqual([busy.id])
  expect(await undispatched(pool, null)).toContain(busy.id)
  await dispatch(system, busy.id)
  expect(await undispatched(pool, ids)).toEqual([])
})
