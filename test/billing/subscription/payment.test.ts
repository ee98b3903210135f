// @slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createOrganization } from '../../../src/account/organization/organization.ts'
import { primarySubscription as shownSubscription } from '../../../src/billing/overview.ts'
import { deleteOldCheckouts, paymentLink, recordCheckout } from '../../../src/billing/subscription/checkout.ts'
import { assignPayment, receiveStripeEvent } from '../../../src/billing/subscription/payment.ts'
import { setTier } from '../../../src/billing/subscription/tier.ts'
import { Forbidden, Invalid, NotFound, Unauthenticated } from '../../../src/core/errors.ts'
import type { Tier } from '../../../src/generated/prisma/enums.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { runs } from '../../support/runs.ts'
import {
  checkout,
  deleted,
  dispute,
  failed,
  invoice,
  invoicePayment,
  MONTH,
  NOON,
  newSubscriptionId,
  refund,
  subscription,
} from '../events.ts'

const { prisma } = await testDatabase()
const ctx = testContext(prisma, { actor: { kind: 'visitor' } })
const operator = testContext(prisma, { actor: { kind: 'operator' } })

let made = 0

/** Creates an organization. */
async function tenant(): Promise<string> {
  const fields = { name: 'Acme', slug: `billing-${++made}`, contactEmail: 'ops@acme.example' }
  return (await createOrganization(operator, fields)).organization.id
}

async function deliver(...events: readonly object[]) {
  for (const event of events) await receiveStripeEvent(ctx, JSON.stringify(event))
}

const tierOf = async (id: string) => (await prisma.organization.findUniqueOrThrow({ where: { id } })).tier
const subscriptionOf = (id: string) => prisma.paidSubscription.findUniqueOrThrow({ where: { id } })
const outcomesOf = async (...events: readonly { readonly id: string }[]) => {
  const rows = await prisma.paymentEvent.findMany({ where: { id: { in: events.map(({ id }) => id) } } })
  return events.map((event) => {
    const row = rows.find(({ id }) => id === event.id)
    return row?.reason ?? row?.outcome
  })
}
const changesOf = (organizationId: string) =>
  prisma.event.findMany({ where: { organizationId, kind: 'TIER_CHANGED' }, orderBy: { seq: 'asc' } })

