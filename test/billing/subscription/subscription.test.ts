// @slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PaidTier } from '../../../src/billing/price.ts'
import { isHigher } from '../../../src/billing/price.ts'
import type { Statement, SubscriptionFact, SubscriptionRecord } from '../../../src/billing/subscription/subscription.ts'
import {
  addFact,
  assignOrganization,
  assignTier,
  highestTier,
  paidTier,
  stateOf,
  tierOf,
  unknownSubscription,
} from '../../../src/billing/subscription/subscription.ts'
import type { Tier } from '../../../src/generated/prisma/enums.ts'
import { SubscriptionStatus } from '../../../src/generated/prisma/enums.ts'

const nothing = {
  status: null,
  tier: null,
  price: null,
  isAssumed: false,
  before: null,
  organizationId: null,
  periodEnd: null,
  cancelAtEnd: null,
  isResting: null,
  isOwn: false,
  invoiceId: null,
  isPeriod: false,
  claimId: null,
}
let made = 0
const fact = (kind: SubscriptionFact['kind'], at: number, more: Partial<SubscriptionFact> = {}): SubscriptionFact => ({
  ...nothing,
  eventId: `evt_${++made}`,
  kind,
  at,
  ...more,
})
const stated = (status: SubscriptionStatus, at: number, tier: PaidTier | null = null) =>
  fact('stated', at, { status, tier })
/** A payment for a whole period. */
const paid = (at: number, tier: PaidTier | null = 'PRO') => fact('paid', at, { tier, isPeriod: true })
const recorded = (...facts: SubscriptionFact[]) => facts.reduce(addFact, unknownSubscription)
const known = (...facts: SubscriptionFact[]) => stateOf(recorded(...facts))

describe('the status of a subscription', () => {
  test.each<[string, SubscriptionFact[], SubscriptionStatus | null]>([
    ['without facts', [], null],
    ['pending, not paid', [fact('pending', 1)], null],
    ['pending, then paid', [fact('pending', 1), paid(2)], 'ACTIVE'],
    ['the first payment failed', [fact('pending', 1), fact('failed', 2)], 'INCOMPLETE'],
    ['the first payment failed, then succeeded', [fact('failed', 2), paid(3)], 'ACTIVE'],
    ['a payment failed', [paid(1), fact('failed', 2)], 'PAST_DUE'],
    ['a payment failed in a trial', [stated('TRIALING', 1), fact('failed', 2)], 'PAST_DUE'],
    ['a payment failed, then succeeded', [paid(1), fact('failed', 2), paid(3)], 'ACTIVE'],
    ['a later status of the provider wins', [paid(1), stated('UNPAID', 2)], 'UNPAID'],
    ['a failed payment does not restore access', [stated('UNPAID', 2), fact('failed', 3)], 'UNPAID'],
    ['paid again', [stated('UNPAID', 2), paid(3)], 'ACTIVE'],
    ['paid again, then failed again', [stated('UNPAID', 2), paid(3), fact('failed', 4)], 'PAST_DUE'],
    ['an older payment changes nothing', [stated('UNPAID', 2), paid(1)], 'UNPAID'],
    ['canceled is final', [stated('CANCELED', 2), stated('ACTIVE', 3), paid(4)], 'CANCELED'],
    ['incomplete and expired is final', [stated('INCOMPLETE_EXPIRED', 2), paid(4)], 'INCOMPLETE_EXPIRED'],
    ['in one second: a payment outweighs the state that waits for it', [stated('INCOMPLETE', 1), paid(1)], 'ACTIVE'],
    ['in one second: a failure outweighs a payment', [paid(1), fact('failed', 1)], 'PAST_DUE'],
    ['in one second: the end of access outweighs a payment', [stated('UNPAID', 1), paid(1)], 'UNPAID'],
    ['in one second: the end of access outweighs a failure', [stated('UNPAID', 1), fact('failed', 1)], 'UNPAID'],
    ['in one second: active is later than incomplete', [stated('ACTIVE', 1), stated('INCOMPLETE', 1)], 'ACTIVE'],
    ['in one second: unpaid is later than past due', [stated('UNPAID', 1), stated('PAST_DUE', 1)], 'UNPAID'],
  ])('%s', (_, facts, expected) => {
    expect(known(...facts).status).toBe(expected)
    expect(known(...facts.toReversed()).status).toBe(expected)
  })
})

