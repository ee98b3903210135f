import { z } from 'zod'
import type { Config } from '../../core/config.ts'
import { Invalid } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { SubscriptionStatus } from '../../generated/prisma/enums.ts'
import type { Interval, Money, PaidTier, Price } from '../price.ts'
import { tierOfPrices, totalOf } from '../price.ts'
import type { Statement, SubscriptionFact } from './subscription.ts'

/**
 * Parses Stripe events in the shape of the current API version and of versions before 2025-03-31. In the older ones, an
 * invoice names its subscription, and a subscription its period, at the top level. The operator's webhook endpoint
 * determines the version: https://docs.stripe.com/changelog/basil.
 */

/** The parts of a Stripe event that affect tiers. */
export interface StripeEvent {
  readonly id: string
  readonly type: HandledType
  readonly createdAt: Date
  /** The id of its subscription; null for an event without one, such as a one-time payment. */
  readonly subscriptionId: string | null
  /** The amount paid or due; null when the event does not contain one. */
  readonly price: Money | null
  readonly email: string | null
  /** Whether the payment link carried a reference, which may not be the id of an organization. */
  readonly hasReference: boolean
  /** The facts about the subscription; set even without a subscription. */
  readonly fact: SubscriptionFact
  /** The invoice, payments and charges that it names, each with its parent. They lead to a subscription. */
  readonly references: readonly Reference[]
}

/** A Stripe object and its parent: a charge belongs to a payment, a payment to an invoice. */
export interface Reference {
  readonly id: string
  readonly parentId: string | null
  /** The subscription of an invoice; otherwise null. */
  readonly subscriptionId: string | null
}

/**
 * The events of the specification (§6), and those of checkouts with delayed payment methods, of new subscriptions (which
 * alone report a trial), of refunds and disputes, and of payments of invoices.
 */
const handledTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice_payment.paid',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
] as const

type HandledType = (typeof handledTypes)[number]

/** Restricts ids to texts that the database can store. */
const providerIdSchema = z.string().regex(/^[\w.-]{1,255}$/)
const epochSchema = z.int().min(0).max(99_999_999_999)
const currencySchema = z
  .string()
  .regex(/^[a-z]{3}$/i)
  .toLowerCase()
/** The maximum of the column. A larger amount is not the price of a tier. */
const MAX_AMOUNT = 2_147_483_647
const DAY_SECONDS = 86_400
const amountSchema = z.int()

/** Parses an object or its id; any other value gives null. */
const referenceSchema = z
  .union([providerIdSchema, z.looseObject({ id: providerIdSchema }).transform(({ id }) => id)])
  .nullish()
  .catch(null)