describe('a payment', () => {
  test('sets the paid tier of the referenced organization, with one event', async () => {
    const id = await tenant()
    const event = checkout({ reference: id, amount: 9900 })
    await deliver(event, event)
    expect(await tierOf(id)).toBe('TEAM')
    expect(await changesOf(id)).toMatchObject([{ actorKind: 'SYSTEM', subjectId: id, subjectName: 'Acme' }])
    expect(await prisma.paymentEvent.findUnique({ where: { id: event.id } })).toMatchObject({
      provider: 'STRIPE',
      type: 'checkout.session.completed',
      organizationId: id,
      amount: 9900,
      currency: 'eur',
      email: 'payer@acme.example',
      outcome: 'APPLIED',
      payload: JSON.stringify(event),
      createdAt: noon,
    })
  })

  test.each([
    ['a coupon', { amount: 2900, total: 2320 }],
    ['a coupon for the full amount', { amount: 2900, total: 0, paid: 'no_payment_required' }],
    ['tax on top', { amount: 2900, total: 3451 }],
  ])('counts with its price before %s', async (_, amounts) => {
    const id = await tenant()
    await deliver(checkout({ reference: id, ...amounts }))
    expect(await tierOf(id)).toBe('PRO')
  })

  test.each([
    ['another currency', { currency: 'usd' }],
    ['another amount', { amount: 2901 }],
    ['the discounted price of another product', { amount: 12_000, total: 2900 }],
  ])('of %s changes nothing and is kept for the operator', async (_, amounts) => {
    const id = await tenant()
    const event = checkout({ reference: id, ...amounts })
    await deliver(event)
    expect(await tierOf(id)).toBe('FREE')
    expect(await outcomesOf(event)).toEqual(['UNKNOWN_AMOUNT'])
  })

  test('with a delayed method grants nothing before it succeeds', async () => {
    const [id, other] = [await tenant(), await tenant()]
    const [one, two] = [newSubscriptionId(), newSubscriptionId()]
    await deliver(checkout({ reference: id, subscription: one, paid: 'unpaid' }))
    await deliver(checkout({ reference: other, subscription: two, paid: 'unpaid' }))
    expect(await tierOf(id)).toBe('FREE')
    const done = { paid: 'paid', type: 'checkout.session.async_payment_succeeded', created: NOON + 200_000 }
    await deliver(checkout({ reference: id, subscription: one, ...done }))
    const not = { paid: 'unpaid', type: 'checkout.session.async_payment_failed', created: NOON + 200_000 }
    await deliver(checkout({ reference: other, subscription: two, ...not }))
    expect([await tierOf(id), await tierOf(other)]).toEqual(['PRO', 'FREE'])
    expect((await subscriptionOf(two)).status).toBe('INCOMPLETE')
  })

  test.each([
    ['no reference', null, 'NO_REFERENCE'],
    ['an empty reference', '', 'NO_REFERENCE'],
    ['an organization that does not exist', 'org_000000000000000000000000', 'UNKNOWN_ORGANIZATION'],
    ['something else', 'x\'; DROP TABLE "Organization"; --', 'UNKNOWN_ORGANIZATION'],
    ['a text that the database cannot store', 'org_\u0000', 'UNKNOWN_ORGANIZATION'],
    ['another kind of id', 'key_000000000000000000000000', 'UNKNOWN_ORGANIZATION'],
  ])('with %s is kept for the operator', async (_, reference, reason) => {
    const event = checkout({ reference })
    await deliver(event)
    expect(await outcomesOf(event)).toEqual([reason])
  })

  test('that is one-time is kept for the operator, and an unrelated one is ignored', async () => {
    const single = checkout({ reference: await tenant(), mode: 'payment', subscription: null })
    const setup = checkout({ mode: 'setup', subscription: null, amount: 0 })
    const other = invoice({ subscription: null })
    await deliver(single, setup, other)
    expect(await outcomesOf(single, setup, other)).toEqual(['NO_SUBSCRIPTION', 'IGNORED', 'IGNORED'])
  })

  test('of another event type is not stored', async () => {
    const other = { ...checkout(), type: 'charge.succeeded' }
    await deliver(other)
    expect(await outcomesOf(other)).toEqual([undefined])
  })
})

