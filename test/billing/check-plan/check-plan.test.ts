// @slow
import { describe, expect, test } from 'vitest'
import { authenticate } from '../../../src/account/api-key/authenticate.ts'
import { planAt } from '../../../src/account/limits.ts'
import { createOrganization, setCheckPlan } from '../../../src/account/organization/organization.ts'
import { createQuota } from '../../../src/account/quota.ts'
import { createBtcpay } from '../../../src/billing/btcpay.ts'
import { buyCheckPlan, claimCheckPlan, purchaseSerializer } from '../../../src/billing/check-plan/check-plan.ts'
import {
  isOpen,
  nextPollAt,
  planEffectOf,
  receiveBtcpayEvent,
  reconcileDueInvoices,
  reconcileInvoice,
} from '../../../src/billing/check-plan/check-plan-invoice.ts'
import { assignPayment } from '../../../src/billing/subscription/payment.ts'
import { createTokens } from '../../../src/billing/token.ts'
import type { Actor } from '../../../src/core/context.ts'
import { Conflict, Invalid, LimitExceeded, NotFound, Unavailable } from '../../../src/core/errors.ts'
import { randomText } from '../../../src/core/id.ts'
import { withIdempotencyKey } from '../../../src/core/idempotency.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import { seal } from '../../monitoring/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { send } from '../send.ts'
import { startBtcpay } from '../setup.ts'

let at = noon
const { prisma, pool } = await testDatabase()
const fake = await startBtcpay({ now: () => at })
const btcpay = createBtcpay({ url: fake.url, apiKey: 'key-of-the-tests', storeId: 'store-1', send })
const billing = { tokens: createTokens(Buffer.alloc(32)), btcpay }
const site = { baseUrl: 'https://allclear.example' }
const usage = createQuota(pool)
const contextOf = (actor: Actor) => ({ ...testContext(prisma, { actor, now: () => at }), billing, site, usage })
const visitor = contextOf({ kind: 'visitor' })
const operator = contextOf({ kind: 'operator' })
const later = (ms: number) => new Date(noon.getTime() + ms)

let made = 0

/** Creates an organization and the context of its key. */
async function tenant() {
  const fields = { name: 'Acme', slug: `plan-${++made}`, contactEmail: 'ops@acme.example' }
  const { organization, apiKey } = await createOrganization(operator, fields)
  return { id: organization.id, ctx: contextOf(await authenticate(operator, apiKey.secret)) }
}

const planOf = async (id: string) => {
  const organization = await prisma.organization.findUniqueOrThrow({ where: { id } })
  return [planAt(organization, at), organization.checkPlanUntil]
}
const invoiceOf = (id: string) => prisma.checkPlanInvoice.findUniqueOrThrow({ where: { id } })
const ofOrder = (id: string) => {
  const found = [...fake.invoices.values()].find(({ metadata }) => metadata['orderId'] === id)
  if (!found) throw new Error(`The payment server has no invoice of ${id}.`)
  return found
}

/** Sets an invoice's status on the payment server and sends its webhook request. */
async function becomes(id: string, status: string, type = `Invoice${status}`) {
  const invoice = ofOrder(id)
  invoice.status = status
  await receiveBtcpayEvent(visitor, fake.delivery(invoice.id, type))
}

