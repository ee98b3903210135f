import type { SubscriptionStatus, Tier } from '../../generated/prisma/enums.ts'
import type { Money, PaidTier } from '../price.ts'
import { isHigher } from '../price.ts'

/** What an event says about the subscription itself, before and after the change that it reports. */
export interface Statement {
  readonly status: SubscriptionStatus | null
  readonly price: Money | null
  readonly periodEnd: number | null
  readonly cancelAtEnd: boolean
  readonly isResting: boolean
}

/** The facts in one Stripe event about one subscription. */
export interface SubscriptionFact {
  readonly eventId: string
  /** When the event happened, in epoch seconds. */
  readonly at: number
  /**
   * `stated`: the state of the subscription itself. `paid`, `failed`: a payment for it. `pending`: not paid yet.
   * `reversed`: a payment was fully refunded or is disputed. `retained`: a dispute ended in our favour, or was only
   * an inquiry.
   */
  readonly kind: 'stated' | 'paid' | 'failed' | 'pending' | 'reversed' | 'retained'
  /** For `stated`: the status, or null if unknown to us. */
  readonly status: SubscriptionStatus | null
  /** The tier that its price buys; null when it has no price, or the price of no tier. */
  readonly tier: PaidTier | null
  /** The sum of its prices; null when it has none. */
  readonly price: Money | null
  /** For payments: whether the interval of the price is unknown, as in a checkout. `tier` is then what it buys in some interval. */
  readonly isAssumed: boolean
  /** The organization in the payment link's reference, or null. */
  readonly organizationId: string | null
  /** The end of the paid or due period of what buys the tier, in epoch seconds. */
  readonly periodEnd: number | null
  /** For `stated`: whether it ends with that period. */
  readonly cancelAtEnd: boolean | null
  /** For `stated`: whether payment collection is paused and invoices are void. */
  readonly isResting: boolean | null
  /** For `stated`: what was so before the change, if the event says it. */
  readonly before: Statement | null
  /** Whether the checkout started at our own URL, with a key or token of the organization. */
  readonly isOwn: boolean
  /** For payments and reversals: the paid invoice, or null. */
  readonly invoiceId: string | null
  /** For `paid` and `failed`: whether it is for a whole period, and not only a proration or an invoice by hand. */
  readonly isPeriod: boolean
  /** For `reversed` and `retained`: the refunded charge or the dispute. */
  readonly claimId: string | null
}

/** The operator's word that a price buys a tier. */
interface Agreement {
  readonly eventId: string
  readonly price: Money | null
  readonly tier: PaidTier
}

/**
 * What is stored of a subscription: its facts, by event id, and the operator's assignments. Adding facts is
 * commutative, associative and idempotent, so the order and number of deliveries do not matter.
 */
export interface SubscriptionRecord {
  readonly facts: readonly SubscriptionFact[]
  /** The result of facts that are too old to be kept one by one. */
  readonly past: SubscriptionState
  /** The organization that the operator assigned; null: none. */
  readonly assigned: string | null
  /** Newest last. */
  readonly agreements: readonly Agreement[]
}

/** The state of a subscription after its facts, in the order of Stripe's clock. */
export interface SubscriptionState {
  readonly status: SubscriptionStatus | null
  /** The last tier that a price with a known interval bought. */
  readonly tier: PaidTier | null
  /** The last tier that a price with an unknown interval bought. */
  readonly assumed: { readonly tier: PaidTier; readonly price: Money | null } | null
  /** Prices that buy no tier in the interval that they turned out to have. */
  readonly refuted: readonly Money[]
  readonly organizationId: string | null
  readonly periodEnd: number | null
  readonly cancelAtEnd: boolean
  readonly isResting: boolean
  /** The last statement about the subscription itself. */
  readonly stated: Statement | null
  /** Whether it is, or was, in a trial that no payment has followed. */
  readonly isTrial: boolean
  /** The payment for the latest period, with the end of that period if known; only invoices, because a reversal names one. */
  readonly latest: { readonly invoiceId: string; readonly periodEnd: number | null } | null
  /** The latest end of a paid period, in epoch seconds. */
  readonly paidUntil: number | null
  /** Refunds and disputes, by id; `isReversed` is whether the payment is reversed. */
  readonly claims: readonly Claim[]
  /**
   * Whether it started at our own URL or the operator assigned it; otherwise anyone may have started it for any
   * organization.
   */
  readonly isOwn: boolean
}