describe.each([
  ['current', false],
  ['previous', true],
])('with the %s API version', (_, old) => {
  const month = (count: number) => NOON + count * MONTH

  test('a subscription starts, enters a grace period, ends and starts again', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId(), old }
    const tiers: string[] = []
    const then = async (...events: object[]) => {
      await deliver(...events)
      tiers.push(await tierOf(id))
    }
    await then(checkout({ ...sub, reference: id }), invoice({ ...sub, reason: 'subscription_create' }))
    await then(invoice({ ...sub, created: month(1), end: month(2) }))
    await then(failed({ ...sub, created: month(2), end: month(3) }))
    expect((await subscriptionOf(sub.subscription)).status).toBe('PAST_DUE')
    await then(subscription({ ...sub, created: month(2) + 5, status: 'past_due', end: month(3) }))
    await then(subscription({ ...sub, created: month(2) + 900, status: 'unpaid', end: month(3) }))
    await then(invoice({ ...sub, created: month(2) + 1000, end: month(3) }))
    await then(subscription({ ...sub, created: month(2) + 1001, cancelAtEnd: true, end: month(3) }))
    expect(await subscriptionOf(sub.subscription)).toMatchObject({
      status: 'ACTIVE',
      currentPeriodEnd: new Date(month(3) * 1000),
      cancelAtPeriodEnd: true,
    })
    await then(deleted({ ...sub, created: month(3), end: month(3) }))
    await then(checkout({ ...sub, subscription: newSubscriptionId(), reference: id, created: month(4) }))
    expect(tiers).toEqual(['PRO', 'PRO', 'PRO', 'PRO', 'FREE', 'PRO', 'PRO', 'FREE', 'PRO'])
    expect(await changesOf(id)).toHaveLength(5)
  })

  test('an upgrade and a downgrade within a period take effect immediately, regardless of the proration', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId(), old }
    await deliver(checkout({ ...sub, reference: id }))
    const up = subscription({ ...sub, created: NOON + 10, amount: 9900 })
    const difference = invoice({
      ...sub,
      created: NOON + 11,
      reason: 'subscription_update',
      lines: [
        { amount: -1450, proration: true },
        { amount: 4950, proration: true },
      ],
    })
    await deliver(up, difference)
    expect(await tierOf(id)).toBe('TEAM')
    const down = subscription({ ...sub, created: NOON + 20, amount: 2900 })
    const next = invoice({
      ...sub,
      created: NOON + MONTH,
      lines: [{ amount: -4000, proration: true }, { amount: 2900 }],
      end: NOON + 2 * MONTH,
      tax: 551,
    })
    await deliver(down, next)
    expect(await tierOf(id)).toBe('PRO')
    expect(await outcomesOf(up, difference, down, next)).toEqual(['APPLIED', 'APPLIED', 'APPLIED', 'APPLIED'])
  })
})

describe('events out of order', () => {
  test('wait for the event with their organization, which matches them', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    const early = [invoice({ ...sub, created: NOON + 1 }), subscription({ ...sub, created: NOON + 2, amount: 9900 })]
    const odd = subscription({ ...sub, created: NOON + 3, amount: 1234 })
    await deliver(...early, odd)
    expect(await outcomesOf(...early)).toEqual(['UNKNOWN_SUBSCRIPTION', 'UNKNOWN_SUBSCRIPTION'])
    expect(await tierOf(id)).toBe('FREE')
    await deliver(checkout({ ...sub, reference: id }))
    expect(await outcomesOf(...early, odd)).toEqual(['APPLIED', 'APPLIED', 'UNKNOWN_AMOUNT'])
    expect(await tierOf(id)).toBe('TEAM')
  })

  test('do not revive an ended subscription', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    await deliver(deleted({ ...sub, created: NOON + 9 }), checkout({ ...sub, reference: id }), invoice(sub))
    expect(await tierOf(id)).toBe('FREE')
    expect((await subscriptionOf(sub.subscription)).status).toBe('CANCELED')
  })

  test('give the same tier in any order and after any earlier state', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(anyEvents, async ([specs, order]) => {
        const arrivals = [specs, order.flatMap((position) => specs[position] ?? [])]
        const tiers: Tier[] = []
        for (const arrival of [...arrivals, ...arrivals]) {
          const owner = await tenant()
          // The earlier tier, or the one set by the operator.
          if (tiers.length < 2) await prisma.organization.update({ where: { id: owner }, data: { tier: 'TEAM' } })
          await setTier(operator, { organizationId: owner, tier: tiers.length < 2 ? 'FREE' : 'PRO' })
          const events = arrival.map((spec) => eventOf(spec, `${run}_${tiers.length}`, owner))
          await deliver(...events, ...events.slice(0, 2))
          tiers.push(await tierOf(owner))
        }
        run += 1
        const [tier = 'FREE'] = tiers
        const raised = tier === 'FREE' ? 'PRO' : tier
        expect(tiers).toEqual([tier, tier, raised, raised])
      }),
      runs(5, 15),
    )
  })
})

interface Spec {
  readonly number: number
  readonly make: (typeof makes)[number]
  readonly created: number
  readonly status: string
  readonly amount: number
  readonly which: string
  readonly reference: boolean
  readonly old: boolean
}

