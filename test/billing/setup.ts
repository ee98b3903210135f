import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { afterAll } from 'vitest'
import { noon } from '../support/context.ts'

export const webhookSecret = 'whsec_of-the-tests'
export const btcpaySecret = 'secret-of-the-tests'

/** Settings of a service with payments. */
export const stripeSettings = {
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_PAYMENT_LINK_PRO: 'https://buy.example/pro?locale=de',
  STRIPE_PAYMENT_LINK_TEAM: 'https://buy.example/team',
}

/** Sends an event as Stripe does, signed by its own library. */
export function deliver(url: string, event: object, at = noon, secret = webhookSecret): Promise<Response> {
  const payload = JSON.stringify(event)
  const timestamp = Math.floor(at.getTime() / 1000)
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
  return sendSigned(url, payload, signature)
}

export function sendSigned(url: string, body: string | Buffer, signature: string): Promise<Response> {
  return fetch(`${url}/api/v1/billing/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: new Uint8Array(Buffer.from(body)),
  })
}

/** An invoice in the form of the payment server's API. */
export interface FakeInvoice {
  readonly id: string
  storeId: string
  status: string
  additionalStatus: string
  amount: string
  currency: string
  checkoutLink: string
  expirationTime: number
  createdTime: number
  metadata: Record<string, unknown>
  readonly checkout: Record<string, unknown>
}

/**
 * Starts a fake payment server on loopback, based on the published OpenAPI document of BTCPay's Greenfield API. It creates,
 * reads and finds invoices of one store, with a key. While `fault` is set, every call fails that way; `checkout` is the
 * page for paying invoices.
 */
export async function startBtcpay(
  options: { readonly storeId?: string; readonly now?: () => Date; readonly checkout?: string } = {},
) {
  const { storeId = 'store-1', now = () => noon, checkout = 'https://btcpay.example/i/' } = options
  const invoices = new Map<string, FakeInvoice>()
  const requests: string[] = []
  const server = {
    fault: null as null | 'silent' | 'nonsense' | 'error' | 'slow-but-made' | 'other-amount' | 'large',
  }
  const apiKey = 'key-of-the-tests'

  function make(asked: { amount: string; currency: string; metadata: object; checkout: Record<string, unknown> }) {
    const id = `btcpay${invoices.size + 1}`
    const created = Math.floor(now().getTime() / 1000)
    const invoice: FakeInvoice = {
      id,
      storeId,
      status: 'New',
      additionalStatus: 'None',
      amount: asked.amount,
      currency: asked.currency,
      checkoutLink: checkout + id,
      expirationTime: created + Number(asked.checkout['expirationMinutes']) * 60,
      createdTime: created,
      metadata: { ...asked.metadata },
      checkout: asked.checkout,
    }
    invoices.set(id, invoice)
    return invoice
  }

  /** Status and body of the response; null sends none. */
  function route(method: string, path: string, orders: string[], body: string): [number, unknown] | null {
    const base = `/api/v1/stores/${storeId}/invoices`
    if (method === 'POST' && path === base) {
      const made = make(JSON.parse(body))
      if (server.fault === 'other-amount') made.amount = '1.00'
      return server.fault === 'slow-but-made' ? null : [200, made]
    }
    if (path === base) {
      return [200, [...invoices.values()].filter(({ metadata }) => orders.includes(String(metadata['orderId'])))]
    }
    const found = path.startsWith(`${base}/`) ? invoices.get(path.slice(base.length + 1)) : undefined
    return found ? [200, found] : [404, { code: 'invoice-not-found' }]
  }

  const faults: Record<string, [number, unknown] | null> = {
    silent: null,
    nonsense: [200, { hello: 'world' }],
    large: [200, 'x'.repeat(300_000)],
    error: [500, { code: 'internal' }],
  }

  const http = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://localhost')
    requests.push(`${request.method} ${pathname}${search}`)
    const isKnown = request.headers.authorization === `token ${apiKey}`
    const answer = !isKnown
      ? ([401, { code: 'unauthenticated' }] as const)
      : server.fault !== null && server.fault in faults
        ? faults[server.fault]
        : route(request.method ?? '', pathname, searchParams.getAll('orderId'), body)
    if (!answer) return void request.socket.destroy()
    response.writeHead(answer[0], { 'content-type': 'application/json' }).end(JSON.stringify(answer[1]))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    http.closeAllConnections()
    http.close()
  })
  const { port } = http.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    invoices,
    requests,
    server,
    settings: {
      BTCPAY_URL: url,
      BTCPAY_API_KEY: apiKey,
      BTCPAY_STORE_ID: storeId,
      BTCPAY_WEBHOOK_SECRET: btcpaySecret,
    },
    /** The signed webhook request about an invoice. */
    delivery(id: string, type: string, more: object = {}) {
      const deliveryId = `delivery-${++deliveries}`
      return JSON.stringify({
        deliveryId,
        webhookId: 'webhook-1',
        originalDeliveryId: deliveryId,
        isRedelivery: false,
        type,
        timestamp: Math.floor(now().getTime() / 1000),
        storeId,
        invoiceId: id,
        metadata: invoices.get(id)?.metadata,
        ...more,
      })
    },
  }
}
let deliveries = 0

/** Sends a webhook request as the payment server does. */
export function deliverCoins(url: string, body: string, secret = btcpaySecret): Promise<Response> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return fetch(`${url}/api/v1/billing/btcpay/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'btcpay-sig': signature },
    body,
  })
}
