import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { checkout } from '../billing/events.ts'
import { deliver, deliverCoins, startBtcpay, stripeSettings } from '../billing/setup.ts'
import { testApp } from '../support/app.ts'
import { useChromium } from '../support/chromium.ts'
import { faintTexts } from '../support/contrast.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { geoFiles } from '../support/geo-files.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { scriptedLists } from '../support/scripted-lists.ts'

const now = () => new Date()
const fake = await startBtcpay({ now })
const dns = await startDnsServer(scriptedLists())
/** The payment provider’s page, on another site, which leads back here. */
const provider = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end(`<a href="${url}/api/v1/billing/success">Pay</a>`)
}).listen(0, '127.0.0.1')
await once(provider, 'listening')
afterAll(() => void provider.close())
// A TCP server that listens has an address with a port.
const providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`

const settings = { ...stripeSettings, ...fake.settings, ...(await geoFiles()), STRIPE_PAYMENT_LINK_TEAM: providerUrl }
const { baseUrl: url } = await testApp({ dns, settings })
const newTab = useChromium()
const isOurs = (asked: string) => asked.startsWith(url) || asked.startsWith(providerUrl)

test.each([
  ['as soon as the webhook lands', true],
  ['after a moment without JavaScript', false],
])('who has paid is shown the new tier %s', async (_, javaScriptEnabled) => {
  await using tab = await newTab(isOurs, { javaScriptEnabled })
  const { page } = tab
  const { id, key } = await newOrganization(url)
  await page.goto(`${url}/pricing`)
  await page.getByLabel('API key of your organization').fill(key)
  await page.getByRole('button', { name: 'Upgrade to Team' }).click()
  await page.getByRole('link', { name: 'Go on to pay' }).click()
  await page.waitForURL(`${providerUrl}**`)
  expect(new URL(page.url()).searchParams.get('client_reference_id')).toBe(id)
  await page.getByText('Pay').click()
  await page.getByRole('heading', { name: 'Thank you for your payment' }).waitFor()
  expect((await deliver(url, checkout({ reference: id, amount: 9900 }), now())).status).toBe(200)
  await page.getByRole('heading', { name: 'You are on Team' }).waitFor()
  expect(tab.complaints).toEqual([])
})

test('who buys a check plan is shown its key once, in that browser', async () => {
  await using tab = await newTab(isOurs)
  const { page } = tab
  await page.goto(`${url}/pricing`)
  await page.getByLabel('E-mail address').fill('mail@admin.example')
  await page.getByRole('button', { name: 'Pay in Litecoin' }).click()
  await page.getByRole('heading', { name: 'Waiting for your payment' }).waitFor()
  for (const invoice of fake.invoices.values()) {
    invoice.status = 'Settled'
    expect((await deliverCoins(url, fake.delivery(invoice.id, 'InvoiceSettled'))).status).toBe(200)
  }
  await page.reload()
  await page.getByRole('button', { name: 'Show my key' }).click()
  expect(await page.locator('pre').textContent()).toMatch(/^ac_[0-9a-v]{40}$/)
  await page.goto(page.url())
  await page.getByRole('heading', { name: 'Your key was shown' }).waitFor()
  expect(tab.complaints).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'the prices can be read in %s, on a phone as on a wide screen',
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