const makes = ['checkout', 'updated', 'deleted', 'paid', 'failed', 'linked', 'refund', 'dispute', 'won'] as const

const anyEvents = fc
  .uniqueArray(
    fc.record<Spec>({
      number: fc.nat(1000),
      make: fc.constantFrom(...makes),
      created: fc.integer({ min: NOON, max: NOON + 6 }),
      status: fc.constantFrom('active', 'past_due', 'unpaid', 'incomplete', 'trialing'),
      amount: fc.constantFrom(2900, 9900, 5000),
      which: fc.constantFrom('a', 'b'),
      reference: fc.boolean(),
      old: fc.boolean(),
    }),
    { selector: ({ number }) => number, minLength: 2, maxLength: 8 },
  )
  .chain((specs) => fc.tuple(fc.constant(specs), fc.shuffledSubarray([...specs.keys()], { minLength: specs.length })))

/** Returns the event of a spec, for one of the run's two subscriptions. */
function eventOf(spec: Spec, run: string, owner: string) {
  const given = { ...spec, subscription: `sub_${run}_${spec.which}`, id: `evt_${run}_${spec.number}` }
  const lines = [{ amount: spec.amount }]
  const invoiceId = `in_${run}_${spec.which}`
  switch (spec.make) {
    case 'checkout':
      return checkout({ ...given, reference: spec.reference ? owner : null })
    case 'updated':
      return subscription(given)
    case 'deleted':
      return deleted(given)
    case 'paid':
      return invoice({ ...given, lines, invoice: invoiceId })
    case 'failed':
      return failed({ ...given, lines })
    case 'linked':
      return invoicePayment({ ...given, invoice: invoiceId })
    case 'refund':
      return refund({ id: given.id, created: spec.created, old: spec.old, invoice: invoiceId })
    case 'dispute':
    case 'won':
      return dispute({ id: given.id, created: spec.created, invoice: invoiceId, closed: spec.make === 'won' })
  }
}

describe('two subscriptions of one organization', () => {
  test('the highest paid tier wins', async () => {
    const id = await tenant()
    const [pro, team] = [{ subscription: newSubscriptionId() }, { subscription: newSubscriptionId() }]
    await deliver(checkout({ ...pro, reference: id }), checkout({ ...team, reference: id, amount: 9900 }))
    expect(await tierOf(id)).toBe('TEAM')
    await deliver(subscription({ ...team, amount: 9900, status: 'unpaid', created: NOON + 5 }))
    expect(await tierOf(id)).toBe('PRO')
    await deliver(deleted({ ...pro, created: NOON + 6 }))
    expect(await tierOf(id)).toBe('FREE')
  })

  test('the operator’s tier is a minimum that a subscription raises, until it is cleared', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    await setTier(operator, { organizationId: id, tier: 'PRO' })
    await deliver(checkout({ ...sub, reference: id, amount: 9900 }))
    expect(await tierOf(id)).toBe('TEAM')
    await deliver(deleted({ ...sub, amount: 9900, created: NOON + MONTH }))
    expect(await tierOf(id)).toBe('PRO')
    expect((await setTier(operator, { organizationId: id, tier: 'PRO' })).tier).toBe('PRO')
    expect(await changesOf(id)).toHaveLength(3)
    expect((await setTier(operator, { organizationId: id, tier: null })).tier).toBe('FREE')
  })

  test('the operator’s tier does not lower a paid tier', async () => {
    const id = await tenant()
    await deliver(checkout({ reference: id }))
    expect((await setTier(operator, { organizationId: id, tier: 'FREE' })).tier).toBe('PRO')
  })

  test('an organization without payments has the default tier', async () => {
    const id = await tenant()
    const generous = testContext(prisma, { settings: { DEFAULT_TIER: 'pro' } })
    const sub = { subscription: newSubscriptionId() }
    await deliver(checkout({ ...sub, reference: id, amount: 9900 }))
    await receiveStripeEvent(generous, JSON.stringify(deleted({ ...sub, created: NOON + 1 })))
    expect(await tierOf(id)).toBe('PRO')
  })
})

