import pino from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { DAY } from '../../../src/core/time.ts'
import { testApp } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { linkIn, startMailServer } from '../../support/mail-server.ts'
import { nestingFaults, repeatedIds } from '../../support/markup.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'
import { deliverCoins, startBtcpay, stripeSettings } from '../setup.ts'

let at = noon
const later = (days: number) => new Date(noon.getTime() + days * DAY)
const now = () => at
const fake = await startBtcpay({ now })
const mailServer = await startMailServer()
afterAll(() => mailServer.close())
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
const settings = { ...stripeSettings, ...fake.settings, SMTP_URL: mailServer.url }
const { baseUrl: url } = await testApp({ dns: await startDnsServer(scriptedLists()), settings, now, log })
const path = '/billing/check-plan/renew'

const { id, key } = await newOrganization(url)
await buy('BTC')
at = later(23)
// The service sends it within the few seconds of its polling interval.
const [mail] = await mailServer.arrived(1)
const link = linkIn(mail ?? {}, `${url}${path}?token=`)
const token = new URL(link).searchParams.get('token') ?? ''

const invoicesOf = async () => {
  const { data } = await post(url, { key, query: '{ organization { billing { invoices { id status currency } } } }' })
  return (data as unknown as { organization: { billing: { invoices: Invoice[] } } }).organization.billing.invoices
}
interface Invoice {
  readonly id: string
  readonly status: string
  readonly currency: string
}
/** Returns the payable Bitcoin invoice. */
const openInvoice = async () =>
  (await invoicesOf()).find(({ status, currency }) => status === 'NEW' && currency === 'BTC')?.id ?? ''

async function buy(currency: string): Promise<void> {
  const query = `mutation { buyCheckPlan(input: { currency: ${currency} }) { ... on BuyCheckPlanPayload { invoice { id } } } }`
  const { data } = await post(url, { key, query })
  await becomes((data as unknown as { buyCheckPlan: { invoice: { id: string } } }).buyCheckPlan.invoice.id, 'Settled')
}

async function becomes(invoiceId: string, status: string): Promise<void> {
  const theirs = [...fake.invoices.values()].find(({ metadata }) => metadata['orderId'] === invoiceId)
  if (!theirs) throw new Error('Invoice not found.')
  theirs.status = status
  expect((await deliverCoins(url, fake.delivery(theirs.id, `Invoice${status}`))).status).toBe(200)
}