describe('the paid tier of a subscription', () => {
  test.each(
    Object.values(SubscriptionStatus).map((status) => [
      status,
      ['ACTIVE', 'TRIALING', 'PAST_DUE'].includes(status) ? 'TEAM' : null,
    ]),
  )('%s: %s', (status, expected) => {
    expect(paidTier(known(stated(status as SubscriptionStatus, 1, 'TEAM')))).toBe(expected)
  })

  test.each<[string, SubscriptionFact[], PaidTier | null]>([
    ['a price that buys no tier', [paid(1, null)], null],
    ['the last price that buys a tier', [paid(1, 'PRO'), stated('ACTIVE', 2, 'TEAM')], 'TEAM'],
    ['a price of no tier changes nothing', [paid(1, 'TEAM'), paid(2, null)], 'TEAM'],
    ['an upgrade, then a downgrade', [paid(1, 'PRO'), stated('ACTIVE', 2, 'TEAM'), stated('ACTIVE', 3, 'PRO')], 'PRO'],
    [
      'a failed payment also sets the tier that it was for',
      [paid(1, 'PRO'), fact('failed', 2, { tier: 'TEAM' })],
      'TEAM',
    ],
  ])('%s', (_, facts, expected) => {
    expect(paidTier(known(...facts))).toBe(expected)
    expect(paidTier(known(...facts.toReversed()))).toBe(expected)
  })
})

/** A payment for a whole period; the invoice's id contains the end of the period. */
const period = (at: number, end: number) =>
  fact('paid', at, { tier: 'PRO', periodEnd: end, invoiceId: `in_${end}`, isPeriod: true })
const reversed = (at: number, end: number, claimId = 'ch_1') =>
  fact('reversed', at, { invoiceId: `in_${end}`, claimId })
const retained = (at: number, end: number, claimId = 'dp_1') =>
  fact('retained', at, { invoiceId: `in_${end}`, claimId })
const resting = (at: number, periodEnd: number, isResting = true) =>
  fact('stated', at, { status: 'ACTIVE', periodEnd, isResting })

describe('the paid tier after a reversal or a pause', () => {
  test.each<[string, SubscriptionFact[], PaidTier | null]>([
    ['a full refund ends the tier', [period(1, 30), reversed(2, 30)], null],
    [
      'a full refund ends the tier, even if the provider reports the subscription as active',
      [period(1, 30), reversed(2, 30), stated('ACTIVE', 3)],
      null,
    ],
    ['the next paid period restores the tier', [period(1, 30), reversed(2, 30), period(31, 60)], 'PRO'],
    [
      'a refund of an earlier period does not affect this one',
      [period(1, 30), period(31, 60), reversed(40, 30)],
      'PRO',
    ],
    [
      'a refund of a change within the period',
      [period(1, 30), fact('paid', 5, { invoiceId: 'in_5' }), reversed(6, 5)],
      'PRO',
    ],
    ['a dispute', [period(1, 30), reversed(9, 30, 'dp_1')], null],
    ['a dispute that was won', [period(1, 30), reversed(9, 30, 'dp_1'), retained(12, 30)], 'PRO'],
    [
      'a dispute that was won in the second in which it began',
      [period(1, 30), reversed(9, 30, 'dp_1'), retained(9, 30)],
      'PRO',
    ],
    [
      'a won dispute about a refunded payment',
      [period(1, 30), reversed(9, 30), reversed(9, 30, 'dp_1'), retained(12, 30)],
      null,
    ],
    ['a dispute that was lost', [period(1, 30), reversed(9, 30, 'dp_1'), reversed(12, 30, 'dp_1')], null],
    ['a pause takes effect after the paid period', [period(1, 30), resting(5, 30)], 'PRO'],
    ['a pause ends the tier after the paid period', [period(1, 30), resting(5, 30), resting(31, 60)], null],
    ['the end of a pause', [period(1, 30), resting(5, 30), resting(31, 60), resting(33, 60, false)], 'PRO'],
    ['a pause without a paid period', [stated('ACTIVE', 1, 'PRO'), resting(5, 30)], null],
  ])('%s', (_, facts, expected) => {
    expect(paidTier(known(...facts))).toBe(expected)
    expect(paidTier(known(...facts.toReversed()))).toBe(expected)
  })
})

