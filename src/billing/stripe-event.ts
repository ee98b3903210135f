import { z } from 'zod'
import type { Config } from '../config.ts'
import { Invalid } from '../errors.ts'
import { SubscriptionStatus } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import type { Interval, Money, Price } from './price.ts'
import { tierOfPrices, totalOf } from './price.ts'
import type { SubscriptionFact } from './subscription.ts'

/**
 * Reads the payment provider's events, in the shapes of its present API version and of those before 2025-03-31, in which
 * an invoice names its subscription and a subscription its period at the top. Which one comes depends on the endpoint as the
 * operator has set it up: https://docs.stripe.com/changelog/basil.
 */

/** An event that bears on tiers, as far as we read it. */
export interface StripeEvent {
  readonly id: string
  readonly type: HandledType
  readonly createdAt: Date
  /** The subscription it is about; null: none, as of a single payment. */
  readonly subscriptionId: string | null
  /** What is paid, or is to be paid a month; null when the event does not say. */
  readonly price: Money | null
  readonly email: string | null
  /** Whether the payer's link carried a reference at all, also one that is no organization's id. */
  readonly hasReference: boolean
  /** What it says about the subscription; also of events that are about none. */
  readonly fact: SubscriptionFact
  /** The invoice, payments and charges that it names, each with the one above it: they lead to a subscription. */
  readonly references: readonly Reference[]
}

/** Something of the provider's, and what it belongs to: a charge to a payment, a payment to an invoice. */
export interface Reference {
  readonly id: string
  readonly parentId: string | null
  /** Of an invoice: the subscription that it is for. */
  readonly subscriptionId: string | null
}

/**
 * The events of the specification (§6), those of the checkouts whose payment takes days to go through, and those of money
 * that goes back, with what says which invoice it had paid.
 */
const handledTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice_payment.paid',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.closed',
] as const

export type HandledType = (typeof handledTypes)[number]

/** Ids go to the database, which cannot hold every text. */
const providerId = z.string().regex(/^[\w.-]{1,255}$/)
const epoch = z.int().min(0).max(99_999_999_999)
const currency = z
  .string()
  .regex(/^[a-z]{3}$/i)
  .toLowerCase()
/** What the column holds: an amount that is larger is no tier's price. */
const LARGEST = 2_147_483_647
const DAY_SECONDS = 86_400
const amount = z.int()

/** An object, or only its id; what is neither is no reference to it. */
const reference = z
  .union([providerId, z.looseObject({ id: providerId }).transform(({ id }) => id)])
  .nullish()
  .catch(null)

/** A field that is not as expected is taken for one that is not there: providers add and move fields. */
const maybe = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null)

const envelope = z.looseObject({
  id: providerId,
  type: z.string().max(255),
  object: z.literal('event').optional(),
  created: epoch,
  data: z.looseObject({ object: z.looseObject({}) }),
})

const session = z.looseObject({
  id: maybe(providerId),
  mode: maybe(z.string()),
  client_reference_id: maybe(z.string()),
  payment_status: maybe(z.string()),
  subscription: reference,
  invoice: reference,
  amount_subtotal: maybe(amount),
  amount_total: maybe(amount),
  currency: maybe(currency),
  customer_email: maybe(z.string().max(320)),
  customer_details: maybe(z.looseObject({ email: maybe(z.string().max(320)) })),
})

const recurring = { interval: maybe(z.string()), interval_count: maybe(z.int()) }
const price = maybe(
  z.looseObject({
    unit_amount: maybe(amount),
    amount: maybe(amount),
    currency: maybe(currency),
    recurring: maybe(z.looseObject(recurring)),
    ...recurring,
  }),
)

const subscription = z.looseObject({
  id: providerId,
  status: z.string(),
  currency: maybe(currency),
  cancel_at_period_end: maybe(z.boolean()),
  cancel_at: maybe(epoch),
  current_period_end: maybe(epoch),
  pause_collection: maybe(z.looseObject({ behavior: maybe(z.string()) })),
  plan: price,
  quantity: maybe(z.int()),
  items: maybe(
    z.looseObject({
      data: z.array(z.looseObject({ price, plan: price, quantity: maybe(z.int()), current_period_end: maybe(epoch) })),
    }),
  ),
})