describe('buying', () => {
  test('stores an invoice for the caller’s organization and returns its checkout URL', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice, secret } = await buyCheckPlan(ctx, { currency: 'BTC' })
    expect(secret).toBe(null)
    expect(invoice).toMatchObject({
      organizationId: id,
      currency: 'BTC',
      email: 'ops@acme.example',
      status: 'NEW',
      checkoutUrl: expect.stringContaining('https://btcpay.example/i/'),
      expiresAt: later(30 * MINUTE),
      secretHash: null,
    })
    expect(ofOrder(invoice.id).checkout['redirectURL']).toBe('https://allclear.example/billing/check-plan/renew')
    expect(await planOf(id)).toEqual(['FREE', null])
  })

  test('again returns the invoice that can still be paid', async () => {
    at = noon
    const { ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    expect((await buyCheckPlan(ctx, { currency: 'BTC' })).invoice.id).toBe(invoice.id)
    expect((await buyCheckPlan(ctx, { currency: 'LTC' })).invoice.id).not.toBe(invoice.id)
    at = later(26 * MINUTE)
    expect((await buyCheckPlan(ctx, { currency: 'BTC' })).invoice.id).not.toBe(invoice.id)
    at = noon
    const { ctx: other } = await tenant()
    expect((await buyCheckPlan(other, { currency: 'BTC' })).invoice.id).not.toBe(invoice.id)
  })

  test('concurrently creates one invoice for all callers', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const bought = await Promise.all(Array.from({ length: 5 }, () => buyCheckPlan(ctx, { currency: 'BTC' })))
    const [first] = bought
    for (const { invoice } of bought) expect(invoice).toEqual(first?.invoice)
    expect(first?.invoice.checkoutUrl).toContain('https://btcpay.example/i/')
    expect(await prisma.checkPlanInvoice.count({ where: { organizationId: id } })).toBe(1)
    const made = [...fake.invoices.values()].filter(({ metadata }) => metadata['orderId'] === first?.invoice.id)
    expect(made).toHaveLength(1)
  })

  test('concurrently fails for all callers when the server fails; the next attempt creates a new invoice', async () => {
    at = noon
    const { id, ctx } = await tenant()
    fake.server.fault = 'error'
    const bought = await Promise.allSettled(Array.from({ length: 3 }, () => buyCheckPlan(ctx, { currency: 'BTC' })))
    fake.server.fault = null
    for (const one of bought) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'PAYMENT_PROVIDER_UNAVAILABLE' } })
    }
    expect((await buyCheckPlan(ctx, { currency: 'BTC' })).invoice.checkoutUrl).toContain('https://btcpay.example/i/')
    const payable = { organizationId: id, checkoutUrl: { not: null } }
    expect(await prisma.checkPlanInvoice.count({ where: payable })).toBe(1)
  })

  test('recovers from a process that died while creating its invoice', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const dead = { id: randomText(24), organizationId: id, currency: 'BTC', email: 'ops@acme.example' } as const
    await prisma.checkPlanInvoice.create({ data: { ...dead, createdAt: noon, expiresAt: later(HOUR) } })
    at = later(15 * SECOND)
    expect((await buyCheckPlan(ctx, { currency: 'BTC' })).invoice.id).not.toBe(dead.id)
  })

  test('is rejected when the plan has no end', async () => {
    at = noon
    const { id, ctx } = await tenant()
    await setCheckPlan(operator, { organizationId: id, plan: 'PRO' })
    await expect(buyCheckPlan(ctx, { currency: 'BTC' })).rejects.toThrow(Conflict)
    expect(await prisma.checkPlanInvoice.count({ where: { organizationId: id } })).toBe(0)
    await setCheckPlan(operator, { organizationId: id, plan: 'PRO', until: later(DAY) })
    await buyCheckPlan(ctx, { currency: 'BTC' })
  })

  test('without a key is limited per client address (IPv6: /64) and day', async () => {
    at = noon
    const from = (clientAddress: string) => ({ ...visitor, clientAddress })
    const buy = (address: string) => buyCheckPlan(from(address), { currency: 'BTC', email: 'a@b.example' })
    const before = fake.requests.length
    for (let time = 0; time < 20; time++) await buy(`2001:db8:0:7::${time}`)
    await expect(buy('2001:db8:0:7:ffff::1')).rejects.toMatchObject({
      code: 'DAILY_LIMIT_EXCEEDED',
      limit: 20,
      resetsAt: new Date('2026-11-21T00:00:00.000Z'),
    })
    expect(fake.requests.length - before).toBe(20)
    await buy('2001:db8:0:8::1')
    const { ctx } = await tenant()
    await buyCheckPlan({ ...ctx, clientAddress: '2001:db8:0:7::1' }, { currency: 'BTC' })
    at = later(12 * HOUR)
    await buy('2001:db8:0:7::1')
  })

  test('is limited per organization, even while the server fails', async () => {
    at = noon
    const { id, ctx } = await tenant()
    fake.server.fault = 'error'
    for (let time = 0; time < 20; time++) {
      await expect(buyCheckPlan(ctx, { currency: 'BTC' })).rejects.toThrow(Unavailable)
    }
    await expect(buyCheckPlan(ctx, { currency: 'LTC' })).rejects.toThrow(LimitExceeded)
    fake.server.fault = null
    await expect(buyCheckPlan(ctx, { currency: 'LTC' })).rejects.toThrow(LimitExceeded)
    expect(await prisma.checkPlanInvoice.count({ where: { organizationId: id } })).toBe(20)
    at = later(12 * HOUR)
    await buyCheckPlan(ctx, { currency: 'LTC' })
  })

  test('requires an email address without an organization, and an accepted currency', async () => {
    await expect(buyCheckPlan(visitor, { currency: 'BTC' })).rejects.toMatchObject({
      issues: [{ path: ['email'], message: 'is required' }],
    })
    await expect(buyCheckPlan(visitor, { currency: 'BTC', email: 'nobody' })).rejects.toThrow(Invalid)
    await expect(buyCheckPlan(visitor, { currency: 'DOGE', email: 'a@b.example' })).rejects.toThrow(Invalid)
  })

  test('fails when no payment server is set up', async () => {
    const bare = { ...visitor, billing: { ...billing, btcpay: null } }
    await expect(buyCheckPlan(bare, { currency: 'BTC', email: 'a@b.example' })).rejects.toMatchObject({
      code: 'PAYMENT_PROVIDER_NOT_CONFIGURED',
    })
    expect(await reconcileDueInvoices(bare)).toBe(null)
  })

  test.each(['silent', 'nonsense', 'error', 'other-amount'] as const)(
    'fails when the server fails: %s',
    async (fault) => {
      at = noon
      const { id, ctx } = await tenant()
      fake.server.fault = fault
      await expect(buyCheckPlan(ctx, { currency: 'BTC' })).rejects.toThrow(Unavailable)
      fake.server.fault = null
      const [kept] = await prisma.checkPlanInvoice.findMany({ where: { organizationId: id } })
      expect(kept).toMatchObject({ status: 'NEW', providerId: null, dueAt: later(MINUTE) })
    },
  )

  test('finds an invoice whose response was lost, and counts its payment', async () => {
    at = noon
    const { id, ctx } = await tenant()
    fake.server.fault = 'slow-but-made'
    await expect(buyCheckPlan(ctx, { currency: 'BTC' })).rejects.toThrow(Unavailable)
    fake.server.fault = null
    const { id: invoiceId } = await prisma.checkPlanInvoice.findFirstOrThrow({ where: { organizationId: id } })
    await becomes(invoiceId, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', later(30 * DAY)])
  })
})

