import { describe, expect, test } from 'vitest'
import { StopReason } from '../../../src/generated/prisma/enums.ts'
import { liftSuppression, suppressionScope, suppressStopped } from '../../../src/notification/mail/suppression.ts'
import { reportBounce } from '../../../src/notification/subscriber/bounce.ts'
import { subscribe } from '../../../src/notification/subscriber/subscribe.ts'
import { confirmSubscription, deleteSubscriber, unsubscribe } from '../../../src/notification/subscriber/subscriber.ts'
import { importSubscribers } from '../../../src/notification/subscriber/subscriber-import.ts'
import type { Tenant } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const { system } = notified
const operator = { ...system, actor: { kind: 'operator' } } as const
const DAYS = 24 * 60

let clients = 0
const ask = (tenant: Tenant, email: string) =>
  subscribe(notified.visitor(`198.51.100.${++clients}`), { slug: tenant.slug, email })
const imported = (tenant: Tenant, csv: string) => importSubscribers(notified.owner(tenant), { csv })
const rowsOf = ({ id }: Tenant) => prisma.subscriber.findMany({ where: { organizationId: id } })
const letters = ({ id }: Tenant) => prisma.delivery.count({ where: { organizationId: id, status: 'PENDING' } })
const complain = (email: string) => reportBounce(operator, { email, kind: 'COMPLAINT' })
async function bounce(email: string): Promise<void> {
  for (let each = 0; each < 3; each += 1) await reportBounce(operator, { email, kind: 'BOUNCE' })
}
/** Deletes every subscriber of a page, as its owner. */
async function deleteAll(tenant: Tenant): Promise<void> {
  for (const { id } of await rowsOf(tenant)) await deleteSubscriber(notified.owner(tenant), id)
}

test.each([
  ['UNSUBSCRIBED', 'EMAIL', 'ORGANIZATION'],
  ['UNSUBSCRIBED', 'WEBHOOK', 'ORGANIZATION'],
  ['BOUNCED', 'EMAIL', 'ALL_ORGANIZATIONS'],
  ['BOUNCED', 'SLACK', null],
  ['COMPLAINED', 'EMAIL', 'ALL_ORGANIZATIONS'],
  ['GONE', 'EMAIL', null],
  ['GONE', 'WEBHOOK', null],
] as const)('what was stopped as %s by %s is suppressed for %s', (reason, channel, scope) => {
  expect(Object.values(StopReason)).toContain(reason)
  expect(suppressionScope(reason, channel)).toBe(scope)
})

describe('an address that unsubscribed', () => {
  test('cannot be imported again by its organization after deletion, in any spelling', async () => {
    const tenant = await notified.tenant()
    const ana = await notified.subscriber(tenant, { email: 'ana@gmail.com' })
    await unsubscribe(system, notified.token(ana))
    await deleteAll(tenant)
    expect(await imported(tenant, 'a.n.a+x@googlemail.com\nnew@reader.example')).toEqual({
      imported: 1,
      known: 0,
      skippedCount: 1,
      skipped: [{ line: 1, reason: 'UNSUBSCRIBED', message: expect.stringContaining('unsubscribed') }],
      problems: [],
    })
    await expect(notified.subscriber(tenant, { email: 'Ana@gmail.com' })).rejects.toThrow('This address unsubscribed')
    expect((await rowsOf(tenant)).map(({ label }) => label)).toEqual(['new@reader.example'])
  })

  test('can be imported by others', async () => {
    const [left, other] = [await notified.tenant(), await notified.tenant()]
    await unsubscribe(system, notified.token(await notified.subscriber(left, { email: 'eve@reader.example' })))
    expect(await imported(other, 'eve@reader.example')).toMatchObject({ imported: 1, skippedCount: 0 })
  })

  test('can subscribe again itself; the organization can import it only after it confirmed', async () => {
    const tenant = await notified.tenant()
    await unsubscribe(system, notified.token(await notified.subscriber(tenant, { email: 'bob@reader.example' })))
    await deleteAll(tenant)
    await ask(tenant, 'bob@reader.example')
    expect(await letters(tenant)).toBe(1)
    const [asked] = await rowsOf(tenant)
    if (!asked) throw new Error('No one has asked.')
    await deleteAll(tenant)
    expect(await imported(tenant, 'bob@reader.example')).toMatchObject({ imported: 0, skippedCount: 1 })

    await ask(tenant, 'bob@reader.example')
    const [again] = await rowsOf(tenant)
    if (!again) throw new Error('No one has asked.')
    await confirmSubscription(system, notified.token(again))
    await deleteAll(tenant)
    expect(await imported(tenant, 'bob@reader.example')).toMatchObject({ imported: 1, skippedCount: 0 })
  })

  test('is identified by its URL if it is a webhook', async () => {
    const tenant = await notified.tenant()
    const input = { webhook: 'https://hooks.example/leave-me' }
    await unsubscribe(system, notified.token(await notified.subscriber(tenant, input)))
    await deleteAll(tenant)
    await expect(notified.subscriber(tenant, input)).rejects.toThrow('This address unsubscribed')
    await notified.subscriber(tenant, { webhook: 'https://hooks.example/other' })
  })
})