/** Treats an unexpected value as a missing field, because providers add and move fields. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null)

const typeSchema = z.looseObject({ type: z.string() })
const envelopeSchema = z.looseObject({
  id: providerIdSchema,
  object: z.literal('event').optional(),
  created: epochSchema,
  data: z.looseObject({ object: z.looseObject({}), previous_attributes: optional(z.looseObject({})) }),
})

const sessionSchema = z.looseObject({
  id: optional(providerIdSchema),
  mode: optional(z.string()),
  client_reference_id: optional(z.string()),
  payment_status: optional(z.string()),
  subscription: referenceSchema,
  invoice: referenceSchema,
  amount_subtotal: optional(amountSchema),
  amount_total: optional(amountSchema),
  currency: optional(currencySchema),
  customer_email: optional(z.string().max(320)),
  customer_details: optional(z.looseObject({ email: optional(z.string().max(320)) })),
})

const recurring = { interval: optional(z.string()), interval_count: optional(z.int()) }
const priceSchema = optional(
  z.looseObject({
    unit_amount: optional(amountSchema),
    amount: optional(amountSchema),
    currency: optional(currencySchema),
    recurring: optional(z.looseObject(recurring)),
    ...recurring,
  }),
)

const subscriptionSchema = z.looseObject({
  id: providerIdSchema,
  status: z.string(),
  currency: optional(currencySchema),
  cancel_at_period_end: optional(z.boolean()),
  cancel_at: optional(epochSchema),
  current_period_end: optional(epochSchema),
  pause_collection: optional(z.looseObject({ behavior: optional(z.string()) })),
  plan: priceSchema,
  quantity: optional(z.int()),
  items: optional(
    z.looseObject({
      data: z.array(
        z.looseObject({
          price: priceSchema,
          plan: priceSchema,
          quantity: optional(z.int()),
          current_period_end: optional(epochSchema),
        }),
      ),
    }),
  ),
})

const lineSchema = z.looseObject({
  amount: optional(amountSchema),
  type: optional(z.string()),
  proration: optional(z.boolean()),
  quantity: optional(z.int()),
  period: optional(z.looseObject({ start: optional(epochSchema), end: optional(epochSchema) })),
  price: priceSchema,
  plan: priceSchema,
  parent: optional(
    z.looseObject({
      type: optional(z.string()),
      subscription_item_details: optional(z.looseObject({ proration: optional(z.boolean()) })),
    }),
  ),
})

const paidBy = { payment_intent: referenceSchema, charge: referenceSchema }
const invoiceSchema = z.looseObject({
  id: optional(providerIdSchema),
  ...paidBy,
  payments: optional(z.looseObject({ data: z.array(z.looseObject({ payment: optional(z.looseObject(paidBy)) })) })),
  billing_reason: optional(z.string()),
  subscription: referenceSchema,
  parent: optional(z.looseObject({ subscription_details: optional(z.looseObject({ subscription: referenceSchema })) })),
  subtotal: optional(amountSchema),
  amount_paid: optional(amountSchema),
  currency: optional(currencySchema),
  customer_email: optional(z.string().max(320)),
  lines: optional(z.looseObject({ data: z.array(lineSchema), has_more: optional(z.boolean()) })),
})

const invoicePaymentSchema = z.looseObject({ invoice: referenceSchema, payment: optional(z.looseObject(paidBy)) })

const chargeSchema = z.looseObject({
  id: providerIdSchema,
  amount: optional(amountSchema),
  amount_refunded: optional(amountSchema),
  refunded: optional(z.boolean()),
  currency: optional(currencySchema),
  invoice: referenceSchema,
  payment_intent: referenceSchema,
  billing_details: optional(z.looseObject({ email: optional(z.string().max(320)) })),
})

const disputeSchema = z.looseObject({
  id: providerIdSchema,
  amount: optional(amountSchema),
  currency: optional(currencySchema),
  status: optional(z.string()),
  charge: referenceSchema,
  payment_intent: referenceSchema,
})

/**
 * Parses the body of a webhook request. Returns null for an event type that we do not handle, whatever else it contains:
 * Stripe disables an endpoint that refuses events.
 * @throws Invalid `INVALID_PAYLOAD` when the body is not a Stripe event.
 */
export function readStripeEvent(body: string, config: Config): StripeEvent | null {
  const json = parseJson(body)
  const { type: name } = parse(typeSchema, json)
  const type = handledTypes.find((handled) => handled === name)
  if (type === undefined) return null
  const event = parse(envelopeSchema, json)
  const { object, previous_attributes: previous } = event.data
  const fields = readObject(type, object)
  const { subscriptionId, price, items, email, reference, references = [], ...about } = fields
  const prices = pricesOf(items)
  const total = boundedTotal(prices)
  return {
    id: event.id,
    type,
    createdAt: new Date(event.created * 1000),
    subscriptionId,
    price: price === undefined ? total : price,
    email: storableText(email),
    hasReference: reference !== null,
    references,
    fact: {
      ...EMPTY_FACT,
      eventId: event.id,
      at: event.created,
      tier: tierOfPrices(prices, config),
      price: total,
      isAssumed: about.kind !== 'stated' && prices.some(({ interval }) => interval === null),
      periodEnd: periodEndOf(items, config),
      organizationId: reference !== null && typeOfId(reference) === 'Organization' ? reference : null,
      before: about.kind === 'stated' && previous != null ? statementBefore(object, previous, config) : null,
      ...about,
    },
  }
}

/** Returns what an event says about the subscription before the change that it reports; null: nothing that can be read. */
function statementBefore(object: object, previous: object, config: Config): Statement | null {
  const parsed = subscriptionSchema.safeParse({ ...object, ...previous })
  if (!parsed.success) return null
  const {
    status = null,
    items,
    cancelAtEnd,
    isResting,
  } = readSubscription(parsed.data, 'customer.subscription.updated')
  return {
    status,
    price: boundedTotal(pricesOf(items)),
    periodEnd: periodEndOf(items, config),
    cancelAtEnd: cancelAtEnd === true,
    isResting: isResting === true,
  }
}

