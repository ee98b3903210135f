import { z } from 'zod'
import { requireOperator } from '../account/access.ts'
import type { Context } from '../context.ts'
import { transaction } from '../context.ts'
import { Conflict, NotFound } from '../errors.ts'
import type { PaidSubscription, PaymentEvent, Prisma } from '../generated/prisma/client.ts'
import type { UnmatchedReason } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import { validate } from '../validate.ts'
import { hasBegunCheckout } from './checkout.ts'
import type { Reference, StripeEvent } from './stripe-event.ts'
import { readStripeEvent } from './stripe-event.ts'
import type { SubscriptionState } from './subscription.ts'
import { assignedTo, next, paidTier, pricedAs, statusOf, unknownSubscription } from './subscription.ts'
import { settleTier } from './tier.ts'

/**
 * Takes a delivery of the payment provider whose signature has been checked: the event is stored and takes effect in one
 * transaction, and one that was stored before does nothing. Once this returns, the provider need not send it again.
 * @throws Invalid `INVALID_PAYLOAD` when the body is no event of the provider.
 */
export async function takeStripeEvent(ctx: Context, body: string): Promise<void> {
  const event = readStripeEvent(body, ctx.config)
  if (event === null || (await isKnown(ctx, event.id))) return
  await transaction(asSystem(ctx), async (tx) => {
    await oneAtATime(tx)
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
    await oneAtATime(tx)
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

/**
 * Two events that belong together must not miss each other by arriving at once. There are few, so that all may wait for each
 * other until the transaction ends.
 */
async function oneAtATime({ db }: Context): Promise<void> {
  await db.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('payment events'))`
}

/** Saves most redeliveries a transaction. */
async function isKnown({ db }: Context, id: string): Promise<boolean> {
  return (await db.paymentEvent.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** Gives whether this is the first time. Another delivery of it that is under way is waited for. */
async function store({ db, now }: Context, event: StripeEvent, payload: string): Promise<boolean> {
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

/** Adds what an event says to its subscription, and sets the tier of the organization by it. */
async function apply(tx: Context, event: StripeEvent): Promise<PaymentEvent> {
  const { fact, references } = event
  const named = await organizationNamed(tx, fact.organizationId)
  await learn(tx, references)
  const { subscriptionId, invoiceId } = await traced(tx, event)
  const known = {
    ...fact,
    invoiceId,
    organizationId: named,
    isOwn: named !== null && (await hasBegunCheckout(tx, named, event.createdAt)),
  }
  const subscription = subscriptionId === null ? null : await gather(tx, subscriptionId, (state) => next(state, known))
  const organizationId = subscription?.organizationId ?? null
  const payment = await tx.db.paymentEvent.update({
    where: { id: event.id },
    data: { organizationId, objectId: subscriptionId, ...outcomeOf(event, subscription) },
  })
  // Events that came before the one that says whose the subscription is, or what it costs, are matched by it.
  if ((named !== null || fact.tier !== null) && subscriptionId !== null) await judgeAgain(tx, subscriptionId)
  await applyWaiting(tx, references)
  return payment
}

/** Keeps what belongs to what. */
async function learn({ db }: Context, references: readonly Reference[]): Promise<void> {
  for (const { id, ...data } of references) {
    if (data.parentId === null && data.subscriptionId === null) continue
    await db.paymentReference.upsert({ where: { id }, create: { id, ...data }, update: data })
  }
}

/** The subscription of an event, and the invoice; where it names none, by what is known of its payment. */
async function traced(
  { db }: Context,
  { subscriptionId, fact, references }: StripeEvent,
): Promise<{ subscriptionId: string | null; invoiceId: string | null }> {
  if (subscriptionId !== null || references.length === 0) return { subscriptionId, invoiceId: fact.invoiceId }
  let ids = references.map(({ id }) => id)
  // A charge belongs to a payment, and that to an invoice.
  for (let level = 0; level < 3 && ids.length > 0; level += 1) {
    const found = await db.paymentReference.findMany({ where: { id: { in: ids } } })
    const invoice = found.find((each) => each.subscriptionId !== null)
    if (invoice !== undefined) return { subscriptionId: invoice.subscriptionId, invoiceId: invoice.id }
    ids = found.map(({ parentId }) => parentId).filter((id) => id !== null)
  }
  return { subscriptionId: null, invoiceId: null }
}

/** Applies events that came before what says which subscription they are about. */
async function applyWaiting(tx: Context, references: readonly Reference[]): Promise<void> {
  const ids = new Set(references.map(({ id }) => id))
  let below = [...ids]
  while (below.length > 0) {
    const children = await tx.db.paymentReference.findMany({ where: { parentId: { in: below } } })
    below = children.map(({ id }) => id).filter((id) => !ids.has(id))
    for (const id of below) ids.add(id)
  }
  if (ids.size === 0) return
  const waiting = await tx.db.paymentEvent.findMany({
    where: { provider: 'STRIPE', objectId: null, assignedAt: null, references: { hasSome: [...ids] } },
  })
  for (const { payload } of waiting) {
    const event = readStripeEvent(payload, tx.config)
    if (event === null || (await traced(tx, event)).subscriptionId === null) continue
    await apply(tx, event)
  }
}

type Judgement = Pick<PaymentEvent, 'outcome' | 'reason'>

const unmatched = (reason: UnmatchedReason): Judgement => ({ outcome: 'UNMATCHED', reason })
const ignored: Judgement = { outcome: 'IGNORED', reason: null }

/** What comes of an event by whose its subscription is. Whatever is not about a subscription is about nothing we sell. */
function outcomeOf(event: StripeEvent, subscription: PaidSubscription | null): Judgement {
  if (subscription === null) return outcomeWithout(event)
  const { hasReference, price, fact } = event
  if (subscription.organizationId === null) {
    if (!isCheckout(event)) return unmatched('UNKNOWN_SUBSCRIPTION')
    return unmatched(hasReference ? 'UNKNOWN_ORGANIZATION' : 'NO_REFERENCE')
  }
  // A checkout has only a sum; the subscription and its invoices say what it is made of.
  const isPriced = fact.tier !== null || (isCheckout(event) && stateOf(subscription).tier !== null)
  if (price !== null && !isPriced && !isAboutMoneyBack(event)) return unmatched('UNKNOWN_AMOUNT')
  return { outcome: 'APPLIED', reason: null }
}

/** What comes of an event that is about no subscription, or about one that is not known yet. */
function outcomeWithout(event: StripeEvent): Judgement {
  if (isAboutMoneyBack(event) && event.fact.kind === 'taken') return unmatched('UNKNOWN_SUBSCRIPTION')
  return isCheckout(event) && event.price !== null ? unmatched('NO_SUBSCRIPTION') : ignored
}

const isCheckout = ({ type }: StripeEvent) => type.startsWith('checkout.')
const isAboutMoneyBack = ({ type }: StripeEvent) => type.startsWith('charge.')

/** Matches the events of a subscription that could not be matched before it was known whose it is, or what it costs. */
async function judgeAgain(tx: Context, subscriptionId: string): Promise<void> {
  const subscription = await tx.db.paidSubscription.findUniqueOrThrow({ where: { id: subscriptionId } })
  const { organizationId } = subscription
  if (organizationId === null) return
  const waiting = await tx.db.paymentEvent.findMany({
    where: { objectId: subscriptionId, provider: 'STRIPE', outcome: 'UNMATCHED' },
  })
  for (const { id, payload } of waiting) {
    const event = readStripeEvent(payload, tx.config)
    if (event === null) continue
    await tx.db.paymentEvent.update({ where: { id }, data: { organizationId, ...outcomeOf(event, subscription) } })
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
  const data = { id, state: asJson(unknownSubscription), isOwn: false, createdAt: tx.now() }
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
      isOwn: state.isOwn,
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
  return owner === before.organizationId ? owner : organizationNamed(tx, owner)
}

async function organizationNamed(tx: Context, id: string | null): Promise<string | null> {
  return id !== null && (await isOrganization(tx, id)) ? id : null
}

async function isOrganization({ db }: Context, id: string): Promise<boolean> {
  if (typeOfId(id) !== 'Organization') return false
  return (await db.organization.findUnique({ where: { id }, select: { id: true } })) !== null
}

/** The column is JSON, and only `gather` writes it. */
const stateOf = ({ state, isOwn }: PaidSubscription): SubscriptionState => ({
  // What older versions have gathered says nothing of some things.
  ...{ ...unknownSubscription, isOwn },
  ...(state as unknown as SubscriptionState),
})
const asJson = (state: SubscriptionState) => state as unknown as Prisma.InputJsonObject