describe('buying with an idempotency key', () => {
  const buy = (ctx: typeof visitor, key: string, input: { currency: 'BTC' | 'LTC'; email?: string }) => {
    const sealed = { ...ctx, seal }
    const asked = { operation: 'buyCheckPlan', input, key }
    return withIdempotencyKey(sealed, asked, purchaseSerializer(sealed), (claiming) => buyCheckPlan(claiming, input))
  }
  const input = { currency: 'LTC', email: 'twice@admin.example' } as const
  // A separate address, because purchases per address are limited.
  const buyer = { ...visitor, clientAddress: '198.51.100.77' }
  const key = () => `key-of-a-buyer-${randomText(8)}`
  const count = () => prisma.checkPlanInvoice.count({ where: { email: input.email } })

  test('without an organization creates one invoice and repeats its secret, which is not stored in plain text', async () => {
    at = noon
    const before = await count()
    const again = key()
    const first = await buy(buyer, again, input)
    expect(await buy(buyer, again, input)).toEqual(first)
    const atOnce = key()
    const racing = await Promise.all([1, 2, 3].map(() => buy(buyer, atOnce, input)))
    expect(new Set(racing.map(({ secret }) => secret)).size).toBe(1)
    expect(await count()).toBe(before + 2)
    expect(await claimCheckPlan(visitor, first.invoice.id, first.secret ?? '')).toMatchObject({ apiKey: null })
    expect(JSON.stringify(await prisma.idempotencyKey.findMany())).not.toContain(first.secret)
    await expect(buy(buyer, again, { ...input, currency: 'BTC' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
  })

  test('with an organization’s key returns the first invoice again, even when a new one is possible', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const again = key()
    const first = await buy(ctx, again, { currency: 'BTC' })
    expect(first.secret).toBe(null)
    at = later(HOUR)
    expect((await buy(ctx, again, { currency: 'BTC' })).invoice.id).toBe(first.invoice.id)
    expect((await buy(ctx, key(), { currency: 'BTC' })).invoice.id).not.toBe(first.invoice.id)
    expect(await prisma.checkPlanInvoice.count({ where: { organizationId: id } })).toBe(2)
  })

  test('is executed again if the payment server created no invoice', async () => {
    at = noon
    const again = key()
    fake.server.fault = 'error'
    await expect(buy(buyer, again, input)).rejects.toThrow(Unavailable)
    fake.server.fault = null
    expect((await buy(buyer, again, input)).invoice.checkoutUrl).not.toBe(null)
  })
})

describe('a payment', () => {
  test('adds thirty days once when settled, even with repeated events', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'LTC' })
    await becomes(invoice.id, 'New', 'InvoiceReceivedPayment')
    await becomes(invoice.id, 'Processing')
    expect([(await invoiceOf(invoice.id)).status, ...(await planOf(id))]).toEqual(['PROCESSING', 'FREE', null])
    at = later(HOUR)
    for (let time = 0; time < 3; time++) await becomes(invoice.id, 'Settled')
    await Promise.all([1, 2, 3].map(() => reconcileInvoice(visitor, invoice.id)))
    expect(await planOf(id)).toEqual(['PRO', later(HOUR + 30 * DAY)])
    expect(await invoiceOf(invoice.id)).toMatchObject({ settledAt: at, grantedAt: at, dueAt: null })
    const events = await prisma.event.findMany({ where: { organizationId: id, kind: 'CHECK_PLAN_CHANGED' } })
    expect(events).toMatchObject([{ actorKind: 'SYSTEM' }])
    at = later(HOUR + 30 * DAY)
    expect((await planOf(id))[0]).toBe('FREE')
  })

  test('extends the plan from the later of now and its end', async () => {
    const { id, ctx } = await tenant()
    const buy = async () => {
      const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
      await becomes(invoice.id, 'Settled')
      return (await planOf(id))[1]
    }
    at = noon
    expect(await buy()).toEqual(later(30 * DAY))
    at = later(10 * DAY)
    expect(await buy()).toEqual(later(60 * DAY))
    at = later(100 * DAY)
    expect(await buy()).toEqual(later(130 * DAY))
  })

  test('does not shorten a plan that no longer has an end', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    await setCheckPlan(operator, { organizationId: id, plan: 'PRO' })
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', null])
  })

  test('that is too small or missing grants nothing', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    ofOrder(invoice.id).additionalStatus = 'PaidPartial'
    await becomes(invoice.id, 'Expired')
    expect([(await invoiceOf(invoice.id)).status, ...(await planOf(id))]).toEqual(['EXPIRED', 'FREE', null])
    await becomes(invoice.id, 'Invalid')
    expect([(await invoiceOf(invoice.id)).status, ...(await planOf(id))]).toEqual(['INVALID', 'FREE', null])
  })

  test('that arrives late counts from its arrival', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    at = later(HOUR)
    await becomes(invoice.id, 'Expired')
    at = later(5 * HOUR)
    ofOrder(invoice.id).additionalStatus = 'PaidLate'
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', later(5 * HOUR + 30 * DAY)])
  })

  test.each([
    ['PaidLate', 'PAID_LATE'],
    ['PaidPartial', 'PAID_IN_PART'],
  ])('of an expired invoice (%s) is listed for the operator, who grants the plan once', async (additional, reason) => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    ofOrder(invoice.id).additionalStatus = additional
    for (let time = 0; time < 2; time++) await becomes(invoice.id, 'Expired')
    const listed = await prisma.paymentEvent.findMany({ where: { organizationId: id, outcome: 'UNMATCHED' } })
    expect(listed).toMatchObject([{ provider: 'BTCPAY', objectId: ofOrder(invoice.id).id, reason }])
    const payment = { paymentEventId: listed[0]?.id, organizationId: id }
    expect((await planOf(id))[0]).toBe('FREE')
    await assignPayment(operator, payment)
    expect(await planOf(id)).toEqual(['PRO', later(30 * DAY)])
    await expect(assignPayment(operator, payment)).rejects.toThrow(Conflict)
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', later(30 * DAY)])
  })

  test('of an expired invoice that is settled in the end leaves the list', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    ofOrder(invoice.id).additionalStatus = 'PaidLate'
    await becomes(invoice.id, 'Expired')
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', later(30 * DAY)])
    expect(await prisma.paymentEvent.count({ where: { organizationId: id, outcome: 'UNMATCHED' } })).toBe(0)
  })

  test('that the operator marks invalid is withdrawn, and granted again when marked settled', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    await becomes(invoice.id, 'Settled')
    for (let time = 0; time < 2; time++) await becomes(invoice.id, 'Invalid')
    expect(await planOf(id)).toEqual(['FREE', noon])
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['PRO', later(30 * DAY)])
  })

  test('counts only with the server’s own data about the invoice we created', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    const theirs = ofOrder(invoice.id)
    await receiveBtcpayEvent(visitor, fake.delivery(theirs.id, 'InvoiceSettled'))
    expect(await planOf(id)).toEqual(['FREE', null])
    theirs.amount = '0.01'
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['FREE', null])
    theirs.amount = '9.00'
    theirs.currency = 'USD'
    await becomes(invoice.id, 'Settled')
    expect(await planOf(id)).toEqual(['FREE', null])
    theirs.currency = 'EUR'
    theirs.metadata['orderId'] = 'another'
    await receiveBtcpayEvent(visitor, fake.delivery(theirs.id, 'InvoiceSettled'))
    expect(await planOf(id)).toEqual(['FREE', null])
  })

  test('without a webhook request is found by polling', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    ofOrder(invoice.id).status = 'Settled'
    await prisma.checkPlanInvoice.updateMany({ where: { id: { not: invoice.id } }, data: { dueAt: null } })
    expect(await reconcileDueInvoices(visitor)).toEqual(later(MINUTE))
    expect(await planOf(id)).toEqual(['FREE', null])
    at = later(MINUTE)
    fake.server.fault = 'silent'
    expect(await reconcileDueInvoices(visitor)).toEqual(later(2 * MINUTE))
    expect(await planOf(id)).toEqual(['FREE', null])
    fake.server.fault = null
    at = later(2 * MINUTE)
    expect(await reconcileDueInvoices(visitor)).toBe(null)
    expect(await planOf(id)).toEqual(['PRO', later(2 * MINUTE + 30 * DAY)])
  })

  test('with a webhook request during an outage of the server is recorded, and found by the next poll', async () => {
    at = noon
    const { id, ctx } = await tenant()
    const { invoice } = await buyCheckPlan(ctx, { currency: 'BTC' })
    fake.server.fault = 'silent'
    await becomes(invoice.id, 'Settled')
    fake.server.fault = null
    expect((await invoiceOf(invoice.id)).dueAt).toEqual(noon)
    await reconcileDueInvoices(visitor)
    expect((await planOf(id))[0]).toBe('PRO')
  })

  test('counts for an invoice whose creation response was lost; an invoice that was never created expires after an hour', async () => {
    at = noon
    const { id, ctx } = await tenant()
    fake.server.fault = 'error'
    await expect(buyCheckPlan(ctx, { currency: 'BTC' })).rejects.toThrow(Unavailable)
    fake.server.fault = null
    const { id: invoiceId } = await prisma.checkPlanInvoice.findFirstOrThrow({ where: { organizationId: id } })
    at = later(MINUTE)
    await reconcileInvoice(visitor, invoiceId)
    expect(await invoiceOf(invoiceId)).toMatchObject({ status: 'NEW', dueAt: later(2 * MINUTE) })
    at = later(HOUR + 1)
    await reconcileInvoice(visitor, invoiceId)
    expect(await invoiceOf(invoiceId)).toMatchObject({ status: 'INVALID', dueAt: null })
  })
})