/** Fetches a page and asserts that it is not cacheable and sends no referrer. */
async function show(address: string, init: RequestInit = {}) {
  const response = await fetch(address, { redirect: 'manual', ...init })
  const html = await response.text()
  expect(nestingFaults(html)).toEqual([])
  expect(repeatedIds(html)).toEqual([])
  expect(html).not.toMatch(/<script|ac_[0-9a-v]{8}/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  return { status: response.status, html, headers: response.headers }
}
const pay = (fields: Record<string, string>) =>
  show(`${url}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
const setPlan = (plan: string) =>
  post(url, {
    key: operatorToken,
    query: `mutation { setCheckPlan(input: { organizationId: "${id}", ${plan} }) { ... on Error { message } } }`,
  })

describe('a renewal link', () => {
  test('shows the organization, the end of the plan and two currencies; opening it changes nothing', async () => {
    const before = await invoicesOf()
    const { status, html } = await show(link)
    expect(status).toBe(200)
    for (const words of [
      'Acme',
      'The pro check plan ends on',
      '20 Dec 2026',
      '€9 for 30 more days',
      'starting when the current plan ends',
    ]) {
      expect(html).toContain(words)
    }
    expect(html.match(/Pay in (Bitcoin|Litecoin)/g)).toEqual(['Pay in Bitcoin', 'Pay in Litecoin'])
    expect(html).toContain('<meta name="robots" content="noindex, nofollow"/>')
    expect(await invoicesOf()).toEqual(before)
  })

  test('leads to an invoice of that organization, and to the same one while it can be paid', async () => {
    const { status, headers } = await pay({ token, currency: 'BTC' })
    expect(status).toBe(303)
    const checkout = headers.get('location')
    expect(checkout).toBe('https://btcpay.example/i/btcpay2')
    expect((await pay({ token, currency: 'BTC' })).headers.get('location')).toBe(checkout)
    expect((await pay({ token, currency: 'LTC' })).headers.get('location')).toBe('https://btcpay.example/i/btcpay3')
    const open = (await invoicesOf()).filter(({ status }) => status === 'NEW')
    expect(open.map(({ currency }) => currency).sort()).toEqual(['BTC', 'LTC'])
    expect(fake.invoices.get('btcpay2')).toMatchObject({
      metadata: { orderId: await openInvoice(), buyerEmail: 'ops@acme.example' },
      checkout: { redirectURL: `${url}${path}` },
    })
  })

  test('shows a returning payer the state of the payment', async () => {
    const { headers } = await pay({ token, currency: 'BTC' })
    const [kept = ''] = headers.getSetCookie()
    expect(kept).toBe(`allclear_renewal=${token}; Max-Age=2592000; Path=${path}; HttpOnly; SameSite=Lax`)
    const back = () => show(`${url}${path}`, { headers: { cookie: kept.split(';')[0] ?? '' } })
    const waiting = await back()
    expect(waiting.html).toContain('<h1>Renew the pro check plan</h1>')
    expect(waiting.html).toContain('If you have just paid, this page shows it within a minute.')
    expect([waiting.headers.get('refresh'), (await show(link)).headers.get('refresh')]).toEqual(['15', null])
    const invoice = await openInvoice()
    await becomes(invoice, 'Processing')
    const seen = await back()
    expect(seen.html).toContain('<h1>Payment detected</h1>')
    expect([seen.headers.get('refresh'), seen.html.includes('<form')]).toEqual(['15', false])
    await becomes(invoice, 'Settled')
    const arrived = await back()
    expect(arrived.html).toContain('<h1>Payment received</h1>')
    expect(arrived.html).toContain('ends on <time datetime="2027-01-19T12:00:00.000Z">')
    expect(arrived.headers.get('refresh')).toBe(null)
    at = later(25)
    expect((await back()).html).toContain('<h1>Renew the pro check plan</h1>')
  })

  test('shows errors on the page', async () => {
    const errorAfter = async (fields: Record<string, string>) => {
      const { status, html } = await pay({ token, ...fields })
      return [status, /<p class="problem" role="alert">([^<]*)</.exec(html)?.[1]]
    }
    expect(await errorAfter({ currency: 'DOGE' })).toEqual([400, expect.stringMatching(/^The currency /)])
    expect(await errorAfter({})).toEqual([400, expect.stringMatching(/^The currency /)])
    fake.server.fault = 'error'
    expect(await errorAfter({ currency: 'BTC' })).toEqual([400, expect.stringContaining('Nothing was charged')])
    fake.server.fault = null
  })

  test('offers no renewal while the plan has no end', async () => {
    await setPlan('plan: PRO')
    const { html } = await show(link)
    expect(html).toContain('There is nothing to renew.')
    expect(html).not.toContain('<form')
    const { status, html: refused } = await pay({ token, currency: 'BTC' })
    expect([status, refused]).toEqual([400, expect.stringContaining('has no end, so there is nothing to pay for')])
    await setPlan('plan: FREE')
    expect((await show(link)).html).toContain('This organization has no pro check plan.')
  })

  test('is valid until thirty days after the end; the plan then starts at the payment', async () => {
    await setPlan('plan: PRO, until: "2026-12-20T12:00:00.000Z"')
    at = new Date(later(60).getTime() - 1)
    const { status, html } = await show(link)
    expect(status).toBe(200)
    expect(html).toContain('ended on')
    expect(html).toContain('starting when the payment arrives')
    at = later(60)
    expect((await show(link)).status).toBe(404)
    at = later(23)
  })
})

describe('an invalid token', () => {
  test('gives 404 and creates no invoice', async () => {
    const before = await invoicesOf()
    const billing = await fetch(`${url}/api/v1/billing/status`, { headers: { authorization: `Bearer ${key}` } })
    const { upgrade_urls: upgrades } = (await billing.json()) as { upgrade_urls: { pro: string } }
    const foreign = new URL(upgrades.pro).searchParams.get('token') ?? ''
    const { id: stranger } = await newOrganization(url)
    const nowhere = await show(`${url}${path}`)
    expect(nowhere.html).toContain('until 30 days after the end of the plan')
    expect(nowhere.html).toContain('If you have just paid, you don’t need to do anything')
    for (const wrong of ['', 'x', key, foreign, token.replace(id, stranger), `${token}A`]) {
      const shown = await show(`${url}${path}?token=${encodeURIComponent(wrong)}`)
      const submitted = await pay({ token: wrong, currency: 'BTC' })
      for (const { status, html } of [shown, submitted]) expect([status, html]).toEqual([404, nowhere.html])
    }
    for (const wrong of ['\u0000', 'x'.repeat(9000)])
      expect((await pay({ token: wrong, currency: 'BTC' })).status).toBe(404)
    expect(await invoicesOf()).toEqual(before)
  })

  test('gives access only to its own page', async () => {
    const checkout = await fetch(`${url}/api/v1/billing/checkout/pro?token=${token}`, { redirect: 'manual' })
    expect([checkout.status, ((await checkout.json()) as { error: { code: string } }).error.code]).toEqual([
      401,
      'INVALID_TOKEN',
    ])
    for (const name of ['allclear_payer', 'allclear_purchase']) {
      const headers = { cookie: `${name}=${token}`, accept: 'text/html' }
      const [invoice] = await invoicesOf()
      for (const address of ['/api/v1/billing/success', `/billing/check-plan/${invoice?.id}`]) {
        expect(await (await fetch(url + address, { headers })).text()).not.toContain('Acme')
      }
    }
    const asked = await post(url, { key: token, query: '{ organization { id } }' })
    expect(asked.data?.['organization']).toBe(undefined)
  })
})

test('the log contains no token or email address', () => {
  const text = logged.join('')
  expect(text).toContain('http: listening')
  expect(text).not.toContain(token)
  expect(text).not.toMatch(/ops@acme|token=|ac_[0-9a-v]{8}/)
})
