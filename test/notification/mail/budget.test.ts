// @slow
import { afterAll, describe, expect, test } from 'vitest'
import { tierLimits } from '../../../src/account/limits.ts'
import { consumeMany } from '../../../src/account/quota.ts'
import { MINUTE, nextUtcDay, nextUtcHour, utcDay } from '../../../src/core/time.ts'
import { Tier } from '../../../src/generated/prisma/enums.ts'
import { createMailer } from '../../../src/notification/channel/mailer.ts'
import { MAX_MAILS_PER_HOUR, mailBudgets, spread } from '../../../src/notification/mail/budget.ts'
import { deleteSubscriber } from '../../../src/notification/subscriber/subscriber.ts'
import { importSubscribers } from '../../../src/notification/subscriber/subscriber-import.ts'
import type { Tenant } from '../../status/setup.ts'
import { together } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { notifiedIn, site } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const server = await startMailServer()
const mailer = createMailer({ SMTP_URL: server.url, MAIL_FROM: 'status@allclear.example' }, site)
afterAll(async () => {
  mailer?.close()
  await server.close()
})

const addresses = (count: number, name: string) =>
  Array.from({ length: count }, (_, each) => `${each}@${name}.example`).join('\n')
const imported = (tenant: Tenant, csv: string) => importSubscribers(notified.owner(tenant), { csv })
const subjectsTo = (address: string) =>
  server.mails.filter(({ envelopeTo }) => envelopeTo === address).map(({ subject }) => subject)

/** Leaves an organization this many emails for the day. */
async function leave(tenant: Tenant, left: number): Promise<void> {
  const limit = mailBudgets.FREE.mails
  await consumeMany({ db: prisma }, `mails ${tenant.id}`, utcDay(notified.now()), { amount: limit - left, limit })
}

test('imports per day are limited to the tier’s subscribers', () => {
  for (const tier of Object.values(Tier)) {
    expect(mailBudgets[tier].unconfirmed).toBe(tierLimits[tier].subscribers)
    expect(mailBudgets[tier].mails).toBeGreaterThanOrEqual(10 * tierLimits[tier].subscribers)
  }
})

test('deferred deliveries keep their order', () => {
  const renewed = nextUtcDay(noon)
  const ages = [0, 1, 60, 600, 1000, 2000, 2880, 5000].map((minutes) => new Date(renewed.getTime() - minutes * MINUTE))
  const times = ages.map((createdAt) => spread(renewed, createdAt).getTime())
  expect(times).toEqual(times.toSorted((one, other) => other - one))
  expect(Math.min(...times)).toBe(renewed.getTime())
  expect(Math.max(...times)).toBe(renewed.getTime() + MINUTE)
})

describe('imports', () => {
  test('are counted per day, so deleting and importing again does not raise the limit', async () => {
    const tenant = await notified.tenant()
    await imported(tenant, addresses(30, 'first'))
    for (const { id } of await prisma.subscriber.findMany({ where: { organizationId: tenant.id } })) {
      await deleteSubscriber(notified.owner(tenant), id)
    }
    await expect(imported(tenant, addresses(21, 'second'))).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAt: nextUtcDay(notified.now()),
    })
    expect(await prisma.subscriber.count({ where: { organizationId: tenant.id } })).toBe(0)
    expect(await imported(tenant, addresses(19, 'third'))).toMatchObject({ imported: 19 })
    await notified.subscriber(tenant, { email: 'last@fourth.example' })
    await expect(notified.subscriber(tenant, { email: 'more@fourth.example' })).rejects.toThrow(
      '50 unconfirmed addresses a day',
    )
    notified.time += 24 * 60
    await notified.subscriber(tenant, { email: 'more@fourth.example' })
  })

  test('concurrently do not exceed the limit', async () => {
    const db = prisma
    const limit = 50
    const takes = Array.from({ length: 8 }, () =>
      consumeMany({ db }, 'race', utcDay(noon), { amount: 20, limit }).then((taken) => {
        if (!taken) throw new Error('none left')
      }),
    )
    expect((await together(takes)).done.length).toBe(2)
    expect(await consumeMany({ db }, 'race', utcDay(noon), { amount: 10, limit })).toBe(true)
    expect(await consumeMany({ db }, 'fresh', utcDay(noon), { amount: 51, limit })).toBe(false)
  })
})