describe('a buyer without an organization', () => {
  const buy = () => buyCheckPlan(visitor, { currency: 'LTC', email: 'mail@admin.example' })

  test('gets one when the payment is settled, even with sign-up closed, and its key once', async () => {
    at = noon
    const { invoice, secret } = await buy()
    expect(secret).toMatch(/^[0-9a-v]{32}$/)
    expect(ofOrder(invoice.id).checkout['redirectURL']).toBe(
      `https://allclear.example/billing/check-plan/${invoice.id}`,
    )
    expect(await claimCheckPlan(visitor, invoice.id, secret ?? '')).toMatchObject({ apiKey: null })
    expect((await invoiceOf(invoice.id)).organizationId).toBe(null)
    await becomes(invoice.id, 'Settled')
    const { organizationId } = await invoiceOf(invoice.id)
    const claims = await Promise.all([1, 2, 3].map(() => claimCheckPlan(visitor, invoice.id, secret ?? '')))
    const keys = claims.flatMap(({ apiKey }) => apiKey?.secret ?? [])
    expect(keys).toHaveLength(1)
    expect(await authenticate(operator, keys[0] ?? '')).toMatchObject({
      organizationId,
      checkPlan: 'PRO',
      scope: 'ADMIN',
    })
    const organization = await prisma.organization.findUniqueOrThrow({ where: { id: organizationId ?? '' } })
    expect(organization).toMatchObject({ contactEmail: 'mail@admin.example', tier: 'FREE', name: 'Blacklist checks' })
    const events = await prisma.event.findMany({ where: { organizationId: organization.id }, orderBy: { seq: 'asc' } })
    expect(events.map(({ kind }) => kind)).toEqual(['ORGANIZATION_CREATED', 'CHECK_PLAN_CHANGED', 'API_KEY_CREATED'])
    expect(JSON.stringify(await invoiceOf(invoice.id))).not.toContain(secret)
  })

  test('is identified only by the secret', async () => {
    at = noon
    const { invoice } = await buy()
    const { secret: other } = await buy()
    await becomes(invoice.id, 'Settled')
    for (const [id, secret] of [
      [invoice.id, other],
      [invoice.id, ''],
      ['\u0000', ''],
      ['0'.repeat(24), other],
    ] as const) {
      await expect(claimCheckPlan(visitor, id, secret ?? '')).rejects.toThrow(NotFound)
    }
    const { ctx } = await tenant()
    const { invoice: withKey } = await buyCheckPlan(ctx, { currency: 'BTC' })
    await expect(claimCheckPlan(visitor, withKey.id, '')).rejects.toThrow(NotFound)
  })
})