const line = z.looseObject({
  amount: maybe(amount),
  type: maybe(z.string()),
  proration: maybe(z.boolean()),
  quantity: maybe(z.int()),
  period: maybe(z.looseObject({ start: maybe(epoch), end: maybe(epoch) })),
  price,
  plan: price,
  parent: maybe(
    z.looseObject({
      type: maybe(z.string()),
      subscription_item_details: maybe(z.looseObject({ proration: maybe(z.boolean()) })),
    }),
  ),
})

const paidBy = { payment_intent: reference, charge: reference }
const invoice = z.looseObject({
  id: maybe(providerId),
  ...paidBy,
  payments: maybe(z.looseObject({ data: z.array(z.looseObject({ payment: maybe(z.looseObject(paidBy)) })) })),
  billing_reason: maybe(z.string()),
  subscription: reference,
  parent: maybe(z.looseObject({ subscription_details: maybe(z.looseObject({ subscription: reference })) })),
  subtotal: maybe(amount),
  amount_paid: maybe(amount),
  currency: maybe(currency),
  customer_email: maybe(z.string().max(320)),
  lines: maybe(z.looseObject({ data: z.array(line), has_more: maybe(z.boolean()) })),
})

const invoicePayment = z.looseObject({ invoice: reference, payment: maybe(z.looseObject(paidBy)) })

const charge = z.looseObject({
  id: providerId,
  amount: maybe(amount),
  amount_refunded: maybe(amount),
  refunded: maybe(z.boolean()),
  currency: maybe(currency),
  invoice: reference,
  payment_intent: reference,
  billing_details: maybe(z.looseObject({ email: maybe(z.string().max(320)) })),
})

const dispute = z.looseObject({
  id: providerId,
  amount: maybe(amount),
  currency: maybe(currency),
  status: maybe(z.string()),
  charge: reference,
  payment_intent: reference,
})

/**
 * Reads the body of a delivery. Gives null for an event of a type that is not handled.
 * @throws Invalid `INVALID_PAYLOAD` when it is no event of the provider.
 */
export function readStripeEvent(body: string, config: Config): StripeEvent | null {
  const event = parse(envelope, parseJson(body))
  const type = handledTypes.find((handled) => handled === event.type)
  if (type === undefined) return null
  const { object } = event.data
  const said = readObject(type, object)
  const { subscriptionId, price, prices, email, reference, references = [], ...about } = said
  return {
    id: event.id,
    type,
    createdAt: new Date(event.created * 1000),
    subscriptionId,
    price: price === undefined ? boundedTotal(prices) : price,
    email: printable(email),
    hasReference: reference !== null,
    references,
    fact: {
      ...nothingSaid,
      eventId: event.id,
      at: event.created,
      tier: tierOfPrices(prices, config),
      organizationId: reference !== null && typeOfId(reference) === 'Organization' ? reference : null,
      ...about,
    },
  }
}

function readObject(type: HandledType, object: object): Said {
  if (type.startsWith('checkout.')) return readSession(parse(session, object), type)
  if (type.startsWith('invoice.')) return readInvoice(parse(invoice, object), type)
  if (type.startsWith('charge.dispute.')) return readDispute(parse(dispute, object), type)
  if (type === 'charge.refunded') return readCharge(parse(charge, object))
  if (type === 'invoice_payment.paid') return readInvoicePayment(parse(invoicePayment, object))
  return readSubscription(parse(subscription, object), type)
}

const nothingSaid = {
  kind: 'begun',
  status: null,
  periodEnd: null,
  cancelAtEnd: null,
  isResting: null,
  isOwn: false,
  invoiceId: null,
  isPeriod: false,
  claimId: null,
} as const

/** What an event says; what is left out it does not say. */
type Said = Partial<Omit<SubscriptionFact, 'eventId' | 'at' | 'tier' | 'organizationId'>> &
  Pick<StripeEvent, 'subscriptionId' | 'email'> & {
    readonly prices: readonly Price[]
    /** What it is about, where that is not the sum of the prices. */
    readonly price?: Money | null
    readonly reference: string | null
    readonly references?: readonly Reference[]
  }

