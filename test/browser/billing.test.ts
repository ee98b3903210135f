import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { DAY } from '../../src/core/time.ts'
import { checkout } from '../billing/events.ts'
import { deliver, deliverCoins, startBtcpay, stripeSettings } from '../billing/setup.ts'
import { testApp } from '../support/app.ts'
import { useChromium } from '../support/chromium.ts'
import { faintTexts } from '../support/contrast.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

/** The offset of the service's clock, in milliseconds. */
let ahead = 0
const now = () => new Date(Date.now() + ahead)
const mailServer = await startMailServer()
const dns = await startDnsServer(scriptedLists())
/** The payment provider’s page on another site, which links back. */
const provider = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end(`<a href="${url}/api/v1/billing/success">Pay</a>`)
}).listen(0, '127.0.0.1')
await once(provider, 'listening')
afterAll(async () => {
  provider.close()
  await mailServer.close()
})
// A listening TCP server has an address with a port.
const providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`

const fake = await startBtcpay({ now, checkout: providerUrl })
const settings = {
  ...stripeSettings,
  ...fake.settings,
  STRIPE_PAYMENT_LINK_TEAM: providerUrl,
  SMTP_URL: mailServer.url,
}
const { baseUrl: url } = await testApp({ dns, settings, now })
const newTab = useChromium()
const isOurs = (asked: string) => asked.startsWith(url) || asked.startsWith(providerUrl)

/** Pays every invoice. */
async function settleAll(): Promise<void> {
  for (const invoice of fake.invoices.values()) {
    invoice.status = 'Settled'
    expect((await deliverCoins(url, fake.delivery(invoice.id, 'InvoiceSettled'))).status).toBe(200)
  }
}

test.each([
  ['as soon as the webhook lands', true],
  ['after a moment without JavaScript', false],
])('the new tier is shown after a payment %s', async (_, javaScriptEnabled) => {
  await using tab = await newTab(isOurs, { javaScriptEnabled })
  const { page } = tab
  const { id, key } = await newOrganization(url)
  await page.goto(`${url}/pricing`)
  await page.getByLabel('API key of your organization').fill(key)
  await page.getByRole('button', { name: 'Upgrade to Team' }).click()
  await page.getByRole('link', { name: 'Continue to payment' }).click()
  await page.waitForURL(`${providerUrl}**`)
  expect(new URL(page.url()).searchParams.get('client_reference_id')).toBe(id)
  await page.getByText('Pay').click()
  await page.getByRole('heading', { name: 'Thank you for your payment' }).waitFor()
  expect((await deliver(url, checkout({ reference: id, amount: 9900 }), now())).status).toBe(200)
  await page.getByRole('heading', { name: 'You are on Team' }).waitFor()
  expect(tab.complaints).toEqual([])
})

test('a buyer of a check plan sees the key once, in the same browser', async () => {
  await using tab = await newTab(isOurs)
  const { page } = tab
  await page.goto(`${url}/pricing`)
  await page.getByLabel('Email address').fill('mail@admin.example')
  await page.getByRole('button', { name: 'Pay in Litecoin' }).click()
  await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
  await settleAll()
  await page.reload()
  await page.getByRole('button', { name: 'Show my key' }).click()
  expect(await page.locator('pre').textContent()).toMatch(/^ac_[0-9a-v]{40}$/)
  await page.goto(page.url())
  await page.getByRole('heading', { name: 'Your key was already shown' }).waitFor()
  expect(tab.complaints).toEqual([])
})

test('a buyer with a key sees errors about it, or pays for thirty more days', async () => {
  await using tab = await newTab(isOurs)
  const { page } = tab
  const { key } = await newOrganization(url)
  const pay = async (typed: string) => {
    await page.goto(`${url}/pricing`)
    await page.getByLabel('API key (optional').fill(typed)
    await page.getByRole('button', { name: 'Pay in Bitcoin' }).click()
  }
  await pay('ac_wrong')
  await page.locator('#plan-problem:focus').waitFor()
  expect(await page.locator('#plan-problem').evaluate(isInView)).toBe(true)
  expect(tab.complaints.splice(0)).toEqual([expect.stringContaining('status of 400')])
  await pay(key)
  await page.getByRole('heading', { name: '30 days of the pro check plan' }).waitFor()
  expect(await faintTexts(page)).toEqual([])
  await page.getByRole('link', { name: 'Pay in Bitcoin' }).click()
  await page.waitForURL(`${providerUrl}**`)
  await settleAll()
  await page.goto(String([...fake.invoices.values()].at(-1)?.checkout['redirectURL']))
  await page.getByRole('heading', { name: 'Payment received' }).waitFor()
  expect(tab.complaints).toEqual([])
})

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return top >= 0 && bottom <= window.innerHeight
}

test('a reminder’s link leads to the payment of another thirty days', async () => {
  await using tab = await newTab(isOurs)
  const { page } = tab
  const { key } = await newOrganization(url)
  const query = 'mutation { buyCheckPlan(input: { currency: BTC }) { ... on BuyCheckPlanPayload { invoice { id } } } }'
  await post(url, { key, query })
  await settleAll()
  ahead = 29.5 * DAY
  const [mail] = await mailServer.arrived(1, ({ envelopeTo }) => envelopeTo === 'ops@acme.example')
  await page.goto(linkIn(mail ?? {}, `${url}/billing/check-plan/renew?token=`))
  await page.getByRole('heading', { name: 'Renew the pro check plan' }).waitFor()
  expect(await faintTexts(page)).toEqual([])
  const leaving = page.waitForRequest((request) => request.url().startsWith(providerUrl))
  await page.getByRole('button', { name: 'Pay in Bitcoin' }).click()
  expect((await (await leaving).allHeaders())['referer'], 'the other site is not notified the address').toBe(undefined)
  await page.waitForURL(`${providerUrl}**`)
  await settleAll()
  await page.goto(String([...fake.invoices.values()].at(-1)?.checkout['redirectURL']))
  await page.getByRole('heading', { name: 'Payment received' }).waitFor()
  expect(tab.complaints).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'the prices can be read in %s, on phones and wide screens',
  async (colorScheme) => {
    for (const width of [320, 1280]) {
      await using tab = await newTab(isOurs, { colorScheme, viewport: { width, height: 800 } })
      await tab.page.goto(`${url}/pricing`)
      expect(await faintTexts(tab.page)).toEqual([])
      const isTooWide = () => document.documentElement.scrollWidth > document.documentElement.clientWidth
      expect(await tab.page.evaluate(isTooWide)).toBe(false)
      expect(tab.complaints).toEqual([])
    }
  },
)
