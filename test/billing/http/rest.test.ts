import { describe, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { bodyReader, nestingFaults } from '../../support/markup.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'
import { checkout, deleted, MONTH, NOON, newSubscriptionId, subscription } from '../events.ts'
import { deliver, stripeSettings } from '../setup.ts'

let at = noon
const dns = await startDnsServer(scriptedLists())
const { baseUrl: url } = await testApp({ dns, settings: stripeSettings, now: () => at })
const { baseUrl: bare } = await testApp({ dns, now: () => at })

const get = (path: string, headers: Record<string, string> = {}, from = url) =>
  fetch(`${from}/api/v1/billing${path}`, { headers, redirect: 'manual' })
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}
interface Status {
  readonly tier: string
  readonly upgrade_urls: Readonly<Record<string, string>>
}
const statusOf = async (key: string) => (await (await get('/status', bearer(key))).json()) as Status

describe('checkout', () => {
  test('redirects to the payment link of the tier with the organization as reference', async () => {
    const { id, key } = await newOrganization(url)
    const response = await get('/checkout/pro', bearer(key))
    expect(response.status).toBe(303)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('location')).toBe(
      `https://buy.example/pro?locale=de&client_reference_id=${id}&prefilled_email=ops%40acme.example`,
    )
  })

  test('accepts the token of an upgrade URL in place of a key for an hour', async () => {
    const { id, key } = await newOrganization(url)
    const { upgrade_urls: urls } = await statusOf(key)
    expect(Object.keys(urls)).toEqual(['pro', 'team'])
    const team = await fetch(urls['team'] ?? '', { redirect: 'manual' })
    expect(team.headers.get('location')).toContain(`https://buy.example/team?client_reference_id=${id}`)
    expect(urls['team']).not.toContain(key)
    at = new Date(noon.getTime() + 3_600_000)
    expect(await errorOf(await fetch(urls['team'] ?? '', { redirect: 'manual' }))).toEqual([401, 'INVALID_TOKEN'])
    at = noon
    const forged = (urls['pro'] ?? '').replace(id, 'org_000000000000000000000000')
    expect(await errorOf(await fetch(forged, { redirect: 'manual' }))).toEqual([401, 'INVALID_TOKEN'])
    expect(await errorOf(await get('/checkout/pro?token='))).toEqual([401, 'INVALID_TOKEN'])
  })

  test('returns typed errors', async () => {
    const { id, key } = await newOrganization(url)
    const { key: other } = await newOrganization(bare)
    const status = await (await get('/status', bearer(other), bare)).json()
    expect(status).toMatchObject({ upgrade_urls: { pro: expect.any(String), team: expect.any(String) } })
    expect(await errorOf(await get('/checkout/free', bearer(key)))).toEqual([404, 'UNKNOWN_TIER'])
    expect(await errorOf(await get('/checkout/PRO', bearer(key)))).toEqual([404, 'UNKNOWN_TIER'])
    expect(await errorOf(await get('/checkout/constructor', bearer(key)))).toEqual([404, 'UNKNOWN_TIER'])
    expect(await errorOf(await get('/checkout/pro'))).toEqual([401, 'UNAUTHENTICATED'])
    expect(await errorOf(await get('/checkout/pro', bearer('ac_x')))).toEqual([401, 'INVALID_API_KEY'])
    expect(await errorOf(await get('/checkout/pro', bearer(other), bare))).toEqual([503, 'PAYMENT_LINK_NOT_CONFIGURED'])
    await deliver(url, checkout({ reference: id, amount: 9900 }))
    expect(await errorOf(await get('/checkout/team', bearer(key)))).toEqual([409, 'ALREADY_ON_TIER'])
    expect(await errorOf(await get('/checkout/pro', bearer(key)))).toEqual([409, 'ALREADY_ON_TIER'])
    const posted = await fetch(`${url}/api/v1/billing/checkout/pro`, { method: 'POST' })
    expect([posted.headers.get('allow'), ...(await errorOf(posted))]).toEqual(['GET, HEAD', 405, 'METHOD_NOT_ALLOWED'])
    expect(await errorOf(await get('/nowhere'))).toEqual([404, 'NOT_FOUND'])
  })

  test('shows a browser an error page', async () => {
    const response = await get('/checkout/pro?token=old', { accept: 'text/html,*/*' })
    expect(response.status).toBe(401)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(await response.text()).toContain('<h1>Link expired</h1>')
  })
})