interface Claim {
  readonly id: string
  readonly invoiceId: string
  readonly isReversed: boolean
}

const nothingKnown: SubscriptionState = {
  status: null,
  tier: null,
  assumed: null,
  refuted: [],
  organizationId: null,
  periodEnd: null,
  cancelAtEnd: false,
  isResting: false,
  stated: null,
  isTrial: false,
  latest: null,
  paidUntil: null,
  claims: [],
  isOwn: false,
}

/** The record of a subscription without facts. */
export const unknownSubscription: SubscriptionRecord = { facts: [], past: nothingKnown, assigned: null, agreements: [] }

/** How many facts are kept one by one: years of them. The older half is summed up beyond that. */
const MAX_FACTS = 400

/** Returns the record with one more fact; the same record when the event is already in it. */
export function addFact(record: SubscriptionRecord, fact: SubscriptionFact): SubscriptionRecord {
  if (record.facts.some(({ eventId }) => eventId === fact.eventId)) return record
  const facts = [...record.facts, fact].sort((one, other) => (one.eventId < other.eventId ? -1 : 1))
  return facts.length <= MAX_FACTS ? { ...record, facts } : withoutOldest({ ...record, facts })
}

function withoutOldest(record: SubscriptionRecord): SubscriptionRecord {
  const oldest = record.facts.toSorted(byStamp).slice(0, MAX_FACTS / 2)
  const kept = record.facts.filter((fact) => !oldest.includes(fact))
  return { ...record, past: stateAfter(record.past, oldest, record.agreements), facts: kept }
}

/** Returns the state of a subscription: its facts in the order of Stripe's clock, and then what the operator assigned. */
export function stateOf({ facts, past, assigned, agreements }: SubscriptionRecord): SubscriptionState {
  const state = stateAfter(past, facts, agreements)
  return assigned === null ? state : { ...state, organizationId: assigned, isOwn: true }
}

function stateAfter(past: SubscriptionState, facts: readonly SubscriptionFact[], agreements: readonly Agreement[]) {
  let state = past
  for (const second of bySecond(facts)) {
    for (const fact of inSequence(second, state.stated)) state = next(state, fact, tierFor(fact, agreements))
  }
  return state
}

/** Returns the tier that a fact's price buys, also by the operator's word; null: none. */
export function tierOfFact({ agreements }: SubscriptionRecord, fact: SubscriptionFact): PaidTier | null {
  return tierFor(fact, agreements)
}

function tierFor({ eventId, price, tier }: SubscriptionFact, agreements: readonly Agreement[]): PaidTier | null {
  const agreed = agreements.findLast((each) => each.eventId === eventId || isSamePrice(each.price, price))
  return agreed?.tier ?? tier
}

const isSamePrice = (one: Money | null, other: Money | null) =>
  one !== null && other !== null && one.amount === other.amount && one.currency === other.currency

/** Final statuses never change again. They win over any other status, regardless of its time. */
const FINAL_STATUSES: ReadonlySet<SubscriptionStatus | null> = new Set(['CANCELED', 'INCOMPLETE_EXPIRED'])

/** Returns the state after a fact that buys `tier`. */
function next(state: SubscriptionState, fact: SubscriptionFact, tier: PaidTier | null): SubscriptionState {
  const known = {
    ...state,
    ...priceAfter(state, fact, tier),
    organizationId: fact.organizationId ?? state.organizationId,
    isOwn: state.isOwn || fact.isOwn,
  }
  if (fact.kind === 'stated') return afterStatement(known, fact)
  if (fact.kind === 'paid') return afterPayment(known, fact, tier)
  if (fact.kind === 'failed') return afterFailure(known, fact)
  return { ...known, claims: claimsAfter(state.claims, fact) }
}

/** A price in another interval than we sell it in buys nothing, also in the checkout that had it without an interval. */
function priceAfter(
  { tier: before, assumed, refuted }: SubscriptionState,
  fact: SubscriptionFact,
  tier: PaidTier | null,
) {
  const { price, isAssumed } = fact
  if (tier !== null) return isAssumed ? { assumed: { tier, price } } : { tier }
  if (price === null || isAssumed || refuted.some((each) => isSamePrice(each, price))) return { tier: before, assumed }
  return { refuted: [...refuted, price].slice(-MAX_REFUTED) }
}

