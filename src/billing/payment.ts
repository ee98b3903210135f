import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import { defaultTier } from '../account/organization.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import type { PaidSubscription, PaymentEvent, Prisma } from '../generated/prisma/client.ts'
import type { UnmatchedReason } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import { validate } from '../validate.ts'
import type { PaidTier } from './price.ts'
import type { StripeEvent } from './stripe-event.ts'
import { readStripeEvent } from './stripe-event.ts'
import type { SubscriptionState } from './subscription.ts'
import { assignedTo, next, paidTier, pricedAs, statusOf, tierOfAll, unknownSubscription } from './subscription.ts'
import { changeTier } from './tier.ts'

/**
 * Takes a delivery of the payment provider whose signature has been checked: the event is stored and takes effect in one
 * transaction, and one that was stored before does nothing. Once this returns, the provider need not send it again.
 * @throws Invalid `INVALID_PAYLOAD` when the body is no event of the provider.
 */
export async function takeStripeEvent(ctx: Context, body: string): Promise<void> {
  const event = readStripeEvent(body, ctx.config)
  if (event === null || (await isKnown(ctx, event.id))) return
  await transaction(asSystem(ctx), async (tx) => {
    if (!(await store(tx, event, body))) return
    const payment = await apply(tx, event)
    if (payment.outcome === 'UNMATCHED') {
      const { id, type, reason } = payment
      ctx.log.warn({ event: id, type, reason }, 'billing: a payment could not be matched; unmatchedPayments has it')
    }
  })
}

const assignment = z.object({
  paymentEventId: z.string(),
  organizationId: z.string(),
  tier: z.enum(['PRO', 'TEAM']).nullish(),
})

/**
 * Gives a payment to an organization by hand: the subscription that it is about is the organization's from then on, with
 * all that was and will be paid for it. `tier` says what its price buys when that is the price of no tier. A single payment
 * only counts as dealt with. Operator only.
 * @throws NotFound when there is no such payment or organization. @throws Conflict when it is not a tier that it pays for.
 */
export async function assignPayment(ctx: Context, input: unknown): Promise<PaymentEvent> {
  requireOperator(ctx)
  const { paymentEventId: id, organizationId, tier } = validate(assignment, input)
  return transaction(ctx, async (tx) => {
    const payment = isProviderId(id) ? await tx.db.paymentEvent.findUnique({ where: { id } }) : null
    if (payment === null) throw new NotFound('There is no such payment.')
    if (payment.provider !== 'STRIPE')
      throw new Conflict('This payment pays for a check plan: give it by setCheckPlan.')
    if (!(await isOrganization(tx, organizationId))) throw new NotFound('There is no such organization.')
    const event = readStripeEvent(payment.payload, tx.config)
    if (event?.subscriptionId != null) {
      const { subscriptionId } = event
      await gather(tx, subscriptionId, (state) => {
        const assigned = assignedTo(state, organizationId, tx.now())
        return tier == null ? assigned : pricedAs(assigned, event.fact, tier)
      })
      await judgeAgain(tx, subscriptionId)
    }
    const data = { organizationId, outcome: 'APPLIED', reason: null, assignedAt: tx.now() } as const
    return tx.db.paymentEvent.update({ where: { id }, data })
  })
}

/** Whether a text may be asked for as an id of the provider: the database cannot be asked for every text. */
export function isProviderId(text: string): boolean {
  return /^[\w.-]{1,255}$/.test(text)
}

/** What a provider does is done by the system, whoever brings the word. */
function asSystem(ctx: Context): Context {
  return { ...ctx, actor: { kind: 'system' } }
}

