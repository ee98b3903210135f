import { z } from 'zod'
import type { Config } from '../config.ts'
import { Invalid } from '../errors.ts'
import { SubscriptionStatus } from '../generated/prisma/enums.ts'
import { typeOfId } from '../id.ts'
import type { Money } from './price.ts'
import { tierOfPrice } from './price.ts'
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
}

/** The events of the specification (§6), and those of the checkouts whose payment takes days to go through. */
const handledTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.paid',
  'invoice.payment_failed',
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
  amount_subtotal: maybe(amount),
  amount_total: maybe(amount),
  currency: maybe(currency),
  customer_email: maybe(z.string().max(320)),
  customer_details: maybe(z.looseObject({ email: maybe(z.string().max(320)) })),
})

const price = maybe(z.looseObject({ unit_amount: maybe(amount), amount: maybe(amount), currency: maybe(currency) }))

const subscription = z.looseObject({
  id: providerId,
  status: z.string(),
  currency: maybe(currency),
  cancel_at_period_end: maybe(z.boolean()),
  cancel_at: maybe(epoch),
  current_period_end: maybe(epoch),
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
  period: maybe(z.looseObject({ end: maybe(epoch) })),
  parent: maybe(
    z.looseObject({
      type: maybe(z.string()),
      subscription_item_details: maybe(z.looseObject({ proration: maybe(z.boolean()) })),
    }),
  ),
})

const invoice = z.looseObject({
  billing_reason: maybe(z.string()),
  subscription: reference,
  parent: maybe(z.looseObject({ subscription_details: maybe(z.looseObject({ subscription: reference })) })),
  subtotal: maybe(amount),
  amount_paid: maybe(amount),
  currency: maybe(currency),
  customer_email: maybe(z.string().max(320)),
  lines: maybe(z.looseObject({ data: z.array(line), has_more: maybe(z.boolean()) })),
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
  const said = type.startsWith('checkout.')
    ? readSession(parse(session, object), type)
    : type.startsWith('invoice.')
      ? readInvoice(parse(invoice, object), type)
      : readSubscription(parse(subscription, object), type)
  const { subscriptionId, price, email, reference, ...about } = said
  return {
    id: event.id,
    type,
    createdAt: new Date(event.created * 1000),
    subscriptionId,
    price,
    email: printable(email),
    hasReference: reference !== null,
    fact: {
      eventId: event.id,
      at: event.created,
      tier: price === null ? null : tierOfPrice(price, config),
      organizationId: reference !== null && typeOfId(reference) === 'Organization' ? reference : null,
      ...about,
    },
  }
}

type Said = Pick<SubscriptionFact, 'kind' | 'status' | 'periodEnd' | 'cancelAtEnd'> &
  Pick<StripeEvent, 'subscriptionId' | 'price' | 'email'> & { readonly reference: string | null }

/**
 * The price is the amount before coupons and taxes, for the operator's coupons and the payer's country change what is paid
 * and not what is bought. A checkout whose payment takes days is completed as unpaid.
 */
function readSession(said: z.infer<typeof session>, type: HandledType): Said {
  const settled = said.payment_status === 'paid' || said.payment_status === 'no_payment_required'
  const failed = type === 'checkout.session.async_payment_failed'
  return {
    kind: failed ? 'failed' : settled ? 'paid' : 'begun',
    status: null,
    subscriptionId: said.subscription ?? (isSingle(said) ? null : (said.id ?? null)),
    price: money(said.amount_subtotal ?? said.amount_total, said.currency),
    email: said.customer_details?.email ?? said.customer_email ?? null,
    reference: said.client_reference_id || null,
    periodEnd: null,
    cancelAtEnd: null,
  }
}

/** A payment link of the wrong kind sells a thing once; a session that does not say is taken for its own subscription. */
function isSingle({ mode }: z.infer<typeof session>): boolean {
  return mode === 'payment' || mode === 'setup'
}

function readSubscription(said: z.infer<typeof subscription>, type: HandledType): Said {
  const items = said.items?.data ?? []
  const prices = items.map((item) => monthly(item.price ?? item.plan, item.quantity, said.currency))
  const [price = monthly(said.plan, said.quantity, said.currency), ...others] = prices
  const ends = [...items.map((item) => item.current_period_end), said.current_period_end].find((end) => end != null)
  return {
    kind: 'stated',
    status: type === 'customer.subscription.deleted' ? 'CANCELED' : statusNamed(said.status),
    subscriptionId: said.id,
    price: others.reduce(sum, price),
    email: null,
    reference: null,
    periodEnd: ends ?? null,
    cancelAtEnd: said.cancel_at_period_end === true || said.cancel_at != null,
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
  return {
    kind: type === 'invoice.paid' ? 'paid' : 'failed',
    status: null,
    subscriptionId: said.subscription ?? said.parent?.subscription_details?.subscription ?? null,
    price: isWhole
      ? periods.map((each) => money(each.amount, said.currency)).reduce(sum, null)
      : said.billing_reason === 'subscription_update'
        ? null
        : money(said.subtotal ?? said.amount_paid, said.currency),
    email: said.customer_email ?? null,
    reference: null,
    periodEnd: ends.length === 0 ? null : Math.max(...ends),
    cancelAtEnd: null,
  }
}

type Line = z.infer<typeof line>

function isSubscriptionLine({ type, parent }: Line): boolean {
  return ['subscription_item_details', 'subscription'].includes(parent?.type ?? type ?? 'subscription')
}

function isProration({ proration, parent }: Line): boolean {
  return (parent?.subscription_item_details?.proration ?? proration) === true
}

function monthly(
  each: z.infer<typeof price>,
  quantity: number | null | undefined,
  currency: string | null | undefined,
): Money | null {
  const unit = each?.unit_amount ?? each?.amount
  return unit == null ? null : money(unit * (quantity ?? 1), each?.currency ?? currency)
}

/** Nothing is the price of nothing: what is free, as in a time of trial, does not say what it will cost. */
function money(amount: number | null | undefined, currency: string | null | undefined): Money | null {
  return !amount || Math.abs(amount) > LARGEST || currency == null ? null : { amount, currency }
}

/** The sum of what is known; of one subscription all amounts are in one currency. */
function sum(one: Money | null, other: Money | null): Money | null {
  return one === null || other === null ? (one ?? other) : money(one.amount + other.amount, one.currency)
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