test('a subscription is the organization’s own if it started at our URL or the operator assigned it', () => {
  const [theirs, ours] = [paid(1), fact('paid', 1, { isOwn: true })]
  expect([known(theirs).isOwn, known(ours).isOwn, known(ours, theirs).isOwn]).toEqual([false, true, true])
  expect(stateOf(assignOrganization(recorded(theirs), 'org_a')).isOwn).toBe(true)
})

test('the highest of the minimum tier and the paid tiers wins', () => {
  expect(highestTier([], 'FREE')).toBe('FREE')
  expect(highestTier([null, null], 'TEAM')).toBe('TEAM')
  expect(highestTier(['PRO', null], 'FREE')).toBe('PRO')
  expect(highestTier(['PRO', 'TEAM', 'PRO'], 'FREE')).toBe('TEAM')
  expect(highestTier(['PRO'], 'TEAM')).toBe('TEAM')
})

test('the operator’s assignment overrides events, including later ones', () => {
  const theirs = fact('paid', 5, { organizationId: 'org_theirs' })
  const assigned = assignOrganization(recorded(theirs), 'org_ours')
  const ownerOf = (record: SubscriptionRecord) => stateOf(record).organizationId
  expect(ownerOf(assigned)).toBe('org_ours')
  expect(ownerOf(addFact(assigned, { ...theirs, eventId: 'later', at: 2_000_000_000 }))).toBe('org_ours')
  expect(ownerOf(assignOrganization(assigned, 'org_other'))).toBe('org_other')
})

test('the operator’s word about a price holds for every payment of it, earlier ones too', () => {
  const [price, other] = [
    { amount: 2500, currency: 'eur' },
    { amount: 2600, currency: 'eur' },
  ]
  const odd = (at: number, more: Partial<SubscriptionFact> = {}) => fact('paid', at, { price, isPeriod: true, ...more })
  const tierPaid = (record: SubscriptionRecord) => paidTier(stateOf(record))
  const first = odd(7)
  const priced = assignTier(recorded(first), first, 'TEAM')
  expect(tierPaid(priced)).toBe('TEAM')
  expect(tierPaid(assignTier(priced, first, 'PRO'))).toBe('PRO')
  expect(tierPaid(addFact(priced, paid(8, 'PRO')))).toBe('PRO')
  expect(tierPaid(addFact(priced, paid(6, 'PRO')))).toBe('TEAM')
  const ended = addFact(priced, stated('UNPAID', 20))
  expect(tierPaid(ended)).toBe(null)
  expect(tierPaid(addFact(ended, odd(21)))).toBe('TEAM')
  expect(tierPaid(addFact(ended, odd(21, { price: other })))).toBe(null)
})

const euros = (amount: number) => ({ amount, currency: 'eur' })

