import { z } from 'zod'
import { Unavailable } from '../core/errors.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { CheckPlanCurrency, InvoiceStatus } from '../generated/prisma/enums.ts'
import type { Send } from '../network/outbound/send.ts'

/** An invoice on the payment server. */
export interface ProviderInvoice {
  readonly id: string
  readonly status: InvoiceStatus
  /** A payment of an expired invoice, which grants nothing by itself; null: none, or the invoice is settled. */
  readonly unsettled: 'PAID_LATE' | 'PAID_IN_PART' | null
  /** Our id of the invoice; null for an invoice that we did not create. */
  readonly orderId: string | null
  /** The invoiced amount, such as 9. */
  readonly amount: number
  readonly currency: string
  readonly checkoutUrl: string
  readonly expiresAt: Date
}

interface NewInvoice {
  /** Our id, by which the invoice can be found when the response is lost. */
  readonly orderId: string
  readonly amount: string
  readonly currency: string
  readonly coin: CheckPlanCurrency
  readonly email: string
  /** The URL that the payer returns to. */
  readonly returnUrl: string
}

/** A store on a BTCPay Server (Greenfield API, https://docs.btcpayserver.org/API/Greenfield/v1/). */
export interface Btcpay {
  readonly storeId: string
  /**
   * Creates an invoice. @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`, in which case the invoice may or may not
   * exist.
   */
  create(invoice: NewInvoice): Promise<ProviderInvoice>
  /** Reads an invoice; null when it does not exist. @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`. */
  read(id: string): Promise<ProviderInvoice | null>
  /** Finds the newest invoice with our id, or null. @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`. */
  find(orderId: string): Promise<ProviderInvoice | null>
}

/** How long an invoice can be paid (at a fixed exchange rate), and how long the server watches for late payments. */
const EXPIRATION_MINUTES = 30
const MONITORING_MINUTES = 24 * 60
/** How long after an invoice's expiry a late payment may arrive. */
export const LATE_PAYMENT_WINDOW_MS = MONITORING_MINUTES * MINUTE

const RESPONSE_LIMITS = { timeoutMs: 10 * SECOND, maxBytes: 256 * 1024 }

const statuses = {
  New: 'NEW',
  Processing: 'PROCESSING',
  Settled: 'SETTLED',
  Expired: 'EXPIRED',
  Invalid: 'INVALID',
} as const satisfies Record<string, InvoiceStatus>

/** Returns the payment that an expired invoice got, by the server's additional status; null: none. */
function unsettledOf(additionalStatus: string | null | undefined): ProviderInvoice['unsettled'] {
  if (additionalStatus === 'PaidLate') return 'PAID_LATE'
  return additionalStatus === 'PaidPartial' ? 'PAID_IN_PART' : null
}

const invoiceJson = z
  .looseObject({
    id: z.string().regex(/^[\w-]{1,255}$/),
    status: z.enum(['New', 'Processing', 'Settled', 'Expired', 'Invalid']),
    additionalStatus: z.string().nullish().catch(null),
    // A decimal number as text; older versions of the server send a number.
    amount: z.union([z.string().regex(/^\d{1,15}(\.\d{1,18})?$/), z.number()]).transform(Number),
    currency: z.string(),
    checkoutLink: z.url({ protocol: /^https?$/ }),
    expirationTime: z.int().min(0).max(99_999_999_999),
    metadata: z
      .looseObject({ orderId: z.string().nullish().catch(null) })
      .nullish()
      .catch(null),
  })
  .transform(
    ({ id, status, additionalStatus, amount, currency, checkoutLink, expirationTime, metadata }): ProviderInvoice => ({
      id,
      status: statuses[status],
      unsettled: status === 'Expired' ? unsettledOf(additionalStatus) : null,
      orderId: metadata?.orderId ?? null,
      amount,
      currency,
      checkoutUrl: checkoutLink,
      expiresAt: new Date(expirationTime * SECOND),
    }),
  )

/** Creates a client for a store on a payment server. Rejects responses that do not match the API. */
export function createBtcpay(settings: {
  readonly url: string
  readonly apiKey: string
  readonly storeId: string
  readonly send: Send
}): Btcpay {
  const { url, apiKey, storeId, send } = settings
  const invoices = `${url.replace(/(?<!\/)\/+$/, '')}/api/v1/stores/${encodeURIComponent(storeId)}/invoices`

  /** Sends a request; returns null for 404. */
  async function call<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    schema: T,
    body?: object,
  ): Promise<z.infer<T> | null> {
    const headers = { authorization: `token ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' }
    const request = { method, url: invoices + path, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await send(request, RESPONSE_LIMITS).catch((cause: unknown) => {
      throw unavailable('did not respond', cause)
    })
    if (answer.status === 404) return null
    if (answer.status !== 200) throw unavailable(`responded with status ${answer.status}`)
    const parsed = schema.safeParse(parseJson(answer.body))
    if (parsed.success) return parsed.data
    throw unavailable('sent an invalid response', parsed.error)
  }

  return {
    storeId,
    async create({ orderId, amount, currency, coin, email, returnUrl }) {
      const method = `${coin}-CHAIN`
      const invoice = await call('POST', '', invoiceJson, {
        amount,
        currency,
        metadata: { orderId, buyerEmail: email, itemDesc: '30 days of the Allclear pro check plan' },
        checkout: {
          paymentMethods: [method],
          defaultPaymentMethod: method,
          expirationMinutes: EXPIRATION_MINUTES,
          monitoringMinutes: MONITORING_MINUTES,
          paymentTolerance: 0,
          redirectURL: returnUrl,
          redirectAutomatically: true,
        },
      })
      const isAsRequested =
        invoice?.orderId === orderId && invoice.amount === Number(amount) && invoice.currency === currency
      if (!isAsRequested) throw unavailable('created a different invoice than requested')
      return invoice
    },
    read: (id) => call('GET', `/${encodeURIComponent(id)}`, invoiceJson),
    async find(orderId) {
      const found = await call('GET', `?orderId=${encodeURIComponent(orderId)}`, z.array(invoiceJson))
      return found?.find((invoice) => invoice.orderId === orderId) ?? null
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unavailable(what: string, cause?: unknown): Unavailable {
  const message = `The payment server ${what}. Nothing was charged. Try again later.`
  return Object.assign(new Unavailable(message, 'PAYMENT_PROVIDER_UNAVAILABLE'), { cause })
}
