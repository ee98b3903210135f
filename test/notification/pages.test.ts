import { expect, test } from 'vitest'
import { parsePayload } from '../../src/notification/content/payload.ts'
import { readDeliveries } from '../../src/notification/delivery/delivery.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { subscribe } from '../../src/notification/subscriber/subscribe.ts'
import { createPage, deletePage } from '../../src/status/page/page.ts'
import { testDatabase } from '../support/database.ts'
import { notifiedIn } from './setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)

test('subscribers of a page are only notified of its services, with links to it', async () => {
  const tenant = await notified.tenant('PRO')
  const owner = notified.owner(tenant)
  const [secret = '', open = ''] = await tenant.services('Zebra payroll', 'Checkout')
  const slug = `${tenant.slug}-b`
  const page = await createPage(owner, { slug, name: 'For customers', serviceIds: [open] })
  const reader = { email: 'a@reader.example' }
  // The same address can follow both pages.
  await notified.subscriber(tenant, reader)
  const own = await subscribe(owner, { slug, ...reader })
  await expect(subscribe(owner, { slug, ...reader })).rejects.toThrow('already subscribed')
  await expect(subscribe(owner, { slug, email: 'b@reader.example', serviceIds: [secret] })).rejects.toThrow('not found')
  await notified.incident(tenant, 'Zebra fire', [secret])
  await notified.incident(tenant, 'Both are slow', [secret, open])
  await notified.incident(tenant, 'Everywhere')
  await dispatch(notified.system, tenant.id)
  const rows = await prisma.delivery.findMany({ where: { organizationId: tenant.id, seq: { not: null } } })
  const due = await readDeliveries(
    pool,
    rows.map(({ id }) => id),
  )
  const reported = due.filter(({ subscriber }) => subscriber.id === own?.id)
  expect(reported.map(({ payload }) => parsePayload(payload).title).toSorted()).toEqual(['Both are slow', 'Everywhere'])
  expect(reported[0]?.organization).toMatchObject({ slug, name: 'For customers' })
  expect(JSON.stringify(reported)).not.toMatch(/zebra/i)
  expect(JSON.stringify(reported)).toContain('Checkout')
  expect(due).toHaveLength(5)
  expect(await deletePage(owner, page.id)).toMatchObject({ id: page.id, subscribers: 1 })
  expect(await prisma.subscriber.count({ where: { organizationId: tenant.id } })).toBe(1)
})