describe('emails', () => {
  test('beyond the daily limit wait for the next day, are marked as deferred and keep their order', async () => {
    const tenant = await notified.tenant()
    const worker = notified.worker({ mailer })
    await notified.subscriber(tenant, { email: 'reader@waiting.example' })
    await leave(tenant, 1)
    const incident = await notified.incident(tenant, 'One')
    await notified.tick(tenant, worker)
    await notified.update(tenant, incident, 'More of one')
    await notified.tick(tenant, worker)
    await notified.incident(tenant, 'Two')
    await notified.tick(tenant, worker)
    expect(subjectsTo('reader@waiting.example').length).toBe(1)
    const waiting = await prisma.delivery.findMany({
      where: { organizationId: tenant.id, status: 'PENDING' },
      orderBy: { seq: 'asc' },
    })
    expect(waiting.length).toBe(2)
    const midnight = nextUtcDay(notified.now())
    for (const { deferredUntil, dueAt, attempts } of waiting) {
      expect(deferredUntil?.getTime()).toBeGreaterThanOrEqual(midnight.getTime())
      expect([dueAt, attempts]).toEqual([deferredUntil, []])
    }

    await notified.pass((midnight.getTime() - notified.now().getTime()) / MINUTE + 2, worker, 60)
    expect(subjectsTo('reader@waiting.example').length).toBe(3)
    expect(await prisma.delivery.count({ where: { organizationId: tenant.id, status: 'DELIVERED' } })).toBe(3)
  })

  test('that were deferred are retried for a day from then on', async () => {
    const tenant = await notified.tenant()
    const worker = notified.worker({ mailer })
    await notified.subscriber(tenant, { email: 'reader@late.example' })
    await leave(tenant, 0)
    await notified.incident(tenant, 'Late')
    await notified.tick(tenant, worker)
    server.refusal = () => '451 4.7.1 Greylisted'
    const midnight = nextUtcDay(notified.now()).getTime()
    await notified.pass((midnight - notified.now().getTime()) / MINUTE + 20 * 60, worker, 60)
    expect(await prisma.delivery.findFirst({ where: { organizationId: tenant.id } })).toMatchObject({
      status: 'PENDING',
    })
    server.refusal = () => null
    await notified.pass(130, worker, 10)
    expect(subjectsTo('reader@late.example').length).toBe(1)
  })

  test('to one mailbox are limited per hour across organizations and spellings; the rest is deferred', async () => {
    notified.time = Math.ceil((notified.time + 1) / 60) * 60
    const worker = notified.worker({ mailer })
    const tenants = [await notified.tenant(), await notified.tenant()]
    const spellings = ['v.ictim@gmail.com', 'victim+a@gmail.com', 'victim@googlemail.com', 'vic.tim+b@googlemail.com']
    for (const tenant of tenants) for (const email of spellings) await notified.subscriber(tenant, { email })
    for (let each = 0; each < 6; each += 1) {
      for (const tenant of tenants) {
        await notified.incident(tenant, `Flood ${each}`)
        await notified.tick(tenant, worker)
      }
    }
    const received = () => server.mails.filter(({ envelopeTo }) => /victim/.test(envelopeTo.replaceAll('.', '')))
    expect(received().length).toBe(MAX_MAILS_PER_HOUR)
    const first = await prisma.delivery.findFirst({ where: { deferredUntil: { not: null }, status: 'PENDING' } })
    expect(first?.deferredUntil?.getTime()).toBeGreaterThanOrEqual(nextUtcHour(notified.now()).getTime())
    await notified.pass(62, worker, 31)
    expect(received().length).toBe(48)
  })
})