/** What is paid for, with the end of its period in epoch seconds. */
interface PaidItem {
  readonly prices: readonly Price[]
  readonly end: number | null
}

const pricesOf = (items: readonly PaidItem[]) => items.flatMap(({ prices }) => prices)

/**
 * Returns the end of the period of the item whose price alone buys the tier; otherwise, the earliest end, when the first
 * part of the sum has to be paid again.
 */
function periodEndOf(items: readonly PaidItem[], config: Config): number | null {
  const tier: PaidTier | null = tierOfPrices(pricesOf(items), config)
  const endsOf = (some: readonly PaidItem[]) => some.map(({ end }) => end).filter((end) => end !== null)
  const ofTier = endsOf(items.filter(({ prices }) => tier !== null && tierOfPrices(prices, config) === tier))
  if (ofTier.length > 0) return Math.max(...ofTier)
  const ends = endsOf(items)
  return ends.length === 0 ? null : Math.min(...ends)
}

function readObject(type: HandledType, object: object): EventFields {
  if (type.startsWith('checkout.')) return readSession(parse(sessionSchema, object), type)
  if (type.startsWith('invoice.')) return readInvoice(parse(invoiceSchema, object), type)
  if (type.startsWith('charge.dispute.')) return readDispute(parse(disputeSchema, object), type)
  if (type === 'charge.refunded') return readCharge(parse(chargeSchema, object))
  if (type === 'invoice_payment.paid') return readInvoicePayment(parse(invoicePaymentSchema, object))
  return readSubscription(parse(subscriptionSchema, object), type)
}

const EMPTY_FACT = {
  kind: 'pending',
  status: null,
  cancelAtEnd: null,
  isResting: null,
  isOwn: false,
  invoiceId: null,
  isPeriod: false,
  claimId: null,
} as const

/** The fields of an event. A field that is not in the event is omitted. */
type EventFields = Partial<
  Omit<SubscriptionFact, 'eventId' | 'at' | 'tier' | 'price' | 'isAssumed' | 'periodEnd' | 'organizationId' | 'before'>
> &
  Pick<StripeEvent, 'subscriptionId' | 'email'> & {
    readonly items: readonly PaidItem[]
    /** The amount of the event, if it is not the sum of the prices. */
    readonly price?: Money | null
    readonly reference: string | null
    readonly references?: readonly Reference[]
  }

/**
 * Reads a checkout session. The price is the amount before coupons and taxes, which change the amount paid but not
 * the product. A checkout with a delayed payment method completes as unpaid.
 */
function readSession(session: z.infer<typeof sessionSchema>, type: HandledType): EventFields {
  const settled = session.payment_status === 'paid' || session.payment_status === 'no_payment_required'
  const failed = type === 'checkout.session.async_payment_failed'
  const subscriptionId = session.subscription ?? (isOneTimePayment(session) ? null : (session.id ?? null))
  return {
    kind: failed ? 'failed' : settled ? 'paid' : 'pending',
    subscriptionId,
    items: [{ prices: toPrices(session.amount_subtotal ?? session.amount_total, session.currency, null), end: null }],
    email: session.customer_details?.email ?? session.customer_email ?? null,
    reference: session.client_reference_id || null,
    references: subscriptionId === null ? [] : invoiceReferences(session.invoice, subscriptionId),
    invoiceId: session.invoice ?? null,
    isPeriod: true,
  }
}

/** Returns whether a session is a one-time payment. A session without a mode counts as its own subscription. */
function isOneTimePayment({ mode }: z.infer<typeof sessionSchema>): boolean {
  return mode === 'payment' || mode === 'setup'
}

function readSubscription(subscription: z.infer<typeof subscriptionSchema>, type: HandledType): EventFields {
  const items = subscription.items?.data ?? []
  const { plan, quantity } = subscription
  const each = items.length > 0 ? items : [{ plan, price: null, quantity, current_period_end: null }]
  const { currency, current_period_end: commonEnd } = subscription
  return {
    kind: 'stated',
    status: type === 'customer.subscription.deleted' ? 'CANCELED' : parseStatus(subscription.status),
    subscriptionId: subscription.id,
    items: each.map((item) => ({
      prices: recurringPrice(item.price ?? item.plan, item.quantity, currency),
      end: item.current_period_end ?? commonEnd ?? null,
    })),
    email: null,
    reference: null,
    cancelAtEnd: subscription.cancel_at_period_end === true || subscription.cancel_at != null,
    isResting: subscription.pause_collection?.behavior === 'void',
  }
}

