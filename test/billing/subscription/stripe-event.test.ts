import { describe, expect, test } from 'vitest'
import { readStripeEvent } from '../../../src/billing/subscription/stripe-event.ts'
import { readConfig } from '../../../src/core/config.ts'
import { checkout, deleted, failed, invoice, MONTH, NOON, subscription } from '../events.ts'

const config = readConfig({})
const read = (event: object) => readStripeEvent(JSON.stringify(event), config)
/** Returns the event with changed fields of its object. */
const changed = <E extends { data: { object: object } }>(event: E, fields: object): E => ({
  ...event,
  data: { object: { ...event.data.object, ...fields } },
})

describe.each([
  ['current', false],
  ['previous', true],
])('in the shape of the %s API version', (_, old) => {
  test('a subscription has its status, price and period', () => {
    expect(read(subscription({ id: 'evt_1', subscription: 'sub_1', amount: 9900, old }))).toEqual({
      id: 'evt_1',
      type: 'customer.subscription.updated',
      createdAt: new Date(NOON * 1000),
      subscriptionId: 'sub_1',
      price: { amount: 9900, currency: 'eur' },
      email: null,
      hasReference: false,
      references: [],
      fact: {
        eventId: 'evt_1',
        at: NOON,
        isResting: false,
        isOwn: false,
        invoiceId: null,
        isPeriod: false,
        claimId: null,
        before: null,
        isAssumed: false,
        price: { amount: 9900, currency: 'eur' },
        kind: 'stated',
        status: 'ACTIVE',
        tier: 'TEAM',
        organizationId: null,
        periodEnd: NOON + MONTH,
        cancelAtEnd: false,
      },
    })
    const ended = read(deleted({ subscription: 'sub_1', status: 'active', old }))
    expect(ended?.fact.status).toBe('CANCELED')
    expect(read(subscription({ subscription: 'sub_1', quantity: 2, amount: 4950, old }))?.fact.tier).toBe('TEAM')
  })

  test('an invoice has its subscription and its price for a full period', () => {
    const lines = [{ amount: -300, proration: true }, { amount: 2900 }]
    const paid = read(invoice({ subscription: 'sub_1', lines, tax: 551, old }))
    expect(paid).toMatchObject({
      subscriptionId: 'sub_1',
      price: { amount: 2900, currency: 'eur' },
      email: 'payer@acme.example',
      fact: { kind: 'paid', status: null, tier: 'PRO', periodEnd: NOON + MONTH, cancelAtEnd: null },
    })
    expect(read(failed({ subscription: 'sub_1', old }))?.fact.kind).toBe('failed')
    expect(read(invoice({ subscription: 'sub_1', lines: [{ amount: 700, proration: true }], old }))?.price).toBe(null)
    expect(read(invoice({ subscription: null, old }))?.subscriptionId).toBe(null)
  })

  test('an invoice with truncated lines uses its total, unless it is for a change', () => {
    const part = { lines: { data: [], has_more: true } }
    const whole = changed(invoice({ subscription: 'sub_1', lines: [{ amount: 9900 }], old }), part)
    expect(read(whole)?.fact.tier).toBe('TEAM')
    expect(read(changed(whole, { billing_reason: 'subscription_update' }))?.price).toBe(null)
    expect(read(changed(whole, { lines: undefined, subtotal: undefined }))?.fact.tier).toBe('TEAM')
  })
})