describe('a mailbox that complained', () => {
  test('cannot be subscribed by any organization and receives no message', async () => {
    const [first, second] = [await notified.tenant(), await notified.tenant()]
    await notified.subscriber(first, { email: 'an.gry+status@gmail.com' })
    expect(await complain('angry@googlemail.com')).toBe(1)
    for (const tenant of [first, second]) {
      await deleteAll(tenant)
      expect(await imported(tenant, 'email\nangry@gmail.com')).toMatchObject({
        imported: 0,
        skipped: [{ line: 2, reason: 'BLOCKED', message: 'This service can’t send to this address.' }],
      })
      await expect(notified.subscriber(tenant, { email: 'a.ngry@gmail.com' })).rejects.toThrow(
        'This service can’t send',
      )
    }
    expect(await ask(second, 'angry@gmail.com')).toBe(null)
    expect(await letters(second)).toBe(0)
  })

  test('is suppressed even without a subscription', async () => {
    const tenant = await notified.tenant()
    expect(await complain('gone-before@reader.example')).toBe(0)
    expect(await imported(tenant, 'gone-before@reader.example')).toMatchObject({ imported: 0, skippedCount: 1 })
  })

  test('can receive email again after the operator lifts the suppression and its owner confirms', async () => {
    const tenant = await notified.tenant()
    await notified.subscriber(tenant, { email: 'sorry@reader.example' })
    await complain('sorry@reader.example')
    await expect(liftSuppression(notified.owner(tenant), { email: 'sorry@reader.example' })).rejects.toThrow('operator')
    expect(await liftSuppression(operator, { email: 'Sorry+1@reader.example' })).toBe(true)
    expect(await liftSuppression(operator, { email: 'sorry@reader.example' })).toBe(false)
    await expect(notified.subscriber(tenant, { email: 'sorry@reader.example' })).rejects.toThrow(
      'This address unsubscribed',
    )
    await ask(tenant, 'sorry@reader.example')
    expect(await letters(tenant)).toBe(1)
    const [row] = await rowsOf(tenant)
    if (!row) throw new Error('It is not there.')
    expect(await confirmSubscription(system, notified.token(row))).toMatchObject({ stopReason: null })
  })
})

describe('a mailbox that bounced permanently', () => {
  test('is stopped everywhere and can subscribe again a month later', async () => {
    const [first, second] = [await notified.tenant(), await notified.tenant()]
    await notified.subscriber(first, { email: 'full@reader.example' })
    await notified.subscriber(second, { email: 'full+2@reader.example' })
    await bounce('full@reader.example')
    for (const tenant of [first, second]) expect(await rowsOf(tenant)).toMatchObject([{ stopReason: 'BOUNCED' }])
    await deleteAll(first)
    expect(await imported(first, 'full@reader.example')).toMatchObject({ imported: 0, skippedCount: 1 })
    await ask(first, 'full@reader.example')
    expect(await letters(first)).toBe(0)

    notified.time += 30 * DAYS
    await deleteAll(first)
    await ask(first, 'full@reader.example')
    expect(await letters(first)).toBe(1)
    const [row] = await rowsOf(first)
    if (!row) throw new Error('It is not there.')
    await confirmSubscription(system, notified.token(row))
    await deleteAll(first)
    expect(await imported(first, 'full@reader.example')).toMatchObject({ imported: 1 })
  })
})

test('suppressions are stored as hashes that differ between organizations', async () => {
  const tenants = [await notified.tenant(), await notified.tenant()]
  for (const tenant of tenants) {
    await unsubscribe(system, notified.token(await notified.subscriber(tenant, { email: 'secret@reader.example' })))
  }
  const rows = await prisma.suppression.findMany({ where: { organizationId: { in: tenants.map(({ id }) => id) } } })
  expect(new Set(rows.map(({ id }) => id)).size).toBe(2)
  expect(JSON.stringify(rows)).not.toContain('reader.example')
  for (const { id } of rows) expect(id).toMatch(/^[\da-f]{64}$/)
})

test('subscribers stopped before suppressions existed are suppressed at the start', async () => {
  const tenant = await notified.tenant()
  await notified.subscriber(tenant, { email: 'old@reader.example' })
  await complain('old@reader.example')
  await prisma.suppression.deleteMany()
  expect(await suppressStopped(system)).toBeGreaterThan(0)
  expect(await imported(await notified.tenant(), 'old@reader.example')).toMatchObject({ skippedCount: 1 })
})
