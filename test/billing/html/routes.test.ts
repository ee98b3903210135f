import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { nestingFaults, repeatedIds } from '../../support/markup.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { checkout } from '../events.ts'
import { btcpaySecret, deliver, deliverCoins, startBtcpay, stripeSettings, webhookSecret } from '../setup.ts'

const at = noon
const dns = await startDnsServer(scriptedLists())
const fake = await startBtcpay()
const settings = { ...stripeSettings, ...fake.settings, STRIPE_PRO_AMOUNT: '1950' }
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
const { baseUrl: url } = await testApp({ dns, settings, now: () => at, log })
const { baseUrl: bare } = await testApp({ dns, now: () => at })

const submit = (path: string, fields: Record<string, string>, cookie = '') =>
  fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers: { cookie } })

function wellFormed(html: string): string {
  expect(nestingFaults(html)).toEqual([])
  expect(repeatedIds(html)).toEqual([])
  expect(html).not.toContain('<script')
  return html
}

describe('/pricing', () => {
  test('shows the current limits and prices, and the available ways to pay', async () => {
    const html = wellFormed(await (await fetch(`${url}/pricing`)).text())
    for (const words of ['€0', '€19.50', '€99', '€9', '500 monitors', 'every 10 s', '730 days', '1,000 checks a day']) {
      expect(html).toContain(words)
    }
    expect(html).toContain('Upgrade to Pro')
    expect(html).toContain('Pay in Litecoin')
    expect(html).toContain('<a href="/pricing" aria-current="page">Prices</a>')
  })

  test('offers nothing without payment settings', async () => {
    const html = wellFormed(await (await fetch(`${bare}/pricing`)).text())
    expect(html).not.toContain('<form')
    expect(html).toContain('Payments aren’t set up here')
    expect(html).toContain('Crypto payments aren’t set up here')
    expect(html).toContain('<h1>Limits</h1>')
    expect(html).toContain('500 monitors')
    expect(html).not.toMatch(/[€$]|Prices|href="\/pricing|class="price"|Bitcoin/)
  })
})

describe('upgrading', () => {
  test('leads from a key to the payment link, without the key in a URL', async () => {
    const { id, key } = await newOrganization(url)
    const response = await submit('/pricing/upgrade', { tier: 'pro', key: ` ${key} ` })
    const html = wellFormed(await response.text())
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(html).toContain('<h1>Upgrade to Pro</h1>')
    expect(html).toContain('€19.50 a month')
    expect(html).not.toContain(key)
    const link = /href="([^"]+\/checkout\/pro\?token=[^"]+)"/.exec(html)?.[1] ?? ''
    const led = await fetch(link, { redirect: 'manual' })
    expect(led.headers.get('location')).toContain(`client_reference_id=${id}`)
  })

  test('shows errors on the page', async () => {
    const { id, key } = await newOrganization(url)
    const errorAfter = async (fields: Record<string, string>) => {
      const response = await submit('/pricing/upgrade', fields)
      const html = wellFormed(await response.text())
      return [response.status, /<p class="problem" id="tier-problem" role="alert"[^>]*>([^<]*)</.exec(html)?.[1]]
    }
    expect(await errorAfter({ tier: 'pro', key: 'ac_wrong' })).toEqual([
      400,
      expect.stringContaining('unknown, revoked'),
    ])
    expect(await errorAfter({ tier: 'pro' })).toEqual([400, expect.stringContaining('unknown, revoked')])
    expect(await errorAfter({ tier: 'gold', key })).toEqual([400, expect.stringContaining('tier does not exist')])
    await deliver(url, checkout({ reference: id, amount: 9900 }))
    expect(await errorAfter({ tier: 'pro', key })).toEqual([
      400,
      expect.stringContaining('is already on the team tier'),
    ])
    expect(await errorAfter({ key: 'x'.repeat(9000) })).toEqual([400, expect.stringContaining('KiB')])
  })
})

describe('buying the check plan', () => {
  const buy = async (fields: Record<string, string> = {}) => {
    const response = await submit('/pricing/check-plan', { currency: 'BTC', email: 'mail@admin.example', ...fields })
    const [left = ''] = response.headers.getSetCookie()
    return { response, path: response.headers.get('location') ?? '', left, cookie: left.split(';')[0] ?? '' }
  }
  const show = async (path: string, cookie: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method, headers: { cookie }, redirect: 'manual' })
    return { status: response.status, headers: response.headers, html: wellFormed(await response.text()) }
  }
  const becomes = async (path: string, status: string) => {
    const id = path.split('/').at(-1)
    const theirs = [...fake.invoices.values()].find(({ metadata }) => metadata['orderId'] === id)
    if (!theirs) throw new Error('Invoice not found.')
    theirs.status = status
    const answer = await deliverCoins(url, fake.delivery(theirs.id, `Invoice${status}`))
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }])
  }

  test('shows the buyer’s browser the progress, and the key once on request', async () => {
    const { response, path, left, cookie } = await buy()
    expect(response.status).toBe(303)
    expect(path).toMatch(/^\/billing\/check-plan\/[0-9a-v]{24}$/)
    expect(left).toMatch(
      new RegExp(`^allclear_purchase=[0-9a-v]{32}; Max-Age=2592000; Path=${path}; HttpOnly; SameSite=Lax$`),
    )
    const waiting = await show(path, cookie)
    expect(waiting.html).toContain('<h1>Waiting for your payment</h1>')
    expect(waiting.html).toContain('href="https://btcpay.example/i/')
    expect(waiting.headers.get('refresh')).toBe('15')
    await becomes(path, 'Processing')
    expect((await show(path, cookie)).html).toContain('<h1>Payment detected</h1>')
    await becomes(path, 'Settled')
    for (let time = 0; time < 2; time++) {
      const settled = await show(path, cookie)
      expect(settled.html).toContain('Show my key')
      expect(settled.html).not.toContain('ac_')
      expect(settled.headers.get('refresh')).toBe(null)
    }
    const shown = await show(path, cookie, 'POST')
    expect(shown.headers.get('cache-control')).toBe('no-store')
    const key = /<code>(ac_[0-9a-v]{40})<\/code>/.exec(shown.html)?.[1]
    const { data } = await post(url, { key, query: '{ organization { checkPlan billing { checkPlanUntil } } }' })
    expect(data).toEqual({
      organization: { checkPlan: 'PRO', billing: { checkPlanUntil: '2026-12-20T12:00:00.000Z' } },
    })
    for (const method of ['GET', 'POST']) {
      const after = await show(path, cookie, method)
      expect(after.html).toContain('<h1>Your key was already shown</h1>')
      expect(after.html).not.toContain('ac_')
    }
  })

  test('shows nothing to another browser', async () => {
    const { path } = await buy()
    const { cookie: other } = await buy()
    await becomes(path, 'Settled')
    const nowhere = await show('/billing/check-plan/000000000000000000000000', other)
    for (const cookie of ['', other, 'allclear_purchase=%00']) {
      for (const method of ['GET', 'POST']) {
        const seen = await show(path, cookie, method)
        expect([seen.status, seen.html]).toEqual([404, nowhere.html])
      }
    }
  })

  test.each([
    ['Expired', 'Invoice expired'],
    ['Invalid', 'Payment rejected'],
  ])('shows an invoice that is %s', async (status, title) => {
    const { path, cookie } = await buy()
    await becomes(path, status)
    expect((await show(path, cookie)).html).toContain(`<h1>${title}</h1>`)
  })

  test('with a key extends the plan of its organization', async () => {
    const { key } = await newOrganization(url)
    const { response, cookie } = await buy({ key, email: '' })
    expect(response.status).toBe(200)
    const html = wellFormed(await response.text())
    expect(html).toContain('<p class="eyebrow">Acme</p><h1>30 days of the pro check plan</h1>')
    expect(html).toMatch(/<a class="button" href="https:\/\/btcpay.example\/i\/\w+">Pay in Bitcoin<\/a>/)
    expect(html).not.toContain('get your key')
    const back = () => show('/billing/check-plan/renew', cookie)
    const waiting = await back()
    expect(waiting.html).toContain('This organization has no pro check plan.')
    expect(waiting.html).toContain('If you have just paid, this page shows it within a minute.')
    expect(waiting.headers.get('refresh')).toBe('15')
    const { data } = await post(url, { key, query: '{ organization { billing { invoices { id status currency } } } }' })
    const [invoice] = (data as unknown as { organization: { billing: { invoices: { id: string }[] } } }).organization
      .billing.invoices
    expect(invoice).toMatchObject({ status: 'NEW', currency: 'BTC' })
    await becomes(`/${invoice?.id}`, 'Settled')
    expect((await back()).html).toContain('<h1>Payment received</h1>')
    const after = await post(url, { key, query: '{ organization { checkPlan } }' })
    expect(after.data).toEqual({ organization: { checkPlan: 'PRO' } })
  })

  test('shows errors on the page', async () => {
    const errorAfter = async (fields: Record<string, string>) => {
      const { response } = await buy(fields)
      const html = wellFormed(await response.text())
      return [response.status, /<p class="problem" id="plan-problem" role="alert"[^>]*>([^<]*)</.exec(html)?.[1]]
    }
    expect(await errorAfter({ email: '' })).toEqual([400, 'The email is required.'])
    expect(await errorAfter({ email: 'nobody' })).toEqual([400, 'The email must be an email address.'])
    expect(await errorAfter({ key: 'ac_wrong' })).toEqual([400, expect.stringContaining('unknown, revoked')])
    const { key } = await newOrganization(url, { pro: true })
    expect(await errorAfter({ key })).toEqual([
      400,
      expect.stringContaining('has no end, so there is nothing to pay for'),
    ])
    fake.server.fault = 'error'
    expect(await errorAfter({})).toEqual([400, expect.stringContaining('Nothing was charged')])
    fake.server.fault = null
  })

  test('marks the invalid field and moves the focus to the error', async () => {
    const complained = async (fields: Record<string, string>) => {
      const html = wellFormed(await (await buy(fields)).response.text())
      expect(html).toContain('id="plan-problem" role="alert" tabindex="-1" autofocus=""')
      return /name="(\w+)"[^>]*aria-invalid="true" aria-describedby="plan-problem"/.exec(html)?.[1]
    }
    expect(await complained({ email: 'nobody' })).toBe('email')
    expect(await complained({ key: 'ac_wrong' })).toBe('key')
    expect(await complained({ currency: 'DOGE' })).toBe(undefined)
  })

  test('is limited per client address', async () => {
    let last = await buy()
    for (let time = 0; time < 20 && last.response.status === 303; time++) last = await buy()
    expect(last.response.status).toBe(429)
    expect(wellFormed(await last.response.text())).toContain(
      'The limit of 20 invoices a day (UTC) from your address is reached.',
    )
  })
})

describe('a webhook request of the payment server', () => {
  test('without a signature or content is rejected', async () => {
    const body = fake.delivery('btcpay1', 'InvoiceSettled')
    const codeOf = async (response: Response) => [
      response.status,
      ((await response.json()) as { error: { code: string } }).error.code,
    ]
    expect(await codeOf(await deliverCoins(url, body, 'another'))).toEqual([400, 'INVALID_SIGNATURE'])
    expect(await codeOf(await deliverCoins(url, '{}'))).toEqual([400, 'INVALID_PAYLOAD'])
    expect(await codeOf(await deliverCoins(bare, body))).toEqual([503, 'WEBHOOK_NOT_CONFIGURED'])
  })
})

test('the log contains no key, secret, token or email address', () => {
  const text = logged.join('')
  expect(text).toContain('rejected a webhook request')
  expect(text).toContain('billing: ')
  for (const secret of [webhookSecret, btcpaySecret, 'key-of-the-tests', 'token=', 'admin.example', 'payer@']) {
    expect(text).not.toContain(secret)
  }
  expect(text).not.toMatch(/ac_[0-9a-v]{8}|allclear_purchase/)
})