describe('a gift from someone who knows the id of an organization', () => {
  test('cannot lower its tier when it ends', async () => {
    const id = await tenant()
    const [own, other] = [{ subscription: newSubscriptionId() }, { subscription: newSubscriptionId() }]
    await recordCheckout(ctx, id, 'TEAM')
    await deliver(checkout({ ...own, reference: id, amount: 9900, created: NOON + 60 }))
    await prisma.checkoutStart.deleteMany({ where: { organizationId: id } })
    await deliver(checkout({ ...other, reference: id, created: NOON + 100 }))
    await deliver(deleted({ ...other, created: NOON + 200 }))
    expect(await tierOf(id)).toBe('TEAM')
    expect([(await subscriptionOf(own.subscription)).isOwn, (await subscriptionOf(other.subscription)).isOwn]).toEqual([
      true,
      false,
    ])
  })

  test('cannot lower the default tier', async () => {
    const generous = testContext(prisma, { settings: { DEFAULT_TIER: 'team' } })
    const id = await tenant()
    await setTier({ ...generous, actor: { kind: 'operator' } }, { organizationId: id, tier: null })
    await receiveStripeEvent(generous, JSON.stringify(checkout({ reference: id })))
    expect(await tierOf(id)).toBe('TEAM')
  })

  test('does not replace the organization’s own subscription or block its checkout', async () => {
    const id = await tenant()
    const linked = testContext(prisma, { settings: { STRIPE_PAYMENT_LINK_PRO: 'https://buy.example/pro' } })
    const gift = { subscription: newSubscriptionId() }
    await deliver(checkout({ ...gift, reference: id }))
    await expect(paymentLink(linked, id, 'PRO')).rejects.toThrow('own=true')
    expect(await paymentLink(linked, id, 'PRO', { own: true })).toContain(`client_reference_id=${id}`)
    await recordCheckout(ctx, id, 'PRO')
    const own = { subscription: newSubscriptionId() }
    await deliver(checkout({ ...own, reference: id, created: NOON + 60 }))
    await expect(paymentLink(linked, id, 'PRO', { own: true })).rejects.toThrow('already')
    expect((await shownSubscription(ctx, id))?.id).toBe(own.subscription)
    await deliver(deleted({ ...gift, created: NOON + 100 }))
    expect(await tierOf(id)).toBe('PRO')
  })

  test('does not count as the organization’s own long after its checkout', async () => {
    const id = await tenant()
    await recordCheckout(ctx, id, 'PRO')
    const [soon, late] = [{ subscription: newSubscriptionId() }, { subscription: newSubscriptionId() }]
    await deliver(checkout({ ...late, reference: id, created: NOON + 15 * 86_400 }))
    await deliver(checkout({ ...soon, reference: id, created: NOON + 3600 }))
    expect((await subscriptionOf(late.subscription)).isOwn).toBe(false)
    expect((await subscriptionOf(soon.subscription)).isOwn).toBe(true)
    await deleteOldCheckouts({ db: prisma, now: () => new Date(noon.getTime() + 100 * 86_400_000) })
    expect(await prisma.checkoutStart.count()).toBe(0)
  })
})