/** Saves most redeliveries a transaction. */
async function isKnown({ db }: Context, id: string): Promise<boolean> {
  return (await db.paymentEvent.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** Gives whether this is the first time. Another delivery of it that is under way is waited for. */
async function store({ db, now }: Context, event: StripeEvent, payload: string): Promise<boolean> {
  const { id, type, createdAt, subscriptionId: objectId, price, email } = event
  const row = { id, type, createdAt, objectId, email, payload, provider: 'STRIPE', receivedAt: now() } as const
  const { count } = await db.paymentEvent.createMany({
    data: { ...row, amount: price?.amount ?? null, currency: price?.currency ?? null, outcome: 'IGNORED' },
    skipDuplicates: true,
  })
  return count === 1
}

/** Adds what an event says to its subscription, and sets the tier of the organization by it. */
async function apply(tx: Context, event: StripeEvent): Promise<PaymentEvent> {
  const { subscriptionId, fact } = event
  const named = fact.organizationId !== null && (await isOrganization(tx, fact.organizationId))
  const known = { ...fact, organizationId: named ? fact.organizationId : null }
  const subscription = subscriptionId === null ? null : await gather(tx, subscriptionId, (state) => next(state, known))
  const organizationId = subscription?.organizationId ?? null
  const payment = await tx.db.paymentEvent.update({
    where: { id: event.id },
    data: { organizationId, ...outcomeOf(event, organizationId) },
  })
  // Events that came before the one that says whose the subscription is are matched by it.
  if (named && subscriptionId !== null) await judgeAgain(tx, subscriptionId)
  return payment
}

/** What comes of an event by whose its subscription is. Whatever is not about a subscription is about nothing we sell. */
function outcomeOf(
  { subscriptionId, hasReference, price, type, fact }: StripeEvent,
  organizationId: string | null,
): { readonly outcome: PaymentEvent['outcome']; readonly reason: UnmatchedReason | null } {
  const unmatched = (reason: UnmatchedReason) => ({ outcome: 'UNMATCHED', reason }) as const
  const isCheckout = type.startsWith('checkout.')
  if (subscriptionId === null) {
    return isCheckout && price !== null ? unmatched('NO_SUBSCRIPTION') : { outcome: 'IGNORED', reason: null }
  }
  if (organizationId === null) {
    if (!isCheckout) return unmatched('UNKNOWN_SUBSCRIPTION')
    return unmatched(hasReference ? 'UNKNOWN_ORGANIZATION' : 'NO_REFERENCE')
  }
  if (price !== null && fact.tier === null) return unmatched('UNKNOWN_AMOUNT')
  return { outcome: 'APPLIED', reason: null }
}

/** Matches the events of a subscription that could not be matched before it was known whose it is. */
async function judgeAgain(tx: Context, subscriptionId: string): Promise<void> {
  const subscription = await tx.db.paidSubscription.findUniqueOrThrow({ where: { id: subscriptionId } })
  const { organizationId } = subscription
  const waiting = await tx.db.paymentEvent.findMany({
    where: { objectId: subscriptionId, provider: 'STRIPE', outcome: 'UNMATCHED', organizationId: null },
  })
  for (const { id, payload } of waiting) {
    const event = readStripeEvent(payload, tx.config)
    if (event === null) continue
    await tx.db.paymentEvent.update({ where: { id }, data: { organizationId, ...outcomeOf(event, organizationId) } })
  }
}

/**
 * Adds to what is known of a subscription. When that changes what it pays for, or for whom, the tier of the organization
 * follows. Changes to one subscription run one at a time, for its row is locked, and always before an organization's.
 */
async function gather(
  tx: Context,
  id: string,
  add: (state: SubscriptionState) => SubscriptionState,
): Promise<PaidSubscription> {
  const { db } = tx
  const data = { id, state: asJson(unknownSubscription), createdAt: tx.now() }
  await db.paidSubscription.createMany({ data, skipDuplicates: true })
  await db.$queryRaw`SELECT 1 FROM "PaidSubscription" WHERE id = ${id} FOR UPDATE`
  const before = await db.paidSubscription.findUniqueOrThrow({ where: { id } })
  const state = add(stateOf(before))
  const organizationId = await ownerIn(tx, state, before)
  const after = await db.paidSubscription.update({
    where: { id },
    data: {
      organizationId,
      state: asJson(state),
      status: statusOf(state),
      paysFor: paidTier(state),
      currentPeriodEnd: state.periodEnd === null ? null : new Date(state.periodEnd.value * 1000),
      cancelAtPeriodEnd: state.cancelAtEnd?.value ?? false,
    },
  })
  if (after.paysFor === before.paysFor && organizationId === before.organizationId) return after
  // In one order, so that two payments cannot wait for each other.
  const owners = new Set([before.organizationId, organizationId].filter((owner) => owner !== null))
  for (const owner of [...owners].sort()) await settleTier(tx, owner)
  return after
}

/** Whose a subscription is; an organization that is gone is nobody. */
async function ownerIn(tx: Context, state: SubscriptionState, before: PaidSubscription): Promise<string | null> {
  const owner = state.organization?.value ?? null
  if (owner === null || owner === before.organizationId) return owner
  return (await isOrganization(tx, owner)) ? owner : null
}

/** Sets the tier of an organization by what all its subscriptions pay for. */
async function settleTier(tx: Context, organizationId: string): Promise<void> {
  await changeTier(tx, organizationId, async ({ db, config }, organization) => {
    const subscriptions = await db.paidSubscription.findMany({ where: { organizationId }, select: { paysFor: true } })
    // The column holds what paidTier gives.
    const paid = subscriptions.map(({ paysFor }) => paysFor as PaidTier | null)
    const tier = tierOfAll(paid, defaultTier(config))
    return tier === organization.tier ? null : tier
  })
}

async function isOrganization({ db }: Context, id: string): Promise<boolean> {
  if (typeOfId(id) !== 'Organization') return false
  return (await db.organization.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** The column is JSON, and only `gather` writes it. */
const stateOf = ({ state }: PaidSubscription) => state as unknown as SubscriptionState
const asJson = (state: SubscriptionState) => state as unknown as Prisma.InputJsonObject