/**
 * The price is the amount before coupons and taxes, for the operator's coupons and the payer's country change what is paid
 * and not what is bought. A checkout whose payment takes days is completed as unpaid.
 */
function readSession(said: z.infer<typeof session>, type: HandledType): Said {
  const settled = said.payment_status === 'paid' || said.payment_status === 'no_payment_required'
  const failed = type === 'checkout.session.async_payment_failed'
  const subscriptionId = said.subscription ?? (isSingle(said) ? null : (said.id ?? null))
  return {
    kind: failed ? 'failed' : settled ? 'paid' : 'begun',
    subscriptionId,
    prices: priced(said.amount_subtotal ?? said.amount_total, said.currency, null),
    email: said.customer_details?.email ?? said.customer_email ?? null,
    reference: said.client_reference_id || null,
    references: subscriptionId === null ? [] : invoiceReferences(said.invoice, subscriptionId),
    invoiceId: said.invoice ?? null,
    isPeriod: true,
  }
}

/** A payment link of the wrong kind sells a thing once; a session that does not say is taken for its own subscription. */
function isSingle({ mode }: z.infer<typeof session>): boolean {
  return mode === 'payment' || mode === 'setup'
}

function readSubscription(said: z.infer<typeof subscription>, type: HandledType): Said {
  const items = said.items?.data ?? []
  const each = items.length > 0 ? items : [{ plan: said.plan, price: null, quantity: said.quantity }]
  const prices = each.flatMap((item) => recurringPrice(item.price ?? item.plan, item.quantity, said.currency))
  const ends = [...items.map((item) => item.current_period_end), said.current_period_end].find((end) => end != null)
  return {
    kind: 'stated',
    status: type === 'customer.subscription.deleted' ? 'CANCELED' : statusNamed(said.status),
    subscriptionId: said.id,
    prices,
    email: null,
    reference: null,
    periodEnd: ends ?? null,
    cancelAtEnd: said.cancel_at_period_end === true || said.cancel_at != null,
    isResting: said.pause_collection?.behavior === 'void',
  }
}

/**
 * The price of an invoice is that of the full periods on it: what a change in the middle of a period adds and takes off is
 * the price of no tier, and an invoice of nothing else names none.
 */
function readInvoice(said: z.infer<typeof invoice>, type: HandledType): Said {
  const lines = said.lines?.data ?? []
  const periods = lines.filter((each) => isSubscriptionLine(each) && !isProration(each))
  const isWhole = lines.length > 0 && said.lines?.has_more !== true
  const ends = periods.map((each) => each.period?.end).filter((end) => end != null)
  const subscriptionId = said.subscription ?? said.parent?.subscription_details?.subscription ?? null
  const isChange = said.billing_reason === 'subscription_update'
  return {
    kind: type === 'invoice.paid' ? 'paid' : 'failed',
    subscriptionId,
    prices: isWhole
      ? periods.flatMap((each) => linePrice(each, said.currency))
      : isChange
        ? []
        : priced(said.subtotal ?? said.amount_paid, said.currency, null),
    email: said.customer_email ?? null,
    reference: null,
    periodEnd: ends.length === 0 ? null : Math.max(...ends),
    invoiceId: said.id ?? null,
    isPeriod: isWhole ? periods.length > 0 : !isChange,
    references: [
      ...(subscriptionId === null ? [] : invoiceReferences(said.id, subscriptionId)),
      ...[said, ...(said.payments?.data ?? []).map(({ payment }) => payment)].flatMap((paidBy) =>
        paymentReferences(paidBy, said.id),
      ),
    ],
  }
}

/** Says only which payment has paid which invoice: since 2025-03-31 charges do not. */
function readInvoicePayment({ invoice, payment }: z.infer<typeof invoicePayment>): Said {
  const references = paymentReferences(payment, invoice)
  return { subscriptionId: null, prices: [], email: null, reference: null, references }
}