describe('a refund or dispute', () => {
  /** Creates an organization whose subscription is paid by an invoice. */
  async function payer() {
    const [id, sub] = [await tenant(), { subscription: newSubscriptionId() }]
    const invoiceId = `in_of_${sub.subscription}`
    await deliver(checkout({ ...sub, reference: id }))
    return { id, sub, invoiceId, paid: invoice({ ...sub, invoice: invoiceId, created: NOON + 1 }) }
  }

  test.each([
    ['in the current API version', false],
    ['in the previous API version', true],
  ])('in full ends the tier, %s, in any order', async (_, old) => {
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [2, 0, 1],
    ]) {
      const { id, sub, invoiceId, paid } = await payer()
      const back = refund({ invoice: invoiceId, created: NOON + 9, old })
      const events = [paid, old ? paid : invoicePayment({ invoice: invoiceId, created: NOON + 2 }), back]
      await deliver(...order.flatMap((index) => events[index] ?? []))
      expect([await tierOf(id), ...(await outcomesOf(back))]).toEqual(['FREE', 'APPLIED'])
      await deliver(invoice({ ...sub, created: NOON + MONTH }))
      expect(await tierOf(id)).toBe('PRO')
    }
  })

  test('in part changes nothing', async () => {
    const { id, invoiceId, paid } = await payer()
    const back = refund({ invoice: invoiceId, amount: 1000, created: NOON + 9, old: true })
    await deliver(paid, back)
    expect([await tierOf(id), ...(await outcomesOf(back))]).toEqual(['PRO', 'APPLIED'])
  })

  test('by a dispute ends the tier until we win it', async () => {
    const { id, invoiceId, paid } = await payer()
    await deliver(paid, invoicePayment({ invoice: invoiceId }), dispute({ invoice: invoiceId, created: NOON + 9 }))
    expect(await tierOf(id)).toBe('FREE')
    await deliver(dispute({ invoice: invoiceId, closed: true, created: NOON + 20 }))
    expect(await tierOf(id)).toBe('PRO')
    await deliver(dispute({ invoice: invoiceId, closed: true, status: 'lost', created: NOON + 30 }))
    expect(await tierOf(id)).toBe('FREE')
    const inquiry = await payer()
    await deliver(inquiry.paid, invoicePayment({ invoice: inquiry.invoiceId }))
    await deliver(dispute({ invoice: inquiry.invoiceId, status: 'warning_needs_response', created: NOON + 9 }))
    expect(await tierOf(inquiry.id)).toBe('PRO')
  })

  test('of an unknown payment waits for the operator', async () => {
    const [full, part] = [refund({ invoice: 'in_unknown' }), refund({ invoice: 'in_other', amount: 1 })]
    await deliver(full, part)
    expect(await outcomesOf(full, part)).toEqual(['UNKNOWN_SUBSCRIPTION', 'IGNORED'])
  })
})