describe('what a payment restores', () => {
  const unpaid = fact('stated', 10, { status: 'UNPAID', tier: 'PRO', price: euros(2900), periodEnd: 40 })
  const invoice = (more: Partial<SubscriptionFact>) =>
    fact('paid', 11, { tier: 'PRO', price: euros(2900), isPeriod: true, periodEnd: 40, invoiceId: 'in_40', ...more })
  test.each<[string, SubscriptionFact[], PaidTier | null]>([
    ['the current period at its price', [invoice({})], 'PRO'],
    ['a cent', [invoice({ tier: null, price: euros(1) })], null],
    ['an invoice by hand at the price of a tier', [invoice({ isPeriod: false, periodEnd: null })], null],
    ['an earlier period', [invoice({ periodEnd: 9 })], null],
    ['an earlier period, then the current one', [invoice({ periodEnd: 9 }), invoice({})], 'PRO'],
    ['a later period', [invoice({ periodEnd: 70 })], 'PRO'],
    ['a payment without a known period', [invoice({ periodEnd: null })], 'PRO'],
  ])('%s', (_, facts, expected) => {
    const all = [paid(1), unpaid, ...facts]
    expect(paidTier(known(...all))).toBe(expected)
    expect(paidTier(known(...all.toReversed()))).toBe(expected)
  })

  test('a failed payment for a period that was paid since changes nothing', () => {
    const retried = fact('failed', 42, { periodEnd: 40, isPeriod: true })
    expect(known(paid(1), invoice({ periodEnd: 70 }), retried).status).toBe('ACTIVE')
    expect(known(paid(1), invoice({ periodEnd: 30 }), retried).status).toBe('PAST_DUE')
  })

  test('an invoice of an earlier period that is paid late is not the one whose refund ends the tier', () => {
    const late = invoice({ at: 50, periodEnd: 40, invoiceId: 'in_40' })
    const current = invoice({ at: 45, periodEnd: 70, invoiceId: 'in_70' })
    const refundOf = (invoiceId: string) => fact('reversed', 60, { invoiceId, claimId: 'ch_1' })
    expect(paidTier(known(current, late, refundOf('in_40')))).toBe('PRO')
    expect(paidTier(known(current, late, refundOf('in_70')))).toBe(null)
    expect(known(current, late).periodEnd).toBe(70)
  })
})

describe('a price whose interval is not known yet', () => {
  const begun = fact('paid', 1, { tier: 'PRO', price: euros(2900), isAssumed: true, isPeriod: true })
  test.each<[string, SubscriptionFact[], PaidTier | null]>([
    ['buys what it buys in some interval', [], 'PRO'],
    [
      'is refuted by the same price in another interval',
      [fact('stated', 2, { status: 'ACTIVE', price: euros(2900) })],
      null,
    ],
    ['is refuted by an earlier event as well', [fact('stated', 0, { status: 'INCOMPLETE', price: euros(2900) })], null],
    ['is confirmed', [fact('stated', 2, { status: 'ACTIVE', tier: 'PRO', price: euros(2900) })], 'PRO'],
    ['is not refuted by another price', [fact('stated', 2, { status: 'ACTIVE', price: euros(500) })], 'PRO'],
    [
      'yields to a price with an interval',
      [fact('stated', 0, { status: 'ACTIVE', tier: 'TEAM', price: euros(9900) })],
      'TEAM',
    ],
  ])('%s', (_, facts, expected) => {
    expect(paidTier(known(begun, ...facts))).toBe(expected)
    expect(paidTier(known(...facts.toReversed(), begun))).toBe(expected)
  })
})

describe('a trial', () => {
  const trial = stated('TRIALING', 1, 'PRO')
  const first = fact('failed', 20, { tier: 'PRO', isPeriod: true, periodEnd: 50 })
  test.each<[string, SubscriptionFact[], SubscriptionStatus, PaidTier | null]>([
    ['gives the tier', [trial], 'TRIALING', 'PRO'],
    ['gives it while its first invoice is open', [trial, stated('ACTIVE', 19)], 'ACTIVE', 'PRO'],
    ['gives no grace period when its first payment fails', [trial, first], 'PAST_DUE', null],
    [
      'gives none either when the provider says so',
      [trial, stated('ACTIVE', 19), stated('PAST_DUE', 21)],
      'PAST_DUE',
      null,
    ],
    ['that is paid in the end', [trial, first, paid(25)], 'ACTIVE', 'PRO'],
    ['that was paid once has a grace period', [trial, paid(20), stated('PAST_DUE', 50)], 'PAST_DUE', 'PRO'],
    ['that ends without a payment method', [trial, stated('PAUSED', 20)], 'PAUSED', null],
  ])('%s', (_, facts, status, tier) => {
    for (const state of [known(...facts), known(...facts.toReversed())]) {
      expect([state.status, paidTier(state)]).toEqual([status, tier])
    }
  })
})

