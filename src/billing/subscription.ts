import type { SubscriptionStatus, Tier } from '../generated/prisma/enums.ts'
import type { PaidTier } from './price.ts'
import { isHigher } from './price.ts'

/**
 * Where a fact stands among all facts about a subscription: by the provider's time first, in whole seconds, then by how
 * much it weighs, then by the event's id. Every two facts have an order, whichever arrives first.
 */
export interface Stamp {
  /** Epoch seconds. */
  readonly at: number
  /** What wins within a second. */
  readonly rank: number
  readonly id: string
}

/** What was last said, and where that stands. */
export interface Register<T> {
  readonly stamp: Stamp
  readonly value: T
}

/** What an event of the provider says about one subscription. */
export interface SubscriptionFact {
  readonly eventId: string
  /** When it happened, in epoch seconds. */
  readonly at: number
  /**
   * `stated`: the subscription itself, as it was then. `paid`, `failed`: a payment for it. `begun`: not paid yet. `taken`: a
   * payment was refunded in full, or is disputed. `kept`: a dispute ended in our favour.
   */
  readonly kind: 'stated' | 'paid' | 'failed' | 'begun' | 'taken' | 'kept'
  /** Of `stated`: its status, null for one that we do not know. */
  readonly status: SubscriptionStatus | null
  /** The tier whose price it names; null when it names none, or one of no tier. */
  readonly tier: PaidTier | null
  /** Whom it is for, as the payer's link said, or null. */
  readonly organizationId: string | null
  /** When the period ends that is paid or to be paid, in epoch seconds. */
  readonly periodEnd: number | null
  /** Of `stated`: whether it ends with that period. */
  readonly cancelAtEnd: boolean | null
  /** Of `stated`: whether what falls due is void until further notice, as the service rests. */
  readonly isResting: boolean | null
  /** Whether the checkout began at our own address, with a key of the organization or its token. */
  readonly isOwn: boolean
  /** Of payments and what becomes of them: the invoice that was paid, or null. */
  readonly invoiceId: string | null
  /** Of `paid`: whether a whole period was, and not only a change in the middle of one. */
  readonly isPeriod: boolean
  /** Of `taken` and `kept`: the refunded charge or the dispute. */
  readonly claimId: string | null
}

/** A payment for a whole period. */
interface PeriodPayment {
  readonly stamp: Stamp
  readonly invoiceId: string
}

/** Money that went back, or is disputed: `value` says whether it is gone. */
export interface Claim extends Register<boolean> {
  readonly id: string
  readonly invoiceId: string
}

/**
 * Everything that is known of a subscription: of each thing the last word, by its stamp. Adding facts is commutative,
 * associative and idempotent, so that the order in which events arrive, and how often, cannot matter.
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
  /** The last payment for a whole period, and the latest end of a period that was paid, in epoch seconds. */
  readonly period: PeriodPayment | null
  readonly paidUntil: number | null
  /** By their ids, in order. */
  readonly claims: readonly Claim[]
  /** Whether it began at our own address, or the operator assigned it: else anybody may have begun it for anybody. */
  readonly isOwn: boolean
}

/** A subscription of which nothing is known. */
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

/** The statuses no subscription comes back from: later ones of another kind are old news, whatever their time. */
const final: ReadonlySet<SubscriptionStatus> = new Set(['CANCELED', 'INCOMPLETE_EXPIRED'])

/**
 * What was said in the same second, the later the more it weighs: a payment comes after what waits for it, and bad news is
 * not undone by what gave access, for nothing is lost and paid again within a second.
 */
