import type { SubscriptionStatus, Tier } from '../../generated/prisma/enums.ts'
import type { PaidTier } from '../price.ts'
import { isHigher } from '../price.ts'

/**
 * The position of a fact in the order of all facts about a subscription: by Stripe's time in whole seconds, then by
 * rank, then by event id. The order is total and does not depend on when facts arrive.
 */
interface Stamp {
  /** Epoch seconds. */
  readonly at: number
  /** Orders facts within one second; the higher rank wins. */
  readonly rank: number
  readonly id: string
}

/** A last-write-wins register: the latest value and its stamp. */
interface Register<T> {
  readonly stamp: Stamp
  readonly value: T
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
  /** The organization in the payment link's reference, or null. */
  readonly organizationId: string | null
  /** The end of the paid or due period, in epoch seconds. */
  readonly periodEnd: number | null
  /** For `stated`: whether it ends with that period. */
  readonly cancelAtEnd: boolean | null
  /** For `stated`: whether payment collection is paused and invoices are void. */
  readonly isResting: boolean | null
  /** Whether the checkout started at our own URL, with a key or token of the organization. */
  readonly isOwn: boolean
  /** For payments and reversals: the paid invoice, or null. */
  readonly invoiceId: string | null
  /** For `paid`: whether it covers a whole period, and not only a proration. */
  readonly isPeriod: boolean
  /** For `reversed` and `retained`: the refunded charge or the dispute. */
  readonly claimId: string | null
}

/** A payment for a whole period. */
interface PeriodPayment {
  readonly stamp: Stamp
  readonly invoiceId: string
}

/** A refund or dispute; `value` is whether the payment is reversed. */
interface Claim extends Register<boolean> {
  readonly id: string
  readonly invoiceId: string
}

/**
 * The state of a subscription: the latest value of each field, by stamp. Applying facts is commutative, associative
 * and idempotent, so the order and number of deliveries do not matter.
 */
export interface SubscriptionState {
  readonly stated: Register<SubscriptionStatus> | null
  readonly paid: Stamp | null
  readonly failed: Stamp | null
  readonly tier: Register<PaidTier> | null
  readonly organization: Register<string> | null
  readonly periodEnd: Register<number> | null
  readonly cancelAtEnd: Register<boolean> | null
  readonly isResting: Register<boolean> | null
  /** The last payment for a whole period; `paidUntil` is the latest end of a paid period, in epoch seconds. */
  readonly period: PeriodPayment | null
  readonly paidUntil: number | null
  /** Sorted by id. */
  readonly claims: readonly Claim[]
  /**
   * Whether it started at our own URL or the operator assigned it; otherwise anyone may have started it for any
   * organization.
   */
  readonly isOwn: boolean
}

/** The state of a subscription without facts. */
export const unknownSubscription: SubscriptionState = {
  stated: null,
  paid: null,
  failed: null,
  tier: null,
  organization: null,
  periodEnd: null,
  cancelAtEnd: null,
  isResting: null,
  period: null,
  paidUntil: null,
  claims: [],
  isOwn: false,
}

/** Final statuses never change again. They win over any other status, regardless of its time. */
const FINAL_STATUSES: ReadonlySet<SubscriptionStatus> = new Set(['CANCELED', 'INCOMPLETE_EXPIRED'])

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

/** Returns the state after adding a fact. */
export function applyFact(state: SubscriptionState, fact: SubscriptionFact): SubscriptionState {
  const { kind, status } = fact
  const stamp = stampOf(fact)
  const register = <T>(value: T | null) => (value === null ? null : { stamp, value })
  return {
    stated: laterStatus(state.stated, register(status)),
    paid: kind === 'paid' ? laterStamp(state.paid, stamp) : state.paid,
    failed: kind === 'failed' ? laterStamp(state.failed, stamp) : state.failed,
    tier: laterRegister(state.tier, register(fact.tier)),
    organization: laterRegister(state.organization, register(fact.organizationId)),
    periodEnd: laterRegister(state.periodEnd, register(fact.periodEnd)),
    cancelAtEnd: laterRegister(state.cancelAtEnd, register(fact.cancelAtEnd)),
    isResting: laterRegister(state.isResting, register(fact.isResting)),
    period: laterPayment(state.period, fact, stamp),
    paidUntil: kind === 'paid' ? maxOrNull(state.paidUntil, fact.periodEnd) : state.paidUntil,
    claims: addClaim(state.claims, fact, stamp),
    isOwn: state.isOwn || fact.isOwn,
  }
}

/**
 * Returns the later payment for a whole period. Ignores a payment without an invoice, because no reversal could name it.
 */
function laterPayment(before: PeriodPayment | null, fact: SubscriptionFact, stamp: Stamp): PeriodPayment | null {
  const { kind, isPeriod, invoiceId } = fact
  if (kind !== 'paid' || !isPeriod || invoiceId === null) return before
  return isLater(stamp, before?.stamp ?? null) ? { stamp, invoiceId } : before
}