describe('sequences of a subscription', () => {
  /** Delivers a sequence, each event a day after the one before, in both orders. Returns the tiers that result. */
  async function tiersAfter(make: (sub: string, id: string, day: (number: number) => number) => object[]) {
    const tiers: Tier[] = []
    for (const order of ['sent', 'reversed']) {
      const id = await tenant()
      const events = make(newSubscriptionId(), id, (number) => NOON + number * 86_400)
      await deliver(...(order === 'sent' ? events : events.toReversed()))
      tiers.push(await tierOf(id))
    }
    return tiers
  }

  test('a cent by hand does not restore an unpaid subscription, and is listed; its price does', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    const cent = invoice({ ...sub, created: NOON + 3, lines: [{ amount: 1 }], reason: 'manual' })
    await deliver(
      checkout({ ...sub, reference: id }),
      subscription({ ...sub, created: NOON + 2, status: 'unpaid' }),
      cent,
    )
    expect([await tierOf(id), await outcomesOf(cent)]).toEqual(['FREE', ['UNKNOWN_AMOUNT']])
    await deliver(invoice({ ...sub, created: NOON + 4 }))
    expect(await tierOf(id)).toBe('PRO')
  })

  test('a yearly price of the monthly amount buys nothing, in any order', async () => {
    const tiers = await tiersAfter((subscriptionId, reference, day) => {
      const sub = { subscription: subscriptionId, interval: 'year' }
      return [
        checkout({ subscription: subscriptionId, reference }),
        subscription({ ...sub, created: day(0), type: 'customer.subscription.created' }),
        subscription({ ...sub, created: day(1) }),
      ]
    })
    expect(tiers).toEqual(['FREE', 'FREE'])
  })

  test('a trial gives the tier until its first payment fails, and a payment gives it again', async () => {
    const sequence =
      (length: number) => (subscriptionId: string, reference: string, day: (number: number) => number) => {
        const sub = { subscription: subscriptionId }
        const trial = { type: 'customer.subscription.created', status: 'trialing', end: day(14) }
        return [
          checkout({ ...sub, reference, amount: 0, paid: 'no_payment_required' }),
          subscription({ ...sub, ...trial, created: day(0) }),
          subscription({ ...sub, status: 'active', end: day(44), created: day(14) }),
          failed({ ...sub, end: day(44), created: day(14) + 3600 }),
          subscription({ ...sub, status: 'past_due', end: day(44), created: day(14) + 3600 }),
          invoice({ ...sub, end: day(44), created: day(17) }),
        ].slice(0, length)
      }
    const tiers = await Promise.all([2, 3, 4, 5, 6].map((length) => tiersAfter(sequence(length))))
    expect(tiers.map(([tier]) => tier)).toEqual(['PRO', 'PRO', 'FREE', 'FREE', 'PRO'])
    expect(tiers.map(([, tier]) => tier)).toEqual(tiers.map(([tier]) => tier))
  })

  test('payments that never succeed give nothing', async () => {
    const tiers = await tiersAfter((subscriptionId, reference, day) => {
      const sub = { subscription: subscriptionId }
      return [
        checkout({ ...sub, reference, paid: 'unpaid' }),
        subscription({ ...sub, type: 'customer.subscription.created', status: 'incomplete', created: day(0) }),
        failed({ ...sub, created: day(0) + 60 }),
        failed({ ...sub, created: day(1) }),
        subscription({ ...sub, status: 'incomplete_expired', created: day(1) + 60 }),
      ]
    })
    expect(tiers).toEqual(['FREE', 'FREE'])
  })

  test('a price in another currency buys what the operator says, from then on', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId(), currency: 'usd', amount: 3100 }
    const dollars = { subscription: sub.subscription, currency: 'usd', lines: [{ amount: 3100 }] }
    const bought = checkout({ ...sub, reference: id })
    await deliver(bought, subscription(sub))
    expect([await tierOf(id), await outcomesOf(bought)]).toEqual(['FREE', ['UNKNOWN_AMOUNT']])
    await assignPayment(operator, { paymentEventId: bought.id, organizationId: id, tier: 'PRO' })
    expect(await tierOf(id)).toBe('PRO')
    const next = invoice({ ...dollars, created: NOON + MONTH, end: NOON + 2 * MONTH })
    await deliver(subscription({ ...sub, status: 'unpaid', created: NOON + MONTH - 1 }), next)
    expect([await tierOf(id), await outcomesOf(next)]).toEqual(['PRO', ['APPLIED']])
  })

  test('an old invoice that is paid late changes neither the period nor what a refund ends', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    await deliver(
      checkout({ ...sub, reference: id }),
      invoice({ ...sub, created: NOON + MONTH, end: NOON + 2 * MONTH }),
      invoice({ ...sub, created: NOON + MONTH + 5, end: NOON + MONTH, invoice: 'in_old_one' }),
      invoicePayment({ invoice: 'in_old_one', created: NOON + MONTH + 5 }),
      refund({ invoice: 'in_old_one', created: NOON + MONTH + 9 }),
    )
    expect(await tierOf(id)).toBe('PRO')
    expect((await subscriptionOf(sub.subscription)).currentPeriodEnd).toEqual(new Date((NOON + 2 * MONTH) * 1000))
  })
})