const weights: readonly (SubscriptionStatus | SubscriptionFact['kind'])[] = [
  'begun',
  'taken',
  'kept',
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

/** What is known of a subscription once this is known too. */
export function next(state: SubscriptionState, fact: SubscriptionFact): SubscriptionState {
  const { kind, status } = fact
  const stamp = stampOf(fact)
  const said = <T>(value: T | null) => (value === null ? null : { stamp, value })
  return {
    stated: laterStatus(state.stated, said(status)),
    paid: kind === 'paid' ? later(state.paid, stamp) : state.paid,
    failed: kind === 'failed' ? later(state.failed, stamp) : state.failed,
    tier: last(state.tier, said(fact.tier)),
    organization: last(state.organization, said(fact.organizationId)),
    periodEnd: last(state.periodEnd, said(fact.periodEnd)),
    cancelAtEnd: last(state.cancelAtEnd, said(fact.cancelAtEnd)),
    isResting: last(state.isResting, said(fact.isResting)),
    period: laterPayment(state.period, fact, stamp),
    paidUntil: kind === 'paid' ? greater(state.paidUntil, fact.periodEnd) : state.paidUntil,
    claims: withClaim(state.claims, fact, stamp),
    isOwn: state.isOwn || fact.isOwn,
  }
}

/** A payment whose invoice is not named cannot be told from others when money goes back. */
function laterPayment(before: PeriodPayment | null, fact: SubscriptionFact, stamp: Stamp): PeriodPayment | null {
  const { kind, isPeriod, invoiceId } = fact
  if (kind !== 'paid' || !isPeriod || invoiceId === null) return before
  return isLater(stamp, before?.stamp ?? null) ? { stamp, invoiceId } : before
}

function greater(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

function withClaim(claims: readonly Claim[], { kind, claimId: id, invoiceId }: SubscriptionFact, stamp: Stamp) {
  if ((kind !== 'taken' && kind !== 'kept') || id === null || invoiceId === null) return claims
  const claim = { id, invoiceId, stamp, value: kind === 'taken' }
  const before = claims.find((each) => each.id === id)
  if (before !== undefined && !isLater(stamp, before.stamp)) return claims
  return [...claims.filter((each) => each !== before), claim].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** A status is above all times when it is final. */
function laterStatus(
  one: Register<SubscriptionStatus> | null,
  other: Register<SubscriptionStatus> | null,
): Register<SubscriptionStatus> | null {
  if (one === null || other === null) return one ?? other
  const isFinal = [final.has(one.value), final.has(other.value)] as const
  if (isFinal[0] !== isFinal[1]) return isFinal[0] ? one : other
  return last(one, other)
}

/** The status of a subscription, as far as its facts tell; null while nothing is told but that it was begun. */
export function statusOf({ stated, paid, failed }: SubscriptionState): SubscriptionStatus | null {
  const own = stated?.value ?? null
  if (own !== null && final.has(own)) return own
  const paidSince = paid !== null && isLater(paid, stated?.stamp ?? null)
  const status = paidSince ? 'ACTIVE' : own
  const known = paidSince ? paid : (stated?.stamp ?? null)
  if (failed === null || !isLater(failed, known)) return status
  if (status === null) return 'INCOMPLETE'
  return status === 'ACTIVE' || status === 'TRIALING' ? 'PAST_DUE' : status
}

/** Those in which a subscription gives what it pays for: a payment that failed has a time of grace (contract §3). */
const paying: ReadonlySet<SubscriptionStatus | null> = new Set(['ACTIVE', 'TRIALING', 'PAST_DUE'])

/** The tier that a subscription pays for; null when it pays for none. */
export function paidTier(state: SubscriptionState): PaidTier | null {
  if (!paying.has(statusOf(state)) || isTakenBack(state) || isAtRest(state)) return null
  return state.tier?.value ?? null
}

/** Whether the last payment for a whole period is no longer ours. */
function isTakenBack({ period, claims }: SubscriptionState): boolean {
  return claims.some(({ invoiceId, value }) => value && invoiceId === period?.invoiceId)
}

/** Whether the service rests by agreement: not before what was paid for has passed. */
function isAtRest({ isResting, paidUntil, periodEnd }: SubscriptionState): boolean {
  if (isResting?.value !== true) return false
  return paidUntil === null || (periodEnd !== null && periodEnd.value > paidUntil)
}

/**
 * The tier of an organization: the highest of what the operator has given it, or the default, and of what its subscriptions
 * pay for. So whoever pays for an organization can only raise its tier.
 */
export function tierOfAll(paid: readonly (PaidTier | null)[], given: Tier): Tier {
  return paid.reduce<Tier>((highest, tier) => (tier !== null && isHigher(tier, highest) ? tier : highest), given)
}

/**
 * The operator's word that a subscription is an organization's. Its stamp is in milliseconds, which puts it after everything
 * that events say, also later ones.
 */
export function assignedTo(state: SubscriptionState, organizationId: string, at: Date): SubscriptionState {
  const stamp = { at: at.getTime(), rank: 0, id: '' }
  return { ...state, organization: last({ stamp, value: organizationId }, state.organization), isOwn: true }
}

/** The operator's word for the tier that the price in one event buys: as good as if the event had named it. */
export function pricedAs(state: SubscriptionState, fact: SubscriptionFact, tier: PaidTier): SubscriptionState {
  return { ...state, tier: last({ stamp: stampOf(fact), value: tier }, state.tier) }
}

function stampOf({ eventId: id, at, kind, status }: SubscriptionFact): Stamp {
  return { at, rank: weights.indexOf(status ?? kind), id }
}

/** The later of the two; of two with the same stamp the first. */
function last<T>(one: Register<T> | null, other: Register<T> | null): Register<T> | null {
  if (one === null || other === null) return one ?? other
  return isLater(other.stamp, one.stamp) ? other : one
}

function later(one: Stamp | null, other: Stamp): Stamp {
  return isLater(other, one) ? other : (one ?? other)
}

function isLater(one: Stamp, than: Stamp | null): boolean {
  if (than === null) return true
  if (one.at !== than.at) return one.at > than.at
  if (one.rank !== than.rank) return one.rank > than.rank
  return one.id > than.id
}
