import { z } from 'zod'
import { isOrganization } from '../../account/organization/organization-queries.ts'
import { requireOperator } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import type { PaidSubscription, PaymentEvent, Prisma } from '../../generated/prisma/client.ts'
import type { UnmatchedReason } from '../../generated/prisma/enums.ts'
import { grantUnsettled } from '../check-plan/check-plan-invoice.ts'
import { hasRecentCheckout } from './checkout.ts'
import type { Reference, StripeEvent } from './stripe-event.ts'
import { readStripeEvent } from './stripe-event.ts'
import type { SubscriptionRecord } from './subscription.ts'
import {
  addFact,
  assignOrganization,
  assignTier,
  paidTier,
  stateOf,
  tierOf,
  tierOfFact,
  unknownSubscription,
} from './subscription.ts'
import { reconcileTier } from './tier.ts'

/**
 * Handles a Stripe webhook request with a verified signature. Stores the event and applies it in one transaction;
 * ignores an event that is already stored. Once this returns, Stripe does not have to send the event again.
 * @throws Invalid `INVALID_PAYLOAD` when the body is not a Stripe event.
 */
export async function receiveStripeEvent(ctx: ChangeContext, body: string): Promise<void> {
  const event = readStripeEvent(body, ctx.config)
  if (event === null || (await isStored(ctx, event.id))) return
  await transaction(asSystem(ctx), async (tx) => {
    await lockPaymentEvents(tx)
    if (!(await insertEvent(tx, event, body))) return
    const payment = await applyEvent(tx, event)
    if (payment.outcome === 'UNMATCHED') {
      const { id, type, reason } = payment
      ctx.log.warn({ event: id, type, reason }, 'billing: could not match a payment; see unmatchedPayments')
    }
  })
}

const assignmentInput = z.object({
  paymentEventId: z.string(),
  organizationId: z.string(),
  tier: z.enum(['PRO', 'TEAM']).nullish(),
})

/**
 * Assigns a payment to an organization: its subscription, with all past and future payments, then belongs to the
 * organization. `tier` is the tier it buys if its price is not the price of a tier. A one-time payment is only marked
 * as resolved; one of an expired invoice grants the check plan. Operator only.
 * @throws NotFound when the payment or organization does not exist. @throws Conflict when the payment is no longer open
 * or no longer stored.
 */
export async function assignPayment(ctx: ChangeContext, input: unknown): Promise<PaymentEvent> {
  requireOperator(ctx)
  const { paymentEventId: id, organizationId, tier } = validate(assignmentInput, input)
  return transaction(ctx, async (tx) => {
    await lockPaymentEvents(tx)
    const payment = isProviderId(id) ? await tx.db.paymentEvent.findUnique({ where: { id } }) : null
    if (payment === null) throw new NotFound('Payment not found.')
    if (!(await isOrganization(tx, organizationId))) throw new NotFound('Organization not found.')
    if (payment.provider === 'BTCPAY') return assignUnsettled(tx, payment, organizationId)
    if (payment.payload === '') throw new Conflict('The content of this payment is no longer stored.')
    const event = readStripeEvent(payment.payload, tx.config)
    if (event?.subscriptionId != null) {
      const { subscriptionId } = event
      await updateSubscription(tx, subscriptionId, (record) => {
        const assigned = assignOrganization(record, organizationId)
        return tier == null ? assigned : assignTier(assigned, event.fact, tier)
      })
      await rematchEvents(tx, subscriptionId)
    }
    return markAssigned(tx, id, organizationId)
  })
}

/** Grants the check plan for a payment of an expired invoice. */
async function assignUnsettled(
  tx: ChangeContext,
  payment: PaymentEvent,
  organizationId: string,
): Promise<PaymentEvent> {
  const { id, outcome, objectId } = payment
  if (outcome !== 'UNMATCHED' || objectId === null) throw new Conflict('This payment is not open. Use setCheckPlan.')
  await grantUnsettled(asSystem(tx), objectId, organizationId)
  return markAssigned(tx, id, organizationId)
}

function markAssigned({ db, now }: Context, id: string, organizationId: string): Promise<PaymentEvent> {
  const data = { organizationId, outcome: 'APPLIED', reason: null, assignedAt: now() } as const
  return db.paymentEvent.update({ where: { id }, data })
}

/** Returns the newest payments without a known organization or tier. The caller checks permissions. */
export function listUnmatchedPayments({ db }: Pick<Context, 'db'>, limit: number): Promise<PaymentEvent[]> {
  return db.paymentEvent.findMany({
    where: { outcome: 'UNMATCHED' },
    orderBy: [{ receivedAt: 'desc' }, { id: 'asc' }],
    take: limit,
  })
}

/** Returns whether a text has the form of a Stripe id, which is safe in a query. */
function isProviderId(text: string): boolean {
  return /^[\w.-]{1,255}$/.test(text)
}