/** A refund in full takes back what was paid; one in part is the operator's kindness, and changes nothing. */
function readCharge(said: z.infer<typeof charge>): Said {
  const isFull =
    said.refunded ?? ((said.amount_refunded ?? 0) > 0 && (said.amount_refunded ?? 0) >= (said.amount ?? Infinity))
  return {
    kind: isFull ? 'taken' : 'begun',
    subscriptionId: null,
    prices: [],
    price: money(said.amount_refunded ?? said.amount, said.currency),
    email: said.billing_details?.email ?? null,
    reference: null,
    claimId: said.id,
    references: [
      { id: said.id, parentId: said.invoice ?? said.payment_intent ?? null, subscriptionId: null },
      ...paymentReferences({ payment_intent: said.payment_intent }, said.invoice),
    ],
  }
}

/** The provider takes the money at once when a dispute begins, and gives it back when it is won. An inquiry takes none. */
function readDispute(said: z.infer<typeof dispute>, type: HandledType): Said {
  const isInquiry = said.status?.startsWith('warning_') === true
  const isOver = type === 'charge.dispute.closed'
  return {
    kind: isInquiry || (isOver && said.status !== 'lost') ? 'kept' : 'taken',
    subscriptionId: null,
    prices: [],
    price: money(said.amount, said.currency),
    email: null,
    reference: null,
    claimId: said.id,
    references: [
      ...paymentReferences({ payment_intent: said.payment_intent }, null),
      ...(said.charge == null
        ? []
        : [{ id: said.charge, parentId: said.payment_intent ?? null, subscriptionId: null }]),
    ],
  }
}

function invoiceReferences(id: string | null | undefined, subscriptionId: string): Reference[] {
  return id == null ? [] : [{ id, parentId: null, subscriptionId }]
}

/** What an invoice was paid by. */
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

type Line = z.infer<typeof line>

function isSubscriptionLine({ type, parent }: Line): boolean {
  return ['subscription_item_details', 'subscription'].includes(parent?.type ?? type ?? 'subscription')
}

function isProration({ proration, parent }: Line): boolean {
  return (parent?.subscription_item_details?.proration ?? proration) === true
}

/** The price of an item of a subscription. */
function recurringPrice(
  each: z.infer<typeof price>,
  quantity: number | null | undefined,
  currency: string | null | undefined,
): Price[] {
  const { interval, interval_count } = each?.recurring ?? each ?? {}
  return priced(
    each?.unit_amount ?? each?.amount,
    each?.currency ?? currency,
    intervalOf(interval, interval_count),
    quantity,
  )
}

/** The price of a line of an invoice, for one of what it is for; its interval is that of the price, or else of the period. */
function linePrice({ amount, quantity, period, price, plan }: Line, currency: string | null | undefined): Price[] {
  const { interval, interval_count } = price?.recurring ?? plan ?? {}
  const count = quantity != null && quantity > 1 && amount != null && amount % quantity === 0 ? quantity : 1
  const unit = amount == null ? amount : amount / count
  return priced(
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

/** The interval of a period of whole months; null for one that is shorter, as the first one may be. */
function intervalBetween(start: number | null | undefined, end: number | null | undefined): Interval | null {
  const days = (end ?? 0) / DAY_SECONDS - (start ?? 0) / DAY_SECONDS
  if (start == null || end == null || days < 27) return null
  return days < 33 ? 'month' : days >= 360 && days < 372 ? 'year' : 'other'
}

/** Nothing is the price of nothing: what is free, as in a time of trial, does not say what it will cost. */
function priced(
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
  return !amount || Math.abs(amount) > LARGEST || currency == null ? null : { amount, currency }
}

/** What is kept of an event: the sum of its prices, as far as the column holds it. */
function boundedTotal(prices: readonly Price[]): Money | null {
  const total = totalOf(prices)
  return total === null ? null : money(total.amount, total.currency)
}

/** Statuses that the provider may add are unknown to us, and change nothing. */
function statusNamed(name: string): SubscriptionStatus | null {
  return Object.values(SubscriptionStatus).find((status) => status.toLowerCase() === name) ?? null
}

/** What the database can hold of a text that a payer has typed. */
function printable(text: string | null): string | null {
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
  throw new Invalid('INVALID_PAYLOAD', 'The body is no event of the payment provider.')
}