describe('status', () => {
  test('has exactly the specified fields', async () => {
    const { id, key } = await newOrganization(url, { pro: true })
    await post(url, {
      key,
      query: 'mutation { createService(input: { name: "API" }) { __typename } }',
    })
    expect(await statusOf(key)).toEqual({
      organization_id: id,
      tier: 'free',
      limits: {
        monitors: 5,
        services: 10,
        subscribers: 50,
        min_interval_seconds: 60,
        history_days: 30,
        checks_per_day: 1000,
      },
      usage: {
        monitors: 0,
        services: 1,
        subscribers: 0,
        min_interval_seconds: null,
        history_days: 0,
        checks_per_day: 0,
      },
      subscription: null,
      upgrade_urls: { pro: expect.any(String), team: expect.any(String) },
    })
    expect(await errorOf(await get('/status'))).toEqual([401, 'UNAUTHENTICATED'])
    expect(await errorOf(await get('/status', bearer(operatorToken)))).toEqual([401, 'UNAUTHENTICATED'])
  })

  test('shows the subscription and offers only higher tiers', async () => {
    const { id, key } = await newOrganization(url)
    const sub = { subscription: newSubscriptionId() }
    await deliver(url, checkout({ ...sub, reference: id }))
    await deliver(url, subscription({ ...sub, created: NOON + 1, cancelAtEnd: true }))
    expect(await statusOf(key)).toMatchObject({
      tier: 'pro',
      limits: { monitors: 50, checks_per_day: 100 },
      subscription: {
        status: 'active',
        current_period_end: new Date((NOON + MONTH) * 1000).toISOString(),
        cancel_at_period_end: true,
      },
      upgrade_urls: { team: expect.stringMatching(/^http.*\/api\/v1\/billing\/checkout\/team\?token=/) },
    })
    expect(Object.keys((await statusOf(key)).upgrade_urls)).toEqual(['team'])
    await deliver(url, deleted({ ...sub, created: NOON + 2 }))
    expect(await statusOf(key)).toMatchObject({ tier: 'free', subscription: { status: 'canceled' } })
  })
})

describe('returning from the provider', () => {
  test('returns JSON to scripts and changes nothing', async () => {
    const { key } = await newOrganization(url)
    const json = { accept: 'application/json', ...bearer(key) }
    expect(await (await get('/success', json)).json()).toEqual({ status: 'success' })
    expect(await (await get('/cancel', json)).json()).toEqual({ status: 'cancelled' })
    expect((await statusOf(key)).tier).toBe('free')
  })

  test('shows a page to browsers', async () => {
    for (const [path, words] of [
      ['/success', 'Thank you for your payment'],
      ['/cancel', 'Nothing was paid'],
    ] as const) {
      const response = await get(path, { cookie: 'allclear_payer=forged' })
      const html = await response.text()
      expect(response.status).toBe(200)
      expect(html).toContain(`<h1>${words}</h1>`)
      expect(html).not.toContain('<script')
      expect(nestingFaults(html)).toEqual([])
    }
  })

  test('with the checkout’s cookie shows the tier as soon as the webhook arrives', async () => {
    const { id, key } = await newOrganization(url)
    const left = (await get('/checkout/team', bearer(key))).headers.getSetCookie()[0] ?? ''
    expect(left).toMatch(/^allclear_payer=\S+; Max-Age=86400; Path=\/api\/v1\/billing; HttpOnly; SameSite=Lax$/)
    const cookie = left.split(';')[0] ?? ''
    const waiting = await (await get('/success', { cookie })).text()
    expect(waiting).toContain('<h1>Thank you for your payment</h1>')
    expect(waiting).toContain('The organization is currently on Free')
    expect(waiting).toMatch(/<script defer="" src="\/assets\/success\.\w+\.js"><\/script>/)
    expect(nestingFaults(waiting)).toEqual([])
    const after = /data-after="(\w+)"/.exec(waiting)?.[1]
    const live = bodyReader(await get(`/success/live?after=${after}`, { cookie }))
    expect(await live.until('\n')).toBe(':\n\n')
    await deliver(url, checkout({ reference: id, amount: 9900 }))
    expect(await live.until('changed')).toContain('event: changed\ndata:\n\n')
    const done = await (await get('/success', { cookie })).text()
    expect(done).toContain('<h1>You are on Team</h1>')
    expect(done).not.toContain('<script')
    // The stream includes a change that happened before it opened.
    expect(await bodyReader(await get(`/success/live?after=${after}`, { cookie })).until('changed')).toContain(
      'changed',
    )
    expect(await errorOf(await get('/success/live'))).toEqual([404, 'NOT_FOUND'])
  })
})

test('a stopping service ends open streams', async () => {
  const app = await testApp({ dns, settings: stripeSettings })
  const { key } = await newOrganization(app.baseUrl)
  const cookie = (await get('/checkout/team', bearer(key), app.baseUrl)).headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const live = bodyReader(await get('/success/live', { cookie }, app.baseUrl))
  await live.until('\n')
  expect(await app.close()).toEqual([])
  expect(await live.until('nothing')).toBe(':\n\n')
})