/** Returns the context with the system as actor, for the effects of payments. */
function asSystem<C extends Context>(ctx: C): C {
  return { ...ctx, actor: { kind: 'system' } }
}

/**
 * Takes a lock until the transaction ends, so that two related events that arrive at the same time do not miss each
 * other. Events are rare enough to run one at a time.
 */
async function lockPaymentEvents({ db }: Context): Promise<void> {
  await db.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('payment events'))`
}

/** Returns whether an event is stored. This avoids a transaction for most redeliveries. */
async function isStored({ db }: Context, id: string): Promise<boolean> {
  return (await db.paymentEvent.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** Inserts an event; returns false when it already exists. Waits for a concurrent delivery of the same event. */
async function insertEvent({ db, now }: Context, event: StripeEvent, payload: string): Promise<boolean> {
  const { id, type, createdAt, subscriptionId: objectId, price, email } = event
  const references = event.references.map((reference) => reference.id)
  const row = { id, type, createdAt, objectId, email, references, payload } as const
  const { count } = await db.paymentEvent.createMany({
    data: {
      ...row,
      provider: 'STRIPE',
      receivedAt: now(),
      amount: price?.amount ?? null,
      currency: price?.currency ?? null,
      outcome: 'IGNORED',
    },
    skipDuplicates: true,
  })
  return count === 1
}

/** Applies an event to its subscription and updates the tier of the organization. */
async function applyEvent(tx: ChangeContext, event: StripeEvent): Promise<PaymentEvent> {
  const { fact, references } = event
  const named = await findOrganizationId(tx, fact.organizationId)
  await storeReferences(tx, references)
  const { subscriptionId, invoiceId } = await traceSubscription(tx, event)
  const known = {
    ...fact,
    invoiceId,
    organizationId: named,
    isOwn: named !== null && (await hasRecentCheckout(tx, named, event.createdAt)),
  }
  const subscription =
    subscriptionId === null ? null : await updateSubscription(tx, subscriptionId, (record) => addFact(record, known))
  const organizationId = subscription?.organizationId ?? null
  const payment = await tx.db.paymentEvent.update({
    where: { id: event.id },
    data: { organizationId, objectId: subscriptionId, ...matchEvent(event, subscription) },
  })
  // This event may name the subscription's organization or price, so earlier events may match now.
  if ((named !== null || fact.tier !== null) && subscriptionId !== null) await rematchEvents(tx, subscriptionId)
  await applyWaiting(tx, references)
  return payment
}

/** Stores the references between payment objects. */
async function storeReferences({ db }: Context, references: readonly Reference[]): Promise<void> {
  for (const { id, ...data } of references) {
    if (data.parentId === null && data.subscriptionId === null) continue
    await db.paymentReference.upsert({ where: { id }, create: { id, ...data }, update: data })
  }
}

/** Returns the subscription and invoice of an event. Follows the stored references when it names no subscription. */
async function traceSubscription(
  { db }: Context,
  { subscriptionId, fact, references }: StripeEvent,
): Promise<{ subscriptionId: string | null; invoiceId: string | null }> {
  if (subscriptionId !== null || references.length === 0) return { subscriptionId, invoiceId: fact.invoiceId }
  let ids = references.map(({ id }) => id)
  // A charge belongs to a payment, and a payment to an invoice.
  for (let level = 0; level < 3 && ids.length > 0; level += 1) {
    const found = await db.paymentReference.findMany({ where: { id: { in: ids } } })
    const invoice = found.find((each) => each.subscriptionId !== null)
    if (invoice !== undefined) return { subscriptionId: invoice.subscriptionId, invoiceId: invoice.id }
    ids = found.map(({ parentId }) => parentId).filter((id) => id !== null)
  }
  return { subscriptionId: null, invoiceId: null }
}

/** Applies earlier events whose subscription is known now because of these references. */
async function applyWaiting(tx: ChangeContext, references: readonly Reference[]): Promise<void> {
  const ids = new Set(references.map(({ id }) => id))
  let below = [...ids]
  while (below.length > 0) {
    const children = await tx.db.paymentReference.findMany({ where: { parentId: { in: below } } })
    below = children.map(({ id }) => id).filter((id) => !ids.has(id))
    for (const id of below) ids.add(id)
  }
  if (ids.size === 0) return
  const waiting = await tx.db.paymentEvent.findMany({
    where: {
      provider: 'STRIPE',
      objectId: null,
      assignedAt: null,
      references: { hasSome: [...ids] },
      payload: { not: '' },
    },
  })
  for (const { payload } of waiting) {
    const event = readStripeEvent(payload, tx.config)
    if (event === null || (await traceSubscription(tx, event)).subscriptionId === null) continue
    await applyEvent(tx, event)
  }
}

type MatchResult = Pick<PaymentEvent, 'outcome' | 'reason'>

const unmatched = (reason: UnmatchedReason): MatchResult => ({ outcome: 'UNMATCHED', reason })
const ignored: MatchResult = { outcome: 'IGNORED', reason: null }

/** Returns the outcome of an event, given its subscription. An event without one is usually unrelated to what we sell. */
function matchEvent(event: StripeEvent, subscription: PaidSubscription | null): MatchResult {
  if (subscription === null) return matchWithoutSubscription(event)
  const { hasReference, price, fact } = event
  if (subscription.organizationId === null) {
    if (!isCheckout(event)) return unmatched('UNKNOWN_SUBSCRIPTION')
    return unmatched(hasReference ? 'UNKNOWN_ORGANIZATION' : 'NO_REFERENCE')
  }
  // A checkout contains only a sum. The subscription and its invoices contain the prices.
  const record = recordOf(subscription)
  const isPriced = tierOfFact(record, fact) !== null || (isCheckout(event) && tierOf(stateOf(record)) !== null)
  if (price !== null && !isPriced && !isReversalEvent(event)) return unmatched('UNKNOWN_AMOUNT')
  return { outcome: 'APPLIED', reason: null }
}

/** Returns the outcome of an event without a subscription, or with an unknown subscription. */
function matchWithoutSubscription(event: StripeEvent): MatchResult {
  if (isReversalEvent(event) && event.fact.kind === 'reversed') return unmatched('UNKNOWN_SUBSCRIPTION')
  return isCheckout(event) && event.price !== null ? unmatched('NO_SUBSCRIPTION') : ignored
}

const isCheckout = ({ type }: StripeEvent) => type.startsWith('checkout.')
const isReversalEvent = ({ type }: StripeEvent) => type.startsWith('charge.')

/** Matches the unmatched events of a subscription again, once its organization or price is known. */
async function rematchEvents(tx: ChangeContext, subscriptionId: string): Promise<void> {
  const subscription = await tx.db.paidSubscription.findUniqueOrThrow({ where: { id: subscriptionId } })
  const { organizationId } = subscription
  if (organizationId === null) return
  const waiting = await tx.db.paymentEvent.findMany({
    where: { objectId: subscriptionId, provider: 'STRIPE', outcome: 'UNMATCHED' },
  })
  for (const { id, payload } of waiting) {
    const event = readStripeEvent(payload, tx.config)
    if (event === null) continue
    await tx.db.paymentEvent.update({ where: { id }, data: { organizationId, ...matchEvent(event, subscription) } })
  }
}

/**
 * Updates the record of a subscription, and the tier of its organizations when the paid tier or the owner changes.
 * Locks the subscription's row, always before an organization's row.
 */
async function updateSubscription(
  tx: ChangeContext,
  id: string,
  add: (record: SubscriptionRecord) => SubscriptionRecord,
): Promise<PaidSubscription> {
  const { db } = tx
  const data = { id, state: toJson(unknownSubscription), isOwn: false, createdAt: tx.now() }
  await db.paidSubscription.createMany({ data, skipDuplicates: true })
  await db.$queryRaw`SELECT 1 FROM "PaidSubscription" WHERE id = ${id} FOR UPDATE`
  const before = await db.paidSubscription.findUniqueOrThrow({ where: { id } })
  const record = add(recordOf(before))
  const state = stateOf(record)
  const organizationId = await resolveOwner(tx, state.organizationId, before)
  const after = await db.paidSubscription.update({
    where: { id },
    data: {
      organizationId,
      state: toJson(record),
      status: state.status,
      paysFor: paidTier(state),
      currentPeriodEnd: state.periodEnd === null ? null : new Date(state.periodEnd * 1000),
      cancelAtPeriodEnd: state.cancelAtEnd,
      isOwn: state.isOwn,
    },
  })
  if (after.paysFor === before.paysFor && organizationId === before.organizationId) return after
  // Sorted, so that two payments cannot deadlock.
  const owners = new Set([before.organizationId, organizationId].filter((owner) => owner !== null))
  for (const owner of [...owners].sort()) await reconcileTier(tx, owner)
  return after
}

/** Returns the organization that owns a subscription; null when it no longer exists. */
async function resolveOwner(tx: Context, owner: string | null, before: PaidSubscription): Promise<string | null> {
  return owner === before.organizationId ? owner : findOrganizationId(tx, owner)
}

async function findOrganizationId(tx: Context, id: string | null): Promise<string | null> {
  return id !== null && (await isOrganization(tx, id)) ? id : null
}

/** Reads the JSON column, which only `updateSubscription` writes. */
const recordOf = ({ state }: PaidSubscription) => state as unknown as SubscriptionRecord
const toJson = (record: SubscriptionRecord) => record as unknown as Prisma.InputJsonObject