describe('a checkout', () => {
  test('has its organization, and its price before coupons and taxes', () => {
    const reference = 'org_000000000000000000000000'
    expect(read(checkout({ reference, subscription: 'sub_1', total: 100 }))).toMatchObject({
      subscriptionId: 'sub_1',
      price: { amount: 2900, currency: 'eur' },
      email: 'payer@acme.example',
      hasReference: true,
      fact: { kind: 'paid', tier: 'PRO', organizationId: reference },
    })
    expect(read(changed(checkout(), { amount_subtotal: null, amount_total: 9900 }))?.fact.tier).toBe('TEAM')
    expect(read(checkout({ reference: 'unknown' }))).toMatchObject({
      hasReference: true,
      fact: { organizationId: null },
    })
    expect(read(checkout({ paid: 'unpaid' }))?.fact.kind).toBe('pending')
  })

  test('can contain an expanded subscription, or be its own subscription', () => {
    expect(read(changed(checkout(), { subscription: { id: 'sub_2', object: 'subscription' } }))?.subscriptionId).toBe(
      'sub_2',
    )
    expect(read(changed(checkout(), { id: 'cs_1', subscription: null }))?.subscriptionId).toBe('cs_1')
    expect(read(checkout({ mode: 'payment', subscription: null }))?.subscriptionId).toBe(null)
  })
})

test('unknown values are ignored without an error', () => {
  expect(read(subscription({ subscription: 'sub_1', status: 'suspended' }))?.fact.status).toBe(null)
  expect(read({ ...checkout(), type: 'customer.updated' })).toBe(null)
  const odd = changed(checkout(), { amount_subtotal: 'much', currency: 7, customer_details: [], payment_status: {} })
  expect(read(odd)).toMatchObject({ price: null, email: null, fact: { kind: 'pending', tier: null } })
  expect(read(changed(checkout({ amount: 2 ** 40 }), {}))?.price).toBe(null)
  expect(read(changed(checkout(), { customer_details: { email: 'a\u0000@b.example' } }))?.email).toBe(null)
})

test('a subscription of several prices costs their sum', () => {
  const event = subscription({ subscription: 'sub_1' })
  const items = { data: [2000, 900].map((unit_amount) => ({ price: { unit_amount, currency: 'eur' }, quantity: 1 })) }
  expect(read(changed(event, { items }))?.fact.tier).toBe('PRO')
})

test('one of several prices can be that of a tier, in any quantity', () => {
  const tierAt = (...given: readonly { amount: number; quantity?: number; interval?: string; count?: number }[]) => {
    const data = given.map(({ amount, quantity = 1, interval = 'month', count = 1 }) => ({
      price: { unit_amount: amount, currency: 'eur', recurring: { interval, interval_count: count } },
      quantity,
    }))
    return readStripeEvent(
      JSON.stringify(changed(subscription({ subscription: 'sub_1' }), { items: { data } })),
      yearly,
    )?.fact.tier
  }
  const yearly = readConfig({ STRIPE_PRO_YEARLY_AMOUNT: '29000', STRIPE_TEAM_YEARLY_AMOUNT: '99000' })
  expect(tierAt({ amount: 2900 }, { amount: 500 })).toBe('PRO')
  expect(tierAt({ amount: 500 }, { amount: 9900 }, { amount: 2900 })).toBe('TEAM')
  expect([tierAt({ amount: 2900, quantity: 5 }), tierAt({ amount: 2900, quantity: 0 })]).toEqual(['PRO', null])
  expect(tierAt({ amount: 29_000, interval: 'year' })).toBe('PRO')
  expect(tierAt({ amount: 99_000, interval: 'month', count: 12 })).toBe('TEAM')
  expect(tierAt({ amount: 2900, interval: 'year' })).toBe(null)
  expect(tierAt({ amount: 29_000, interval: 'month' })).toBe(null)
  expect(tierAt({ amount: 2900, interval: 'week' })).toBe(null)
  expect(tierAt({ amount: 2900, count: 3 })).toBe(null)
})

test('an invoice’s price has the interval of its price or period', () => {
  const yearly = readConfig({ STRIPE_PRO_YEARLY_AMOUNT: '29000' })
  const tierFor = (days: number, amount: number, quantity = 1) => {
    const data = [{ amount: amount * quantity, quantity, period: { start: NOON, end: NOON + days * 86_400 } }]
    const event = changed(invoice({ subscription: 'sub_1' }), { lines: { data, has_more: false } })
    return readStripeEvent(JSON.stringify(event), yearly)?.fact.tier
  }
  expect([tierFor(31, 2900), tierFor(365, 29_000), tierFor(30, 2900, 3)]).toEqual(['PRO', 'PRO', 'PRO'])
  expect([tierFor(365, 2900), tierFor(31, 29_000), tierFor(91, 2900)]).toEqual([null, null, null])
  const begun = readStripeEvent(JSON.stringify(checkout({ amount: 29_000 })), yearly)
  expect(begun?.fact.tier).toBe('PRO')
  expect(readStripeEvent(JSON.stringify(checkout({ amount: 29_000 })), config)?.fact.tier).toBe(null)
})