test('two units of a tier count as one, although the checkout has only their sum', async () => {
  const id = await tenant()
  const sub = { subscription: newSubscriptionId() }
  const begun = checkout({ ...sub, reference: id, amount: 5800 })
  await deliver(begun)
  expect([await tierOf(id), ...(await outcomesOf(begun))]).toEqual(['FREE', 'UNKNOWN_AMOUNT'])
  await deliver(subscription({ ...sub, quantity: 2, created: NOON + 1 }))
  expect([await tierOf(id), ...(await outcomesOf(begun))]).toEqual(['PRO', 'APPLIED'])
})

describe('assigning a payment', () => {
  test('assigns the subscription with its past and future payments', async () => {
    const id = await tenant()
    const sub = { subscription: newSubscriptionId() }
    const [begun, first] = [checkout({ ...sub }), invoice({ ...sub, created: NOON + 1 })]
    await deliver(begun, first)
    const assigned = await assignPayment(operator, { paymentEventId: begun.id, organizationId: id })
    expect(assigned).toMatchObject({ organizationId: id, outcome: 'APPLIED', reason: null, assignedAt: noon })
    expect(await outcomesOf(first)).toEqual(['APPLIED'])
    expect(await tierOf(id)).toBe('PRO')
    const later = subscription({ ...sub, created: NOON + 2, status: 'unpaid' })
    await deliver(later)
    expect(await outcomesOf(later)).toEqual(['APPLIED'])
    expect(await tierOf(id)).toBe('FREE')
  })

  test('moves a subscription and its tier to another organization', async () => {
    const [wrong, right] = [await tenant(), await tenant()]
    const event = checkout({ reference: wrong })
    await deliver(event)
    await assignPayment(operator, { paymentEventId: event.id, organizationId: right })
    expect([await tierOf(wrong), await tierOf(right)]).toEqual(['FREE', 'PRO'])
  })

  test('can set the tier that an amount buys', async () => {
    const id = await tenant()
    const event = checkout({ reference: id, amount: 25_000 })
    await deliver(event)
    await assignPayment(operator, { paymentEventId: event.id, organizationId: id, tier: 'TEAM' })
    expect(await tierOf(id)).toBe('TEAM')
  })

  test('of a one-time payment marks it as resolved without changing a tier', async () => {
    const id = await tenant()
    const event = checkout({ mode: 'payment', subscription: null })
    await deliver(event)
    await assignPayment(operator, { paymentEventId: event.id, organizationId: id })
    expect([await tierOf(id), ...(await outcomesOf(event))]).toEqual(['FREE', 'APPLIED'])
  })

  test('requires the operator and existing ids', async () => {
    const event = checkout()
    await deliver(event)
    const input = { paymentEventId: event.id, organizationId: await tenant() }
    await expect(assignPayment(ctx, input)).rejects.toThrow(Unauthenticated)
    const key = { kind: 'apiKey', keyId: '', organizationId: '', scope: 'ADMIN', checkPlan: 'FREE' } as const
    await expect(assignPayment(testContext(prisma, { actor: key }), input)).rejects.toThrow(Forbidden)
    for (const wrong of [
      { paymentEventId: 'evt_none' },
      { paymentEventId: '\u0000' },
      { organizationId: 'org_000000000000000000000000' },
      { organizationId: '\u0000' },
    ]) {
      await expect(assignPayment(operator, { ...input, ...wrong })).rejects.toThrow(NotFound)
    }
  })
})

test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['no event', '{}'],
  ['no id', JSON.stringify({ ...checkout(), id: undefined })],
  ['an odd id', JSON.stringify({ ...checkout(), id: 'evt\u0000' })],
  ['an event without an object', JSON.stringify({ ...checkout(), data: {} })],
  ['a thin event', JSON.stringify({ ...checkout(), object: 'v2.core.event' })],
  ['a subscription without an id', JSON.stringify({ ...subscription({ subscription: 'x' }), data: { object: {} } })],
])('%s is an invalid payload', async (_, body) => {
  await expect(receiveStripeEvent(ctx, body)).rejects.toThrow(Invalid)
  await expect(receiveStripeEvent(ctx, body)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' })
})
