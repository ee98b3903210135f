import { describe, expect, test } from 'vitest'
import { createBtcpay } from '../../src/billing/btcpay.ts'
import { Unavailable } from '../../src/core/errors.ts'
import { freePort } from '../support/free-port.ts'
import { send } from './send.ts'
import { startBtcpay } from './setup.ts'

const fake = await startBtcpay()
const settings = { url: fake.url, apiKey: 'key-of-the-tests', storeId: 'store-1', send }
const client = createBtcpay(settings)
const order = {
  orderId: 'order-1',
  amount: '9.00',
  currency: 'EUR',
  coin: 'LTC',
  email: 'a@b.example',
  returnUrl: 'https://allclear.example/billing/check-plan/order-1',
} as const

describe('a payment server', () => {
  test('creates the requested invoice and returns it again', async () => {
    const made = await client.create(order)
    expect(made).toEqual({
      id: 'btcpay1',
      status: 'NEW',
      unsettled: null,
      orderId: 'order-1',
      amount: 9,
      currency: 'EUR',
      checkoutUrl: 'https://btcpay.example/i/btcpay1',
      expiresAt: new Date('2026-11-20T12:30:00.000Z'),
    })
    expect(fake.invoices.get('btcpay1')).toMatchObject({
      amount: '9.00',
      currency: 'EUR',
      metadata: { orderId: 'order-1', buyerEmail: 'a@b.example' },
      checkout: {
        paymentMethods: ['LTC-CHAIN'],
        defaultPaymentMethod: 'LTC-CHAIN',
        expirationMinutes: 30,
        monitoringMinutes: 1440,
        paymentTolerance: 0,
        redirectURL: order.returnUrl,
        redirectAutomatically: true,
      },
    })
    expect(await client.read('btcpay1')).toEqual(made)
    expect(await client.find('order-1')).toEqual(made)
    expect(await client.read('btcpay2')).toBe(null)
    expect(await client.find('order-2')).toBe(null)
  })

  test.each([
    ['New', 'NEW'],
    ['Processing', 'PROCESSING'],
    ['Settled', 'SETTLED'],
    ['Expired', 'EXPIRED'],
    ['Invalid', 'INVALID'],
  ])('with status %s maps to %s', async (providerStatus, status) => {
    const invoice = fake.invoices.get('btcpay1')
    if (invoice) invoice.status = providerStatus
    expect((await client.read('btcpay1'))?.status).toBe(status)
  })

  test.each(['silent', 'nonsense', 'large', 'error', 'slow-but-made', 'other-amount'] as const)(
    'that fails (%s) is unavailable',
    async (fault) => {
      fake.server.fault = fault
      const attempt = client.create({ ...order, orderId: fault })
      await expect(attempt).rejects.toThrow(Unavailable)
      await expect(attempt).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_UNAVAILABLE' })
      fake.server.fault = null
    },
  )

  test('is unavailable when it is unreachable, rejects our key or redirects', async () => {
    const gone = createBtcpay({ ...settings, url: `http://127.0.0.1:${await freePort()}` })
    const stranger = createBtcpay({ ...settings, apiKey: 'another' })
    const moved = createBtcpay({ ...settings, send: async () => ({ status: 302, body: '' }) })
    for (const each of [gone, stranger, moved]) await expect(each.read('btcpay1')).rejects.toThrow(Unavailable)
  })

  test('rejects responses that its API does not define', async () => {
    const good = { ...fake.invoices.get('btcpay1'), status: 'Settled' }
    const answering = (body: string) =>
      createBtcpay({ ...settings, send: async () => ({ status: 200, body }) }).read('x')
    expect(await answering(JSON.stringify(good))).toMatchObject({ status: 'SETTLED' })
    expect(await answering(JSON.stringify({ ...good, amount: 9 }))).toMatchObject({ amount: 9 })
    for (const wrong of [
      { status: 'Paid' },
      { amount: '9,00' },
      { amount: '1e99' },
      { id: '../x' },
      { checkoutLink: 'javascript:alert(1)' },
      { expirationTime: 'soon' },
    ]) {
      await expect(answering(JSON.stringify({ ...good, ...wrong }))).rejects.toThrow(Unavailable)
    }
    for (const body of ['', '<html>', 'null', '[]']) await expect(answering(body)).rejects.toThrow(Unavailable)
  })

  test('has limits on time and size', async () => {
    const asked: unknown[] = []
    const watching = createBtcpay({
      ...settings,
      url: 'https://btcpay.example/base/',
      storeId: 'a/b',
      send: async (request, limits) => {
        asked.push([request.method, request.url, request.headers['authorization'], limits])
        return { status: 404, body: '' }
      },
    })
    await watching.read('x')
    const limits = { timeoutMs: 10_000, maxBytes: 262_144 }
    const url = 'https://btcpay.example/base/api/v1/stores/a%2Fb/invoices/x'
    expect(asked).toEqual([['GET', url, 'token key-of-the-tests', limits]])
  })
})