function maxOrNull(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

function addClaim(claims: readonly Claim[], { kind, claimId: id, invoiceId }: SubscriptionFact, stamp: Stamp) {
  if ((kind !== 'reversed' && kind !== 'retained') || id === null || invoiceId === null) return claims
  const claim = { id, invoiceId, stamp, value: kind === 'reversed' }
  const before = claims.find((each) => each.id === id)
  if (before !== undefined && !isLater(stamp, before.stamp)) return claims
  return [...claims.filter((each) => each !== before), claim].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** Returns the later status; a final status wins regardless of its time. */
function laterStatus(
  one: Register<SubscriptionStatus> | null,
  other: Register<SubscriptionStatus> | null,
): Register<SubscriptionStatus> | null {
  if (one === null || other === null) return one ?? other
  const isFinal = [FINAL_STATUSES.has(one.value), FINAL_STATUSES.has(other.value)] as const
  if (isFinal[0] !== isFinal[1]) return isFinal[0] ? one : other
  return laterRegister(one, other)
}

/** Returns the status of a subscription; null while it is only pending. */
export function statusOf({ stated, paid, failed }: SubscriptionState): SubscriptionStatus | null {
  const own = stated?.value ?? null
  if (own !== null && FINAL_STATUSES.has(own)) return own
  const paidSince = paid !== null && isLater(paid, stated?.stamp ?? null)
  const status = paidSince ? 'ACTIVE' : own
  const known = paidSince ? paid : (stated?.stamp ?? null)
  if (failed === null || !isLater(failed, known)) return status
  if (status === null) return 'INCOMPLETE'
  return status === 'ACTIVE' || status === 'TRIALING' ? 'PAST_DUE' : status
}

/** Statuses in which a subscription grants its tier; a failed payment has a grace period (contract §3). */
const PAYING_STATUSES: ReadonlySet<SubscriptionStatus | null> = new Set(['ACTIVE', 'TRIALING', 'PAST_DUE'])

/** Returns the tier that a subscription pays for, or null. */
export function paidTier(state: SubscriptionState): PaidTier | null {
  if (!PAYING_STATUSES.has(statusOf(state)) || isReversed(state) || isPaused(state)) return null
  return state.tier?.value ?? null
}

/** Returns whether the last payment for a whole period was reversed. */
function isReversed({ period, claims }: SubscriptionState): boolean {
  return claims.some(({ invoiceId, value }) => value && invoiceId === period?.invoiceId)
}

/** Returns whether collection is paused and the paid period has ended. */
function isPaused({ isResting, paidUntil, periodEnd }: SubscriptionState): boolean {
  if (isResting?.value !== true) return false
  return paidUntil === null || (periodEnd !== null && periodEnd.value > paidUntil)
}

/**
 * Returns the highest of an organization's minimum (or default) tier and the tiers that its subscriptions pay for. A
 * subscription can only raise the tier.
 */
export function highestTier(paid: readonly (PaidTier | null)[], given: Tier): Tier {
  return paid.reduce<Tier>((highest, tier) => (tier !== null && isHigher(tier, highest) ? tier : highest), given)
}

/**
 * Assigns a subscription to an organization on behalf of the operator. The stamp is in milliseconds, which orders it
 * after all events, including later ones.
 */
export function assignOrganization(state: SubscriptionState, organizationId: string, at: Date): SubscriptionState {
  const stamp = { at: at.getTime(), rank: 0, id: '' }
  return { ...state, organization: laterRegister({ stamp, value: organizationId }, state.organization), isOwn: true }
}

/** Sets, on behalf of the operator, the tier that the price in an event buys, as if the event had named the tier. */
export function assignTier(state: SubscriptionState, fact: SubscriptionFact, tier: PaidTier): SubscriptionState {
  return { ...state, tier: laterRegister({ stamp: stampOf(fact), value: tier }, state.tier) }
}

function stampOf({ eventId: id, at, kind, status }: SubscriptionFact): Stamp {
  return { at, rank: RANK_ORDER.indexOf(status ?? kind), id }
}

/** Returns the later register; the first when the stamps are equal. */
function laterRegister<T>(one: Register<T> | null, other: Register<T> | null): Register<T> | null {
  if (one === null || other === null) return one ?? other
  return isLater(other.stamp, one.stamp) ? other : one
}

function laterStamp(one: Stamp | null, other: Stamp): Stamp {
  return isLater(other, one) ? other : (one ?? other)
}

function isLater(one: Stamp, than: Stamp | null): boolean {
  if (than === null) return true
  if (one.at !== than.at) return one.at > than.at
  if (one.rank !== than.rank) return one.rank > than.rank
  return one.id > than.id
}