test('ignores webhook requests about unknown invoices', async () => {
  const before = await prisma.paymentEvent.count()
  await receiveBtcpayEvent(visitor, fake.delivery('unknown', 'InvoiceSettled'))
  await receiveBtcpayEvent(visitor, fake.delivery('btcpay1', 'InvoiceSettled', { storeId: 'another' }))
  await receiveBtcpayEvent(visitor, fake.delivery('btcpay1', 'PayoutCreated', { invoiceId: undefined }))
  expect(await prisma.paymentEvent.count()).toBe(before)
  for (const body of ['', '{}', '[]', '{"deliveryId":"\\u0000","type":"x","storeId":"s","timestamp":1}']) {
    await expect(receiveBtcpayEvent(visitor, body)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
  }
})

describe('the effect of an invoice', () => {
  test.each([
    [false, 'NEW', null],
    [false, 'PROCESSING', null],
    [false, 'SETTLED', 'grant'],
    [false, 'EXPIRED', null],
    [false, 'INVALID', null],
    [true, 'NEW', null],
    [true, 'PROCESSING', null],
    [true, 'SETTLED', null],
    [true, 'EXPIRED', null],
    [true, 'INVALID', 'withdraw'],
  ] as const)('granted %s, and then %s: %s', (isGranted, status, effect) => {
    expect(planEffectOf(isGranted, status)).toBe(effect)
  })

  test.each([
    ['NEW', true],
    ['PROCESSING', true],
    ['SETTLED', false],
    ['EXPIRED', false],
    ['INVALID', false],
  ] as const)('%s is open: %s', (status, expected) => {
    expect(isOpen({ status })).toBe(expected)
  })

  test.each([
    ['NEW', 0, MINUTE],
    ['NEW', 31 * MINUTE, 41 * MINUTE],
    ['PROCESSING', 5 * DAY, 5 * DAY + MINUTE],
    ['EXPIRED', HOUR, HOUR + 10 * MINUTE],
    ['EXPIRED', 25 * HOUR, 25 * HOUR + 10 * MINUTE],
    ['EXPIRED', 26 * HOUR, null],
    ['SETTLED', 0, null],
    ['INVALID', 0, null],
  ] as const)('%s after %i ms is polled next at %s', (status, now, expected) => {
    const asked = nextPollAt({ status, expiresAt: later(30 * MINUTE) }, later(now))
    expect(asked).toEqual(expected === null ? null : later(expected))
  })
})