describe('statements of one second', () => {
  const statement = (status: SubscriptionStatus, more: Partial<Statement> = {}): Statement => ({
    status,
    price: euros(2900),
    periodEnd: 40,
    cancelAtEnd: false,
    isResting: false,
    ...more,
  })
  const says = (at: number, now: Statement, before: Statement | null) =>
    fact('stated', at, { ...now, tier: now.price?.amount === 9900 ? 'TEAM' : 'PRO', before })
  const [active, overdue, unpaid] = [statement('ACTIVE'), statement('PAST_DUE'), statement('UNPAID')]
  const team = statement('ACTIVE', { price: euros(9900) })
  test.each<[string, SubscriptionFact[], SubscriptionStatus, PaidTier | null]>([
    ['one continues another', [says(5, active, null), says(5, overdue, active)], 'PAST_DUE', 'PRO'],
    ['recovery, against the rank', [says(5, unpaid, null), says(5, active, unpaid)], 'ACTIVE', 'PRO'],
    ['a chain', [says(5, overdue, null), says(5, unpaid, overdue), says(5, active, unpaid)], 'ACTIVE', 'PRO'],
    ['an upgrade', [says(5, active, null), says(5, team, active)], 'ACTIVE', 'TEAM'],
    ['a downgrade', [says(5, team, null), says(5, active, team)], 'ACTIVE', 'PRO'],
    ['a payment between them', [says(5, unpaid, null), paid(5), says(5, active, unpaid)], 'ACTIVE', 'PRO'],
    ['nothing to go by: the rank decides', [says(5, unpaid, null), says(5, active, null)], 'UNPAID', null],
  ])('%s', (_, facts, status, tier) => {
    for (const state of [known(...facts), known(...facts.toReversed())]) {
      expect([state.status, paidTier(state)]).toEqual([status, tier])
    }
  })

  test('of a change and its opposite, the one that continues the second before comes first', () => {
    const [there, back] = [says(5, unpaid, active), says(5, active, unpaid)]
    expect(known(says(4, active, null), there, back).status).toBe('ACTIVE')
    expect(known(says(4, unpaid, null), there, back).status).toBe('UNPAID')
  })
})

test('a record that is summed up says the same as a whole one, and stays small', () => {
  const facts = Array.from({ length: 1500 }, (_, index) =>
    fact('paid', index, { tier: 'PRO', isPeriod: true, periodEnd: index + 30, invoiceId: `in_${index}` }),
  )
  const record = recorded(...facts)
  expect(record.facts.length).toBeLessThanOrEqual(400)
  expect(stateOf(record)).toMatchObject({ status: 'ACTIVE', tier: 'PRO', periodEnd: 1529, paidUntil: 1529 })
  expect(stateOf(addFact(record, stated('CANCELED', 1600))).status).toBe('CANCELED')
})

