// @slow
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PaidTier } from '../../../src/billing/price.ts'
import { isHigher } from '../../../src/billing/price.ts'
import type { SubscriptionFact, SubscriptionState } from '../../../src/billing/subscription/subscription.ts'
import {
  applyFact,
  assignOrganization,
  assignTier,
  highestTier,
  paidTier,
  statusOf,
  unknownSubscription,
} from '../../../src/billing/subscription/subscription.ts'
import type { Tier } from '../../../src/generated/prisma/enums.ts'
import { SubscriptionStatus } from '../../../src/generated/prisma/enums.ts'

const nothing = {
  status: null,
  tier: null,
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
const paid = (at: number, tier: PaidTier | null = 'PRO') => fact('paid', at, { tier })
const known = (...facts: SubscriptionFact[]) => facts.reduce(applyFact, unknownSubscription)

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
    expect(statusOf(known(...facts))).toBe(expected)
    expect(statusOf(known(...facts.toReversed()))).toBe(expected)
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
  expect(assignOrganization(known(theirs), 'org_a', new Date()).isOwn).toBe(true)
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
  const at = new Date('2026-11-20T12:00:00Z')
  const assigned = assignOrganization(known(theirs), 'org_ours', at)
  expect(assigned.organization?.value).toBe('org_ours')
  expect(applyFact(assigned, { ...theirs, eventId: 'later', at: 2_000_000_000 }).organization?.value).toBe('org_ours')
  expect(assignOrganization(assigned, 'org_other', at).organization?.value).toBe('org_other')
  const odd = paid(7, null)
  const priced = assignTier(known(odd), odd, 'TEAM')
  expect(paidTier(priced)).toBe('TEAM')
  expect(paidTier(assignTier(priced, odd, 'PRO'))).toBe('PRO')
  expect(paidTier(applyFact(priced, paid(8, 'PRO')))).toBe('PRO')
  expect(paidTier(applyFact(priced, paid(6, 'PRO')))).toBe('TEAM')
})

/** Few seconds and tiers, so that ties and contradictions are common. */
const anyFact: fc.Arbitrary<SubscriptionFact> = fc
  .record({
    eventId: fc.integer({ min: 0, max: 40 }).map((number) => `evt_${number}`),
    at: fc.integer({ min: 1, max: 8 }),
    kind: fc.constantFrom('stated', 'paid', 'failed', 'pending', 'reversed', 'retained'),
    status: fc.constantFrom(...Object.values(SubscriptionStatus)),
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

/**
 * A reference implementation: applies all facts in the order of the provider's clock, each to the result of the ones
 * before.
 */
function reference(facts: readonly SubscriptionFact[]) {
  const weights =
    'pending reversed retained stated INCOMPLETE paid PAST_DUE TRIALING ACTIVE failed PAUSED UNPAID INCOMPLETE_EXPIRED CANCELED'
  const weight = ({ kind, status }: SubscriptionFact) => weights.split(' ').indexOf(status ?? kind)
  const inOrder = facts.toSorted(
    (one, other) => one.at - other.at || weight(one) - weight(other) || (one.eventId < other.eventId ? -1 : 1),
  )
  const latest = <T>(values: readonly (T | null)[]) => values.findLast((value) => value !== null) ?? null
  const tier = latest(inOrder.map((each) => each.tier))
  const status = inOrder.reduce(statusAfter, null)
  const pays = status === 'ACTIVE' || status === 'TRIALING' || status === 'PAST_DUE'
  return {
    status,
    tier,
    organization: latest(inOrder.map((each) => each.organizationId)),
    paysFor: pays && !isReversed(inOrder) && !isPaused(inOrder) ? tier : null,
  }
}

/** Returns whether the last paid invoice of a whole period is refunded or disputed, by the latest fact of each claim. */
function isReversed(inOrder: readonly SubscriptionFact[]): boolean {
  const invoice = inOrder.findLast(
    ({ kind, isPeriod, invoiceId }) => kind === 'paid' && isPeriod && invoiceId,
  )?.invoiceId
  const claims = inOrder.filter(
    ({ kind, invoiceId }) => (kind === 'reversed' || kind === 'retained') && invoiceId !== null,
  )
  const latestFacts = ['ch_1', 'dp_1'].map((id) => claims.findLast(({ claimId }) => claimId === id))
  return latestFacts.some((claim) => claim?.kind === 'reversed' && claim.invoiceId === invoice)
}

function isPaused(inOrder: readonly SubscriptionFact[]): boolean {
  if (inOrder.findLast(({ isResting }) => isResting !== null)?.isResting !== true) return false
  const paidEnds = inOrder.flatMap(({ kind, periodEnd }) => (kind === 'paid' && periodEnd !== null ? [periodEnd] : []))
  const end = inOrder.findLast(({ periodEnd }) => periodEnd !== null)?.periodEnd ?? 0
  return paidEnds.length === 0 || end > Math.max(...paidEnds)
}

function statusAfter(before: SubscriptionStatus | null, { kind, status }: SubscriptionFact): SubscriptionStatus | null {
  const ends = (each: SubscriptionStatus | null) => each === 'CANCELED' || each === 'INCOMPLETE_EXPIRED'
  if (ends(before) && !ends(status)) return before
  if (kind === 'stated') return status
  if (kind === 'paid') return 'ACTIVE'
  if (kind !== 'failed') return before
  if (before === null) return 'INCOMPLETE'
  return before === 'ACTIVE' || before === 'TRIALING' ? 'PAST_DUE' : before
}

const seen = (state: SubscriptionState) => ({
  status: statusOf(state),
  tier: state.tier?.value ?? null,
  organization: state.organization?.value ?? null,
  paysFor: paidTier(state),
})

test('any order, delay and repetition of events gives the reference result: 10,000 sequences', () => {
  fc.assert(
    fc.property(arriving, ([facts, arrivals]) => {
      expect(seen(known(...arrivals))).toEqual(reference(facts))
    }),
    { numRuns: 10_000 },
  )
})

test('adding facts is commutative and idempotent', () => {
  fc.assert(
    fc.property(anyFacts, anyFact, anyFact, (facts, one, other) => {
      fc.pre(one.eventId !== other.eventId)
      const state = known(...facts.filter(({ eventId }) => eventId !== one.eventId && eventId !== other.eventId))
      expect(applyFact(applyFact(state, one), other)).toEqual(applyFact(applyFact(state, other), one))
      expect(applyFact(applyFact(state, one), one)).toEqual(applyFact(state, one))
    }),
    { numRuns: 2000 },
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