/**
 * Why Stripe makes an invoice for a period, also in the names of old versions; an invoice for another reason is for a
 * change, or was made by hand: https://docs.stripe.com/api/invoices/object#invoice_object-billing_reason
 */
const PERIOD_REASONS: ReadonlySet<string> = new Set(['subscription', 'subscription_create', 'subscription_cycle'])

/**
 * Reads an invoice. Its price covers only full periods: prorations are not the price of a tier, and an invoice with
 * only prorations has no price.
 */
function readInvoice(invoice: z.infer<typeof invoiceSchema>, type: HandledType): EventFields {
  const lines = invoice.lines?.data ?? []
  const periods = lines.filter((each) => isSubscriptionLine(each) && !isProration(each))
  const isWhole = lines.length > 0 && invoice.lines?.has_more !== true
  const subscriptionId = invoice.subscription ?? invoice.parent?.subscription_details?.subscription ?? null
  const isForPeriod = invoice.billing_reason == null || PERIOD_REASONS.has(invoice.billing_reason)
  const total = isForPeriod ? toPrices(invoice.subtotal ?? invoice.amount_paid, invoice.currency, null) : []
  return {
    kind: type === 'invoice.paid' ? 'paid' : 'failed',
    subscriptionId,
    items: isWhole
      ? periods.map((each) => ({ prices: linePrice(each, invoice.currency), end: each.period?.end ?? null }))
      : [{ prices: total, end: latestEnd(periods) }],
    email: invoice.customer_email ?? null,
    reference: null,
    invoiceId: invoice.id ?? null,
    isPeriod: isWhole ? periods.length > 0 : isForPeriod,
    references: [
      ...(subscriptionId === null ? [] : invoiceReferences(invoice.id, subscriptionId)),
      ...[invoice, ...(invoice.payments?.data ?? []).map(({ payment }) => payment)].flatMap((paidBy) =>
        paymentReferences(paidBy, invoice.id),
      ),
    ],
  }
}

/** Reads which payment paid which invoice. Since 2025-03-31, charges do not contain this. */
function readInvoicePayment({ invoice, payment }: z.infer<typeof invoicePaymentSchema>): EventFields {
  const references = paymentReferences(payment, invoice)
  return { subscriptionId: null, items: [], email: null, reference: null, references }
}

/** Reads a refund. A full refund reverses the payment; a partial refund changes nothing. */
function readCharge(charge: z.infer<typeof chargeSchema>): EventFields {
  const isFull =
    charge.refunded ??
    ((charge.amount_refunded ?? 0) > 0 && (charge.amount_refunded ?? 0) >= (charge.amount ?? Infinity))
  return {
    kind: isFull ? 'reversed' : 'pending',
    subscriptionId: null,
    items: [],
    price: money(charge.amount_refunded ?? charge.amount, charge.currency),
    email: charge.billing_details?.email ?? null,
    reference: null,
    claimId: charge.id,
    references: [
      { id: charge.id, parentId: charge.invoice ?? charge.payment_intent ?? null, subscriptionId: null },
      ...paymentReferences({ payment_intent: charge.payment_intent }, charge.invoice),
    ],
  }
}

/**
 * Reads a dispute. Stripe withdraws the money when a dispute opens, and returns it when we win. An inquiry withdraws
 * no money.
 */
function readDispute(dispute: z.infer<typeof disputeSchema>, type: HandledType): EventFields {
  const isInquiry = dispute.status?.startsWith('warning_') === true
  const isOver = type === 'charge.dispute.closed'
  return {
    kind: isInquiry || (isOver && dispute.status !== 'lost') ? 'retained' : 'reversed',
    subscriptionId: null,
    items: [],
    price: money(dispute.amount, dispute.currency),
    email: null,
    reference: null,
    claimId: dispute.id,
    references: [
      ...paymentReferences({ payment_intent: dispute.payment_intent }, null),
      ...(dispute.charge == null
        ? []
        : [{ id: dispute.charge, parentId: dispute.payment_intent ?? null, subscriptionId: null }]),
    ],
  }
}

