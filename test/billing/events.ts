import { randomText } from '../../src/core/id.ts'

/** Stripe events in the shapes of the current API version and (`old`) of the version before 2025-03-31. */

let made = 0
const newEventId = () => `evt_${randomText(16)}${++made}`
export const newSubscriptionId = () => `sub_${randomText(16)}`

export interface Given {
  readonly id?: string
  /** Epoch seconds. */
  readonly created?: number
  readonly old?: boolean
}

/** Default time of the events, in epoch seconds: noon of 20 November 2026. */
export const NOON = Date.UTC(2026, 10, 20, 12) / 1000
export const MONTH = 30 * 86_400

function event(type: string, object: object, { id = newEventId(), created = NOON, old = false }: Given) {
  return {
    id,
    object: 'event',
    api_version: old ? '2024-06-20' : '2026-10-28.endive',
    created,
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  }
}

export function checkout(
  given: Given & {
    readonly type?: string
    readonly subscription?: string | null
    readonly reference?: string | null
    readonly amount?: number
    /** The amount to pay after coupons and taxes. */
    readonly total?: number
    readonly currency?: string
    readonly paid?: string
    readonly mode?: string
  } = {},
) {
  const { amount = 2900, subscription = newSubscriptionId() } = given
  const object = {
    id: `cs_test_${randomText(20)}`,
    object: 'checkout.session',
    amount_subtotal: amount,
    amount_total: given.total ?? amount,
    client_reference_id: given.reference ?? null,
    currency: given.currency ?? 'eur',
    customer: 'cus_1',
    customer_details: { email: 'payer@acme.example', name: 'A. Payer' },
    customer_email: null,
    mode: given.mode ?? 'subscription',
    payment_link: 'plink_1',
    payment_status: given.paid ?? 'paid',
    status: 'complete',
    subscription,
  }
  return event(given.type ?? 'checkout.session.completed', object, given)
}

export function subscription(
  given: Given & {
    readonly type?: string
    readonly subscription: string
    readonly status?: string
    readonly amount?: number
    readonly currency?: string
    readonly end?: number
    readonly cancelAtEnd?: boolean
    readonly quantity?: number
    readonly interval?: string
    /** How payment collection is paused; absent: it is not. */
    readonly pause?: string
  },
) {
  const { amount = 2900, currency = 'eur', end = NOON + MONTH, quantity = 1, old = false } = given
  const recurring = given.interval === undefined ? undefined : { interval: given.interval, interval_count: 1 }
  const price = { id: 'price_1', unit_amount: amount, unit_amount_decimal: String(amount), currency, recurring }
  const object = {
    id: given.subscription,
    object: 'subscription',
    status: given.status ?? 'active',
    currency,
    customer: 'cus_1',
    cancel_at: null,
    pause_collection: given.pause === undefined ? null : { behavior: given.pause, resumes_at: null },
    cancel_at_period_end: given.cancelAtEnd ?? false,
    ...(old && { current_period_end: end, plan: { amount, currency }, quantity }),
    items: {
      object: 'list',
      data: [{ id: 'si_1', price, quantity, ...(!old && { current_period_end: end }) }],
      has_more: false,
    },
  }
  return event(given.type ?? 'customer.subscription.updated', object, given)
}

export function deleted(given: Parameters<typeof subscription>[0]) {
  return subscription({ status: 'canceled', ...given, type: 'customer.subscription.deleted' })
}

/** An invoice line: a full period unless it is a proration. */
export interface Line {
  readonly amount: number
  readonly proration?: boolean
}

export function invoice(
  given: Given & {
    readonly type?: string
    readonly subscription: string | null
    readonly lines?: readonly Line[]
    readonly currency?: string
    readonly reason?: string
    readonly end?: number
    readonly tax?: number
    /** The id. */
    readonly invoice?: string
  },
) {
  const { lines = [{ amount: 2900 }], currency = 'eur', end = NOON + MONTH, old = false, subscription } = given
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0)
  const total = subtotal + (given.tax ?? 0)
  const failed = given.type === 'invoice.payment_failed'
  const object = {
    id: given.invoice ?? `in_${randomText(16)}`,
    object: 'invoice',
    status: failed ? 'open' : 'paid',
    amount_due: total,
    amount_paid: failed ? 0 : total,
    subtotal,
    total,
    billing_reason: given.reason ?? 'subscription_cycle',
    currency,
    customer: 'cus_1',
    customer_email: 'payer@acme.example',
    ...(old
      ? { subscription, paid: !failed }
      : { parent: subscription && { type: 'subscription_details', subscription_details: { subscription } } }),
    lines: {
      object: 'list',
      has_more: false,
      data: lines.map(({ amount, proration = false }) => ({
        id: `il_${randomText(12)}`,
        amount,
        currency,
        period: { start: end - MONTH, end },
        ...(old
          ? { type: 'subscription', proration, price: { unit_amount: amount } }
          : {
              parent: { type: 'subscription_item_details', subscription_item_details: { proration } },
              pricing: { unit_amount_decimal: String(amount) },
            }),
      })),
    },
  }
  return event(given.type ?? 'invoice.paid', object, given)
}

export function failed(given: Parameters<typeof invoice>[0]) {
  return invoice({ ...given, type: 'invoice.payment_failed' })
}

/** The payment of an invoice; its charge and dispute have matching ids. */
const paymentOf = (invoice: string) => `pi_${invoice}`
const chargeOf = (invoice: string) => `ch_${invoice}`

/** The payment that paid an invoice. In the current API version no other event contains it. */
export function invoicePayment(given: Given & { readonly invoice: string }) {
  const payment = { type: 'payment_intent', payment_intent: paymentOf(given.invoice) }
  const object = {
    id: `inpay_${randomText(12)}`,
    object: 'invoice_payment',
    invoice: given.invoice,
    payment,
    status: 'paid',
  }
  return event('invoice_payment.paid', object, given)
}

export function refund(given: Given & { readonly invoice: string; readonly amount?: number; readonly of?: number }) {
  const { invoice, of = 2900, amount = of, old = false } = given
  const object = {
    id: chargeOf(invoice),
    object: 'charge',
    amount: of,
    amount_refunded: amount,
    refunded: amount === of,
    currency: 'eur',
    customer: 'cus_1',
    payment_intent: paymentOf(invoice),
    ...(old && { invoice }),
    billing_details: { email: 'payer@acme.example' },
  }
  return event('charge.refunded', object, given)
}

/** A dispute; `closed` is its outcome. */
export function dispute(
  given: Given & { readonly invoice: string; readonly status?: string; readonly closed?: boolean },
) {
  const { invoice, closed = false, status = closed ? 'won' : 'needs_response' } = given
  const object = {
    id: `dp_${invoice}`,
    object: 'dispute',
    amount: 2900,
    currency: 'eur',
    charge: chargeOf(invoice),
    payment_intent: paymentOf(invoice),
    status,
  }
  return event(`charge.dispute.${closed ? 'closed' : 'created'}`, object, given)
}