test('an event that is not for us is ignored, whatever else it contains', () => {
  for (const odd of [
    {},
    { data: null },
    { created: 'now', id: 7 },
    { object: 'v2.core.event', data: { object: [] } },
  ]) {
    expect(read({ type: 'v1.billing.meter.error_report_triggered', ...odd })).toBe(null)
    expect(read({ type: 'x'.repeat(1000), ...odd })).toBe(null)
  }
  expect(() => read({ type: 7 })).toThrow('not a Stripe event')
})

test('the period of a subscription is that of the item that buys the tier', () => {
  const endOf = (...items: readonly (readonly [amount: number, end: number])[]) => {
    const data = items.map(([unit_amount, end]) => ({
      price: { unit_amount, currency: 'eur', recurring: { interval: 'month', interval_count: 1 } },
      quantity: 1,
      current_period_end: end,
    }))
    return read(changed(subscription({ subscription: 'sub_1' }), { items: { data } }))?.fact.periodEnd
  }
  expect(endOf([500, NOON + 5], [2900, NOON + 9])).toBe(NOON + 9)
  expect(endOf([2900, NOON + 9], [9900, NOON + 7])).toBe(NOON + 7)
  expect(endOf([2000, NOON + 9], [900, NOON + 5])).toBe(NOON + 5)
  expect(endOf([1, NOON + 9], [2, NOON + 5])).toBe(NOON + 5)
})

test('a statement says what was so before the change', () => {
  const event = subscription({ subscription: 'sub_1', status: 'past_due' })
  const items = { data: [{ price: { unit_amount: 9900, currency: 'eur' }, quantity: 1, current_period_end: NOON }] }
  const before = { status: 'active', items, cancel_at_period_end: true, pause_collection: { behavior: 'void' } }
  const of = (previous_attributes: unknown) => read({ ...event, data: { ...event.data, previous_attributes } })
  expect(of(before)?.fact.before).toEqual({
    status: 'ACTIVE',
    price: { amount: 9900, currency: 'eur' },
    periodEnd: NOON,
    cancelAtEnd: true,
    isResting: true,
  })
  expect(of({ status: 'active' })?.fact.before).toMatchObject({ status: 'ACTIVE', periodEnd: NOON + MONTH })
  expect([of({ status: 7 })?.fact.before, of('odd')?.fact.before, of(undefined)?.fact.before]).toEqual([
    null,
    null,
    null,
  ])
})

test('an invoice by hand or for a change pays for no period', () => {
  const isPeriod = (reason: string, lines?: object) => {
    const event = changed(invoice({ subscription: 'sub_1' }), { billing_reason: reason, ...(lines && { lines }) })
    return read(event)?.fact.isPeriod
  }
  const truncated = { data: [], has_more: true }
  expect(['manual', 'subscription_update', 'subscription_threshold'].map((each) => isPeriod(each, truncated))).toEqual([
    false,
    false,
    false,
  ])
  expect(['subscription_create', 'subscription_cycle'].map((each) => isPeriod(each, truncated))).toEqual([true, true])
  const item = { amount: 2900, parent: { type: 'invoice_item_details' }, period: { start: NOON, end: NOON } }
  expect(isPeriod('manual', { data: [item], has_more: false })).toBe(false)
})

test('a scheduled cancellation counts as an end', () => {
  expect(read(changed(subscription({ subscription: 'sub_1' }), { cancel_at: NOON + 5 }))?.fact.cancelAtEnd).toBe(true)
})
