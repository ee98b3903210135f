import { describe, expect, test } from 'vitest'
import { unsubscribe } from '../../../src/notification/subscriber/subscriber.ts'
import { importSubscribers } from '../../../src/notification/subscriber/subscriber-import.ts'
import type { Tenant } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { notifiedIn } from '../setup.ts'

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
      'Name,E-Mail\r\nAda,ada@a.example\r\n"Lovelace, A.",ADA@a.example\r\nBob,no one\r\n\r\nEve,eve@a.example\r\n'
    expect(await imported(tenant, csv)).toEqual({
      imported: 2,
      known: 0,
      skippedCount: 0,
      skipped: [],
      problems: [{ line: 4, message: 'must be an email address' }],
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

  test('reads the list that Statuspage exports, with its variants', async () => {
    const tenant = await notified.tenant()
    const [api = ''] = await tenant.services('API', 'Mail')
    const csv = [
      'type,email,phone number,webhook,quarantined_at,skip-confirmation,API,Website',
      'email,ada@a.example,,,,yes,yes,no',
      'email,all@a.example,,,,yes,,',
      'email,eve@a.example,,,2026-01-01,yes,yes,',
      'sms,,5551234,,,,,',
      'webhook,ops@a.example,,https://a.example/hook,,,,',
      'email,web@a.example,,,,yes,no,yes',
    ].join('\n')
    const { problems, imported: count } = await imported(tenant, csv)
    expect(count).toBe(2)
    expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '4 It is quarantined there: its messages could not be delivered.',
      '5 SMS is not supported.',
      '6 Webhooks are not imported: the receiver must subscribe again to get its signing secret.',
      '7 follows components whose names no service has: create these first',
    ])
    const found = await prisma.subscriber.findMany({
      where: { organizationId: tenant.id },
      include: { services: true },
      orderBy: { label: 'asc' },
    })
    expect(found.map(({ label, services }) => [label, services.map(({ serviceId }) => serviceId)])).toEqual([
      ['ada@a.example', [api]],
      ['all@a.example', []],
    ])
  })

  test.each([
    // As Statuspage imports it: the first cell is also a column name.
    ['email,ada@a.example,yes\nsms,5551234,us\nemail,eve@a.example,no', ['ada@a.example', 'eve@a.example'], 1],
    ['Ada,ada@a.example\nEve,eve@a.example', ['ada@a.example', 'eve@a.example'], 0],
    ['\n\nada@a.example', ['ada@a.example'], 0],
    ['Correo,Nombre\nada@a.example,Ada', ['ada@a.example'], 1],
    ['Email Address;Confirmed At\nada@a.example;2026-01-01\neve@a.example;', ['ada@a.example'], 1],
    ['Subscriber,Components\nada@a.example,all', ['ada@a.example'], 0],
  ])('reads %j', async (csv, expected, problems) => {
    const tenant = await notified.tenant()
    const result = await imported(tenant, csv)
    expect([await labels(tenant), result.problems.length]).toEqual([expected, problems])
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