function invoiceReferences(id: string | null | undefined, subscriptionId: string): Reference[] {
  return id == null ? [] : [{ id, parentId: null, subscriptionId }]
}

/** Returns the references of the payments of an invoice. */
function paymentReferences(
  paidBy:
    | { readonly payment_intent?: string | null | undefined; readonly charge?: string | null | undefined }
    | null
    | undefined,
  invoiceId: string | null | undefined,
): Reference[] {
  const ids = [paidBy?.payment_intent, paidBy?.charge].filter((id) => id != null)
  return ids.map((id) => ({ id, parentId: invoiceId ?? null, subscriptionId: null }))
}

type Line = z.infer<typeof lineSchema>

function latestEnd(lines: readonly Line[]): number | null {
  return lines.reduce<number | null>((latest, { period }) => Math.max(latest ?? 0, period?.end ?? 0) || latest, null)
}

function isSubscriptionLine({ type, parent }: Line): boolean {
  return ['subscription_item_details', 'subscription'].includes(parent?.type ?? type ?? 'subscription')
}

function isProration({ proration, parent }: Line): boolean {
  return (parent?.subscription_item_details?.proration ?? proration) === true
}

/** Returns the price of a subscription item. */
function recurringPrice(
  each: z.infer<typeof priceSchema>,
  quantity: number | null | undefined,
  currency: string | null | undefined,
): Price[] {
  const { interval, interval_count } = each?.recurring ?? each ?? {}
  return toPrices(
    each?.unit_amount ?? each?.amount,
    each?.currency ?? currency,
    intervalOf(interval, interval_count),
    quantity,
  )
}

/** Returns the unit price of an invoice line. Its interval is that of the price, or otherwise that of the period. */
function linePrice({ amount, quantity, period, price, plan }: Line, currency: string | null | undefined): Price[] {
  const { interval, interval_count } = price?.recurring ?? plan ?? {}
  const count = quantity != null && quantity > 1 && amount != null && amount % quantity === 0 ? quantity : 1
  const unit = amount == null ? amount : amount / count
  return toPrices(
    unit,
    currency,
    intervalOf(interval, interval_count) ?? intervalBetween(period?.start, period?.end),
    count,
  )
}

function intervalOf(interval: string | null | undefined, count: number | null | undefined): Interval | null {
  if (interval == null) return null
  const times = count ?? 1
  if ((interval === 'year' && times === 1) || (interval === 'month' && times === 12)) return 'year'
  return interval === 'month' && times === 1 ? 'month' : 'other'
}

/** Returns the interval of a period of whole months; null for a shorter one, such as a partial first period. */
function intervalBetween(start: number | null | undefined, end: number | null | undefined): Interval | null {
  const days = (end ?? 0) / DAY_SECONDS - (start ?? 0) / DAY_SECONDS
  if (start == null || end == null || days < 27) return null
  return days < 33 ? 'month' : days >= 360 && days < 372 ? 'year' : 'other'
}

/** Returns the price, or nothing for a zero amount, because a free trial does not reveal what the plan will cost. */
function toPrices(
  amount: number | null | undefined,
  currency: string | null | undefined,
  interval: Interval | null,
  quantity: number | null | undefined = 1,
): Price[] {
  const known = money(amount, currency)
  const count = quantity ?? 1
  return known === null || count < 1 ? [] : [{ ...known, interval, quantity: count }]
}

function money(amount: number | null | undefined, currency: string | null | undefined): Money | null {
  return !amount || Math.abs(amount) > MAX_AMOUNT || currency == null ? null : { amount, currency }
}

/** Returns the sum of the prices; null when it exceeds the column. */
function boundedTotal(prices: readonly Price[]): Money | null {
  const total = totalOf(prices)
  return total === null ? null : money(total.amount, total.currency)
}

/** Parses a status; null for a status that Stripe added later. */
function parseStatus(name: string): SubscriptionStatus | null {
  return Object.values(SubscriptionStatus).find((status) => status.toLowerCase() === name) ?? null
}

/** Returns a text from a payer; null: the database cannot store it. */
function storableText(text: string | null): string | null {
  return text === null || /\p{Cc}/u.test(text) ? null : text
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new Invalid('INVALID_PAYLOAD', 'The body is not valid JSON.')
  }
}

function parse<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Invalid('INVALID_PAYLOAD', 'The body is not a Stripe event.')
}