/** Few seconds and tiers, so that ties and contradictions are common. */
const anyFact: fc.Arbitrary<SubscriptionFact> = fc
  .record({
    eventId: fc.integer({ min: 0, max: 40 }).map((number) => `evt_${number}`),
    at: fc.integer({ min: 1, max: 8 }),
    kind: fc.constantFrom('stated', 'paid', 'failed', 'pending', 'reversed', 'retained'),
    status: fc.constantFrom(...Object.values(SubscriptionStatus)),
    price: fc.constantFrom({ amount: 1, currency: 'eur' }, { amount: 2, currency: 'eur' }, null),
    isAssumed: fc.boolean(),
    before: fc.constantFrom<Statement | null>(
      { status: 'ACTIVE', price: null, periodEnd: null, cancelAtEnd: false, isResting: false },
      null,
    ),
    tier: fc.constantFrom<PaidTier | null>('PRO', 'TEAM', null),
    organizationId: fc.constantFrom('org_a', 'org_b', null),
    periodEnd: fc.option(fc.integer({ min: 1, max: 9 })),
    cancelAtEnd: fc.option(fc.boolean()),
    isResting: fc.option(fc.boolean()),
    isOwn: fc.boolean(),
    invoiceId: fc.constantFrom('in_1', 'in_2', null),
    isPeriod: fc.boolean(),
    claimId: fc.constantFrom('ch_1', 'dp_1', null),
  })
  .map((given) => ({
    ...given,
    status: given.kind === 'stated' ? given.status : null,
    isResting: given.kind === 'stated' ? given.isResting : null,
  }))

/** Facts with unique event ids. */
const anyFacts = fc.uniqueArray(anyFact, { selector: ({ eventId }) => eventId, maxLength: 12 })

/** The facts in any order of arrival, each once or more. */
const arriving = anyFacts.chain((facts) =>
  fc.tuple(
    fc.constant(facts),
    fc.array(fc.nat({ max: Math.max(0, facts.length - 1) }), { maxLength: 8 }).chain((again) => {
      const all = [...facts, ...again.flatMap((index) => facts[index] ?? [])]
      return fc.shuffledSubarray(all, { minLength: all.length })
    }),
  ),
)

test('any order, delay and repetition of events gives the same result: 10,000 sequences', () => {
  fc.assert(
    fc.property(arriving, ([facts, arrivals]) => {
      expect(known(...arrivals)).toEqual(known(...facts))
    }),
    { numRuns: 10_000 },
  )
})

test('adding facts is commutative and idempotent', () => {
  fc.assert(
    fc.property(anyFacts, anyFact, anyFact, (facts, one, other) => {
      fc.pre(one.eventId !== other.eventId)
      const before = recorded(...facts.filter(({ eventId }) => eventId !== one.eventId && eventId !== other.eventId))
      expect(addFact(addFact(before, one), other)).toEqual(addFact(addFact(before, other), one))
      expect(addFact(addFact(before, one), one)).toEqual(addFact(before, one))
    }),
    { numRuns: 2000 },
  )
})

test('whatever happened, an ended subscription stays ended, and only a price that buys a tier gives one', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const state = known(...facts)
      const hasEnded = facts.some(({ status }) => status === 'CANCELED' || status === 'INCOMPLETE_EXPIRED')
      if (hasEnded) expect(paidTier(state)).toBe(null)
      if (facts.every(({ tier }) => tier === null)) expect([tierOf(state), paidTier(state)]).toEqual([null, null])
      const later = stateOf(addFact(recorded(...facts), fact('paid', 99, { tier: null, isPeriod: true })))
      expect(paidTier(later)).toBe(paidTier(state))
    }),
    { numRuns: 5000 },
  )
})

const anyTier = fc.constantFrom<Tier>('FREE', 'PRO', 'TEAM')

test('a gift subscription can only raise the tier, never below the minimum or the organization’s own', () => {
  fc.assert(
    fc.property(
      fc.array(anyFacts, { maxLength: 3 }),
      fc.array(anyFacts, { maxLength: 3 }),
      anyTier,
      (own, others, floor) => {
        const paidBy = (subscriptions: readonly (readonly SubscriptionFact[])[]) =>
          subscriptions.map((facts) => paidTier(known(...facts)))
        const alone = highestTier(paidBy(own), floor)
        const together = highestTier([...paidBy(own), ...paidBy(others)], floor)
        expect(isHigher(floor, alone)).toBe(false)
        expect(isHigher(alone, together)).toBe(false)
      },
    ),
    { numRuns: 2000 },
  )
})