const MAX_REFUTED = 20

function afterStatement(state: SubscriptionState, fact: SubscriptionFact): SubscriptionState {
  const status = fact.status ?? state.status
  return {
    ...state,
    status: FINAL_STATUSES.has(state.status) && !FINAL_STATUSES.has(status) ? state.status : status,
    isTrial: state.isTrial || (status === 'TRIALING' && state.latest === null && state.paidUntil === null),
    periodEnd: fact.periodEnd ?? state.periodEnd,
    cancelAtEnd: fact.cancelAtEnd ?? state.cancelAtEnd,
    isResting: fact.isResting ?? state.isResting,
    stated: statementOf(fact),
  }
}

/** Only a payment for a whole period, at an amount that buys it, for a period that is not over, gives access again. */
function afterPayment(state: SubscriptionState, fact: SubscriptionFact, tier: PaidTier | null): SubscriptionState {
  const isRefuted = fact.isAssumed && state.refuted.some((price) => isSamePrice(price, fact.price))
  if (!fact.isPeriod || tier === null || isRefuted) return state
  const { invoiceId, periodEnd } = fact
  const statedEnd = state.stated?.periodEnd ?? null
  const isCurrent = periodEnd === null || statedEnd === null || periodEnd >= statedEnd
  const isLatest =
    periodEnd === null || (state.latest?.periodEnd ?? null) === null || periodEnd >= (state.latest?.periodEnd ?? 0)
  return {
    ...state,
    status: isCurrent && !FINAL_STATUSES.has(state.status) ? 'ACTIVE' : state.status,
    isTrial: state.isTrial && !isCurrent,
    periodEnd: laterEnd(state.periodEnd, periodEnd),
    paidUntil: laterEnd(state.paidUntil, periodEnd),
    latest: invoiceId !== null && isLatest ? { invoiceId, periodEnd } : state.latest,
  }
}

/** A failed payment for a period that has been paid, or that an even later payment has followed, means nothing. */
function afterFailure(state: SubscriptionState, { periodEnd }: SubscriptionFact): SubscriptionState {
  const { status, paidUntil } = state
  if (periodEnd !== null && paidUntil !== null && periodEnd <= paidUntil) return state
  const failed = status === null ? 'INCOMPLETE' : status === 'ACTIVE' || status === 'TRIALING' ? 'PAST_DUE' : status
  return { ...state, status: failed, periodEnd: laterEnd(state.periodEnd, periodEnd) }
}

function claimsAfter(claims: readonly Claim[], { kind, claimId: id, invoiceId }: SubscriptionFact): readonly Claim[] {
  if ((kind !== 'reversed' && kind !== 'retained') || id === null || invoiceId === null) return claims
  return [...claims.filter((each) => each.id !== id), { id, invoiceId, isReversed: kind === 'reversed' }]
}

