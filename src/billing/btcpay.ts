import { z } from 'zod'
import { Unavailable } from '../errors.ts'
import type { CheckPlanCurrency, InvoiceStatus } from '../generated/prisma/enums.ts'
import type { Send } from '../network/send.ts'
import { MINUTE, SECOND } from '../time.ts'

/** An invoice as the payment server has it. */
export interface ProviderInvoice {
  readonly id: string
  readonly status: InvoiceStatus
  /** Our own id of it; null for an invoice that is not of our making. */
  readonly orderId: string | null
  /** What was asked for, such as 9. */
  readonly amount: number
  readonly currency: string
  readonly checkoutUrl: string
  readonly expiresAt: Date
}

export interface NewInvoice {
  /** Our own id, by which the invoice is found again when the answer gets lost. */
  readonly orderId: string
  readonly amount: string
  readonly currency: string
  readonly coin: CheckPlanCurrency
  readonly email: string
  /** Where the payer is sent back to. */
  readonly returnUrl: string
}

/** A BTCPay Server, by its Greenfield API (https://docs.btcpayserver.org/API/Greenfield/v1/). */
export interface Btcpay {
  readonly storeId: string
  /** @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`, after which the invoice may exist or not. */
  create(invoice: NewInvoice): Promise<ProviderInvoice>
  /** Gives null when there is no such invoice. @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`. */
  read(id: string): Promise<ProviderInvoice | null>
  /** The newest invoice with our id; null when there is none. @throws Unavailable `PAYMENT_PROVIDER_UNAVAILABLE`. */
  find(orderId: string): Promise<ProviderInvoice | null>
}

/** How long an invoice can be paid, and is watched for late payments: the coin's rate is fixed only so long. */
const EXPIRATION_MINUTES = 30
const MONITORING_MINUTES = 24 * 60
/** How long a late payment may still turn up after an invoice has expired. */
export const LATE_PAYMENT = MONITORING_MINUTES * MINUTE

const LIMITS = { timeoutMs: 10 * SECOND, maxBytes: 256 * 1024 }

const statuses = {
  New: 'NEW',
  Processing: 'PROCESSING',
  Settled: 'SETTLED',
  Expired: 'EXPIRED',
  Invalid: 'INVALID',
} as const satisfies Record<string, InvoiceStatus>

const invoiceJson = z
  .looseObject({
    id: z.string().regex(/^[\w-]{1,255}$/),
    status: z.enum(['New', 'Processing', 'Settled', 'Expired', 'Invalid']),
    // A decimal number as text; older versions give a number.
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
    ({ id, status, amount, currency, checkoutLink, expirationTime, metadata }): ProviderInvoice => ({
      id,
      status: statuses[status],
      orderId: metadata?.orderId ?? null,
      amount,
      currency,
      checkoutUrl: checkoutLink,
      expiresAt: new Date(expirationTime * SECOND),
    }),
  )

/** The client of a store on a payment server. What it answers is believed only when it is what the API says. */
export function createBtcpay(settings: {
  readonly url: string
  readonly apiKey: string
  readonly storeId: string
  readonly send: Send
}): Btcpay {
  const { url, apiKey, storeId, send } = settings
  const invoices = `${url.replace(/\/+$/, '')}/api/v1/stores/${encodeURIComponent(storeId)}/invoices`

  /** Gives null for 404. */
  async function call<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    schema: T,
    body?: object,
  ): Promise<z.infer<T> | null> {
    const headers = { authorization: `token ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' }
    const request = { method, url: invoices + path, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await send(request, LIMITS).catch((cause: unknown) => {
      throw unavailable('does not answer', cause)
    })
    if (answer.status === 404) return null
    if (answer.status !== 200) throw unavailable(`answers with status ${answer.status}`)
    const parsed = schema.safeParse(parseJson(answer.body))
    if (parsed.success) return parsed.data
    throw unavailable('answers with what it should not', parsed.error)
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
      const isAsked = invoice?.orderId === orderId && invoice.amount === Number(amount) && invoice.currency === currency
      if (!isAsked) throw unavailable('has made another invoice than it was asked for')
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
  const message = `The payment server ${what}. Nothing has been charged; try again later.`
  return Object.assign(new Unavailable(message, 'PAYMENT_PROVIDER_UNAVAILABLE'), { cause })
}
