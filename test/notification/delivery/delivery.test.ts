import { expect, test } from 'vitest'
import { createAgenda } from '../../../src/database/lease/agenda.ts'
import { deleteOldDeliveries, redeliver } from '../../../src/notification/delivery/delivery.ts'
import { dispatch } from '../../../src/notification/delivery/dispatch.ts'
import { createDispatcher } from '../../../src/notification/delivery/dispatcher.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)
const { system } = notified
const DAYS = 24 * 60

test('deliveries are kept for 30 days after their end, and payloads as long as their deliveries', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, { webhook: 'http://127.0.0.1:3/' })
  const left = async () => [
    await prisma.delivery.count({ where: { organizationId: tenant.id } }),
    await prisma.notificationPayload.count({ where: { organizationId: tenant.id } }),
  ]
  await notified.incident(tenant, 'Old')
  await dispatch(system, tenant.id)
  // It ended a day later.
  notified.time += DAYS
  await prisma.delivery.updateMany({ data: { status: 'FAILED', dueAt: null, endedAt: notified.now() } })
  const { id } = await prisma.delivery.findFirstOrThrow({ where: { organizationId: tenant.id } })
  notified.time += 30 * DAYS
  await deleteOldDeliveries(system)
  expect(await left()).toEqual([1, 1])
  notified.time += 2 * DAYS
  expect(await deleteOldDeliveries(system)).toBe(false)
  expect(await left()).toEqual([0, 0])
  await expect(redeliver(notified.owner(tenant), id)).rejects.toThrow('Delivery not found')
})

test('pending deliveries are kept at any age', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, { webhook: 'http://127.0.0.1:3/' })
  await notified.incident(tenant, 'Waiting')
  await dispatch(system, tenant.id)
  notified.time += 31 * DAYS
  await deleteOldDeliveries(system)
  expect(await prisma.delivery.count({ where: { organizationId: tenant.id, status: 'PENDING' } })).toBe(1)
})

test('a dispatcher starts with missed events and continues when woken', async () => {
  const [one, other] = [await notified.tenant(), await notified.tenant()]
  const deliveries = () =>
    Promise.all([one, other].map(({ id }) => prisma.delivery.count({ where: { organizationId: id } })))
  for (const tenant of [one, other]) await notified.subscriber(tenant, { webhook: 'http://127.0.0.1:3/' })
  await notified.incident(one, 'Before')
  const dispatcher = createDispatcher(system, pool)
  dispatcher.start(createAgenda({ pool, now: system.now, log: silent }))
  await dispatcher.idle()
  expect(await deliveries()).toEqual([1, 0])
  for (const tenant of [one, other]) await notified.incident(tenant, 'After')
  dispatcher.wake(other.id)
  await dispatcher.idle()
  expect(await deliveries()).toEqual([1, 1])
  dispatcher.wake(null)
  await dispatcher.idle()
  expect(await deliveries()).toEqual([2, 1])
  await dispatcher.close()
  await notified.incident(one, 'Too late')
  dispatcher.wake(one.id)
  await dispatcher.idle()
  expect(await deliveries()).toEqual([2, 1])
})

test('a dispatcher that fails to read events retries when woken', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, { webhook: 'http://127.0.0.1:3/' })
  await notified.incident(tenant, 'Outage')
  let refusals = 1
  const query = (...asked: [never]) => {
    refusals -= 1
    return refusals < 0 ? pool.query(...asked) : Promise.reject(new Error('The database is away.'))
  }
  const dispatcher = createDispatcher(system, { query: query as typeof pool.query })
  dispatcher.wake(tenant.id)
  await dispatcher.idle()
  expect(await prisma.delivery.count({ where: { organizationId: tenant.id } })).toBe(0)
  dispatcher.wake(null)
  await dispatcher.idle()
  expect(await prisma.delivery.count({ where: { organizationId: tenant.id } })).toBe(1)
  await dispatcher.close()
})