function laterEnd(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

/** Statuses in which a subscription grants its tier; a failed payment has a grace period (contract §3). */
const PAYING_STATUSES: ReadonlySet<SubscriptionStatus | null> = new Set(['ACTIVE', 'TRIALING', 'PAST_DUE'])

/** Returns the tier that a subscription pays for, or null. The grace period is for those who have paid, not after a trial. */
export function paidTier(state: SubscriptionState): PaidTier | null {
  if (!PAYING_STATUSES.has(state.status) || isReversed(state) || isPaused(state)) return null
  return state.status === 'PAST_DUE' && state.isTrial ? null : tierOf(state)
}

/** Returns the tier of a subscription's price, whether or not it is paid; null: none. */
export function tierOf({ tier, assumed, refuted }: SubscriptionState): PaidTier | null {
  if (tier !== null || assumed === null) return tier
  return refuted.some((price) => isSamePrice(price, assumed.price)) ? null : assumed.tier
}

/** Returns whether the payment for the latest period was reversed. */
function isReversed({ latest, claims }: SubscriptionState): boolean {
  return claims.some((claim) => claim.isReversed && claim.invoiceId === latest?.invoiceId)
}

/** Returns whether collection is paused and the paid period has ended. */
function isPaused({ isResting, paidUntil, periodEnd }: SubscriptionState): boolean {
  if (!isResting) return false
  return paidUntil === null || (periodEnd !== null && periodEnd > paidUntil)
}

/**
 * Returns the highest of an organization's minimum (or default) tier and the tiers that its subscriptions pay for. A
 * subscription can only raise the tier.
 */
export function highestTier(paid: readonly (PaidTier | null)[], given: Tier): Tier {
  return paid.reduce<Tier>((highest, tier) => (tier !== null && isHigher(tier, highest) ? tier : highest), given)
}

/** Assigns a subscription to an organization on behalf of the operator, whatever earlier and later events say. */
export function assignOrganization(record: SubscriptionRecord, organizationId: string): SubscriptionRecord {
  return { ...record, assigned: organizationId }
}

/** Sets, on behalf of the operator, the tier that the price in an event buys, there and in all other events with it. */
export function assignTier(record: SubscriptionRecord, fact: SubscriptionFact, tier: PaidTier): SubscriptionRecord {
  const { eventId, price } = fact
  return { ...record, agreements: [...record.agreements, { eventId, price, tier }].slice(-MAX_AGREEMENTS) }
}

const MAX_AGREEMENTS = 50

/**
 * Ranks of facts in the same second, lowest first. A payment ranks above the state that waits for it. A loss of access
 * ranks above a grant, because no subscription is lost and paid again within one second.
 */
const RANK_ORDER: readonly (SubscriptionStatus | SubscriptionFact['kind'])[] = [
  'pending',
  'reversed',
  'retained',
  'stated',
  'INCOMPLETE',
  'paid',
  'PAST_DUE',
  'TRIALING',
  'ACTIVE',
  'failed',
  'PAUSED',
  'UNPAID',
  'INCOMPLETE_EXPIRED',
  'CANCELED',
]

const rankOf = ({ kind, status }: SubscriptionFact) => RANK_ORDER.indexOf(status ?? kind)

/** Orders facts by Stripe's time in whole seconds, then by rank, then by event id: a total order. */
function byStamp(one: SubscriptionFact, other: SubscriptionFact): number {
  return one.at - other.at || rankOf(one) - rankOf(other) || (one.eventId < other.eventId ? -1 : 1)
}

/** Returns the facts of each second, seconds in order, and within a second by rank. */
function bySecond(facts: readonly SubscriptionFact[]): readonly (readonly SubscriptionFact[])[] {
  const seconds = new Map<number, SubscriptionFact[]>()
  for (const fact of facts.toSorted(byStamp)) {
    const second = seconds.get(fact.at)
    if (second) second.push(fact)
    else seconds.set(fact.at, [fact])
  }
  return [...seconds.values()]
}

/** The most statements of one second that are ordered by what they say. */
const MAX_SEQUENCE = 20

/**
 * Orders the statements of one second by what each says was so before it: one that continues what was stated last
 * comes first, and one that another continues comes before that one. Where this decides nothing, the rank does.
 * Leaves other facts at the place that their rank gives them.
 */
function inSequence(second: readonly SubscriptionFact[], stated: Statement | null): readonly SubscriptionFact[] {
  const waiting = second.filter(({ kind }) => kind === 'stated')
  if (waiting.length < 2 || waiting.length > MAX_SEQUENCE) return second
  const statements: SubscriptionFact[] = []
  let last = stated
  while (waiting.length > 0) {
    const fact =
      waiting.find((each) => isSame(each.before, last)) ??
      waiting.find((each) => !waiting.some((other) => other !== each && isSame(each.before, statementOf(other)))) ??
      waiting[0]
    if (fact === undefined) break
    statements.push(fact)
    waiting.splice(waiting.indexOf(fact), 1)
    last = statementOf(fact)
  }
  let index = 0
  return second.map((fact) => (fact.kind === 'stated' ? (statements[index++] ?? fact) : fact))
}

function statementOf(fact: SubscriptionFact): Statement {
  const { status, price, periodEnd, cancelAtEnd, isResting } = fact
  return { status, price, periodEnd, cancelAtEnd: cancelAtEnd ?? false, isResting: isResting ?? false }
}

function isSame(one: Statement | null, other: Statement | null): boolean {
  if (one === null || other === null) return false
  const { status, periodEnd, cancelAtEnd, isResting, price } = other
  return (
    one.status === status &&
    one.periodEnd === periodEnd &&
    one.cancelAtEnd === cancelAtEnd &&
    one.isResting === isResting &&
    (isSamePrice(one.price, price) || (one.price === null && price === null))
  )
}
