import { describe, expect, test } from 'vitest'
import { unsubscribe } from '../../src/notification/subscriber.ts'
import { importSubscribers } from '../../src/notification/subscriber-import.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { notifiedIn } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const imported = (tenant: Tenant, csv: string, more: object = {}) =>
  importSubscribers(notified.owner(tenant), { csv, ...more })
const labels = async ({ id }: Tenant) =>
  (await prisma.subscriber.findMany({ where: { organizationId: id }, orderBy: { label: 'asc' } })).map(
    ({ label }) => label,
  )

describe('an import', () => {
  test('subscribes each address once, without confirmation, and reports invalid lines', async () => {
    const tenant = await notified.tenant()
    const csv =
      'Name,E-Mail\r\nAda,ada@a.example\r\n"Lovelace, A.",ADA@a.example\r\nBob,nobody\r\n\r\nEve,eve@a.example\r\n'
    expect(await imported(tenant, csv)).toEqual({
      imported: 2,
      known: 0,
      skippedCount: 0,
      skipped: [],
      problems: [{ line: 4, message: 'must be an e-mail address' }],
    })
    expect(await labels(tenant)).toEqual(['ada@a.example', 'eve@a.example'])
    expect(await prisma.delivery.count({ where: { organizationId: tenant.id } })).toBe(0)
    expect(await tenant.news()).toEqual(['SUBSCRIBERS_IMPORTED 2 addresses'])
  })

  test('uses the first column without a header', async () => {
    const tenant = await notified.tenant()
    await imported(tenant, 'ada@a.example;Ada\neve@a.example;Eve')
    expect(await labels(tenant)).toEqual(['ada@a.example', 'eve@a.example'])
  })

  test('keeps existing subscribers and does not restore unsubscribed ones', async () => {
    const tenant = await notified.tenant()
    const gone = await notified.subscriber(tenant, { email: 'gone@a.example' })
    await unsubscribe(notified.system, notified.token(gone))
    await notified.subscriber(tenant, { email: 'here@a.example' })
    expect(await imported(tenant, 'gone@a.example\nhere@a.example\nnew@a.example')).toMatchObject({
      imported: 1,
      known: 2,
    })
    expect(await prisma.subscriber.findUnique({ where: { id: gone.id } })).toMatchObject({ stopReason: 'UNSUBSCRIBED' })
  })

  test('imports nothing if it would exceed the tier’s limit', async () => {
    const tenant = await notified.tenant()
    const csv = Array.from({ length: 51 }, (_, each) => `${each}@a.example`).join('\n')
    await expect(imported(tenant, csv)).rejects.toMatchObject({ code: 'TIER_LIMIT_REACHED', limit: 50 })
    expect(await labels(tenant)).toEqual([])
  })

  test('can be limited to some services', async () => {
    const tenant = await notified.tenant()
    const [mail = ''] = await tenant.services('Mail')
    await imported(tenant, 'ada@a.example\neve@a.example', { serviceIds: [mail], topics: ['INCIDENTS'] })
    const found = await prisma.subscriber.findMany({
      where: { organizationId: tenant.id },
      include: { services: true },
    })
    expect(found.map(({ allServices, topics, services }) => [allServices, topics, services.length])).toEqual(
      Array(2).fill([false, ['INCIDENTS'], 1]),
    )
  })

  test('requires a key with scope WRITE', async () => {
    const tenant = await notified.tenant()
    const readOnly = { ...notified.owner(tenant), actor: tenant.as('READ').actor }
    await expect(importSubscribers(readOnly, { csv: 'a@a.example' })).rejects.toThrow('scope WRITE')
  })
})
