import { describe, expect, test } from 'vitest'
import { readStripeEvent } from '../../src/billing/stripe-event.ts'
import { readConfig } from '../../src/config.ts'
import { checkout, deleted, failed, invoice, MONTH, NOON, subscription } from './events.ts'

const config = readConfig({})
const read = (event: object) => readStripeEvent(JSON.stringify(event), config)
/** The same event with fields of its object changed. */
const changed = <E extends { data: { object: object } }>(event: E, fields: object): E => ({
  ...event,
  data: { object: { ...event.data.object, ...fields } },
})

describe.each([
  ['present', false],
  ['previous', true],
])('in the shape of the %s API version', (_, old) => {
  test('a subscription says its status, price and period', () => {
    expect(read(subscription({ id: 'evt_1', subscription: 'sub_1', amount: 9900, old }))).toEqual({
      id: 'evt_1',
      type: 'customer.subscription.updated',
      createdAt: new Date(NOON * 1000),
      subscriptionId: 'sub_1',
      price: { amount: 9900, currency: 'eur' },
      email: null,
      hasReference: false,
      fact: {
        eventId: 'evt_1',
        at: NOON,
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

  test('an invoice says which subscription was paid, and its price for a full period', () => {
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

  test('an invoice whose lines are not all there is priced as a whole, unless it is for a change', () => {
    const part = { lines: { data: [], has_more: true } }
    const whole = changed(invoice({ subscription: 'sub_1', lines: [{ amount: 9900 }], old }), part)
    expect(read(whole)?.fact.tier).toBe('TEAM')
    expect(read(changed(whole, { billing_reason: 'subscription_update' }))?.price).toBe(null)
    expect(read(changed(whole, { lines: undefined, subtotal: undefined }))?.fact.tier).toBe('TEAM')
  })
})

describe('a checkout', () => {
  test('says whose it is, and its price before coupons and taxes', () => {
    const reference = 'org_000000000000000000000000'
    expect(read(checkout({ reference, subscription: 'sub_1', total: 100 }))).toMatchObject({
      subscriptionId: 'sub_1',
      price: { amount: 2900, currency: 'eur' },
      email: 'payer@acme.example',
      hasReference: true,
      fact: { kind: 'paid', tier: 'PRO', organizationId: reference },
    })
    expect(read(changed(checkout(), { amount_subtotal: null, amount_total: 9900 }))?.fact.tier).toBe('TEAM')
    expect(read(checkout({ reference: 'somebody' }))).toMatchObject({
      hasReference: true,
      fact: { organizationId: null },
    })
    expect(read(checkout({ paid: 'unpaid' }))?.fact.kind).toBe('begun')
  })

  test('may name its subscription in full, or be one itself', () => {
    expect(read(changed(checkout(), { subscription: { id: 'sub_2', object: 'subscription' } }))?.subscriptionId).toBe(
      'sub_2',
    )
    expect(read(changed(checkout(), { id: 'cs_1', subscription: null }))?.subscriptionId).toBe('cs_1')
    expect(read(checkout({ mode: 'payment', subscription: null }))?.subscriptionId).toBe(null)
  })
})

test('what the provider may add one day is nothing, and not an error', () => {
  expect(read(subscription({ subscription: 'sub_1', status: 'suspended' }))?.fact.status).toBe(null)
  expect(read({ ...checkout(), type: 'customer.subscription.created' })).toBe(null)
  const odd = changed(checkout(), { amount_subtotal: 'much', currency: 7, customer_details: [], payment_status: {} })
  expect(read(odd)).toMatchObject({ price: null, email: null, fact: { kind: 'begun', tier: null } })
  expect(read(changed(checkout({ amount: 2 ** 40 }), {}))?.price).toBe(null)
  expect(read(changed(checkout(), { customer_details: { email: 'a\u0000@b.example' } }))?.email).toBe(null)
})

test('a subscription of several prices costs their sum', () => {
  const event = subscription({ subscription: 'sub_1' })
  const items = { data: [2000, 900].map((unit_amount) => ({ price: { unit_amount, currency: 'eur' }, quantity: 1 })) }
  expect(read(changed(event, { items }))?.fact.tier).toBe('PRO')
})

test('an end that is set for the subscription counts as its end', () => {
  expect(read(changed(subscription({ subscription: 'sub_1' }), { cancel_at: NOON + 5 }))?.fact.cancelAtEnd).toBe(true)
})
