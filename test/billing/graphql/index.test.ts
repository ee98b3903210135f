import { describe, expect, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { operatorToken } from '../../support/service-data.ts'
import { checkout, MONTH, NOON, newSubscriptionId, subscription } from '../events.ts'
import { deliver, deliverCoins, startBtcpay, stripeSettings } from '../setup.ts'

const dns = await startDnsServer(scriptedLists())
const fake = await startBtcpay()
const settings = { ...stripeSettings, ...fake.settings }
const { baseUrl: url } = await testApp({ dns, settings, now: () => noon })
const { baseUrl: bare } = await testApp({ dns, now: () => noon })

const failure = '... on Error { __typename code message }'
const issues = '... on ValidationError { issues { path message } }'

/** Returns the only field of an operation's data; throws top-level errors. */
async function ask<T>(query: string, key?: string, variables: Record<string, unknown> = {}, from = url): Promise<T> {
  const { data, errors } = await post(from, { query, key, variables })
  if (errors) throw new Error(JSON.stringify(errors.map(({ extensions }) => extensions?.['code'])))
  return Object.values(data ?? {})[0] as unknown as T
}

test('billing shows the plans, limits and usage of an organization', async () => {
  const { id, key } = await newOrganization(url, { pro: true })
  const sub = { subscription: newSubscriptionId() }
  await deliver(url, checkout({ ...sub, reference: id }))
  await deliver(url, subscription({ ...sub, created: NOON + 1 }))
  const limits = 'monitors services subscribers minIntervalSeconds historyDays checksPerDay'
  const { billing } = await ask<{ billing: unknown }>(
    `{ organization { billing { tier limits { ${limits} } usage { ${limits} } upgradeUrls { pro team } checkPlan checkPlanUntil
       subscription { status paysFor currentPeriodEnd cancelAtPeriodEnd } invoices { id } } } }`,
    key,
  )
  expect(billing).toEqual({
    tier: 'PRO',
    limits: {
      monitors: 50,
      services: 100,
      subscribers: 1000,
      minIntervalSeconds: 30,
      historyDays: 365,
      checksPerDay: 1000,
    },
    usage: { monitors: 0, services: 0, subscribers: 0, minIntervalSeconds: null, historyDays: 0, checksPerDay: 0 },
    upgradeUrls: { pro: null, team: expect.stringContaining('/checkout/team?token=') },
    checkPlan: 'PRO',
    checkPlanUntil: null,
    subscription: {
      status: 'ACTIVE',
      paysFor: 'PRO',
      currentPeriodEnd: new Date((NOON + MONTH) * 1000).toISOString(),
      cancelAtPeriodEnd: false,
    },
    invoices: [],
  })
})

describe('startCheckout', () => {
  const start = (tier: string, key?: string, from = url) =>
    ask<Record<string, string>>(
      `mutation ($tier: Tier!) { startCheckout(input: { tier: $tier }) { ... on StartCheckoutPayload { url } ${failure} } }`,
      key,
      { tier },
      from,
    )

  test('returns a URL that redirects to the payment link', async () => {
    const { id, key } = await newOrganization(url)
    const { url: address = '' } = await start('TEAM', key)
    expect(address).not.toContain(key)
    const led = await fetch(address, { redirect: 'manual' })
    expect(led.headers.get('location')).toContain(`https://buy.example/team?client_reference_id=${id}`)
  })

  test('returns typed errors', async () => {
    const { id, key } = await newOrganization(url)
    const { key: other } = await newOrganization(bare)
    expect(await start('FREE', key)).toMatchObject({ __typename: 'NotFoundError', code: 'UNKNOWN_TIER' })
    expect(await start('PRO', other, bare)).toMatchObject({
      __typename: 'UnavailableError',
      code: 'PAYMENT_LINK_NOT_CONFIGURED',
    })
    await deliver(url, checkout({ reference: id }))
    expect(await start('PRO', key)).toMatchObject({ __typename: 'ConflictError', code: 'ALREADY_ON_TIER' })
    await expect(start('PRO')).rejects.toThrow('UNAUTHENTICATED')
  })
})

describe('buyCheckPlan', () => {
  interface Bought {
    readonly invoice: { readonly id: string; readonly status: string; readonly checkoutUrl: string }
    readonly secret: string | null
    readonly code?: string
  }
  const buy = (args: string, key?: string, from = url) =>
    ask<Bought>(
      `mutation { buyCheckPlan(input: { ${args} }) { ... on BuyCheckPlanPayload { invoice { id status checkoutUrl } secret } ${failure} ${issues} } }`,
      key,
      {},
      from,
    )
  const claim = (invoiceId: string, secret: string) =>
    ask<{ apiKey: string | null; invoice: { status: string } }>(
      `mutation ($id: ID!, $secret: String!) { claimCheckPlan(input: { invoiceId: $id, secret: $secret }) {
        ... on ClaimCheckPlanPayload { apiKey invoice { status } } ${failure} } }`,
      undefined,
      { id: invoiceId, secret },
    )
  async function settle(invoiceId: string) {
    const theirs = [...fake.invoices.values()].find(({ metadata }) => metadata['orderId'] === invoiceId)
    if (!theirs) throw new Error('Invoice not found.')
    theirs.status = 'Settled'
    expect((await deliverCoins(url, fake.delivery(theirs.id, 'InvoiceSettled'))).status).toBe(200)
  }

  test('leads a buyer without a key from an email address to a key', async () => {
    const { invoice, secret } = await buy('currency: BTC, email: "mail@admin.example"')
    expect(invoice).toMatchObject({ status: 'NEW', checkoutUrl: expect.stringContaining('https://btcpay.example/i/') })
    expect(await claim(invoice.id, secret ?? '')).toEqual({ apiKey: null, invoice: { status: 'NEW' } })
    await settle(invoice.id)
    const { apiKey } = await claim(invoice.id, secret ?? '')
    expect(await ask('{ organization { checkPlan } }', apiKey ?? '')).toEqual({ checkPlan: 'PRO' })
    expect(await claim(invoice.id, secret ?? '')).toEqual({ apiKey: null, invoice: { status: 'SETTLED' } })
    expect(await claim(invoice.id, 'guess')).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('extends the plan of the key’s organization', async () => {
    const { key } = await newOrganization(url)
    const { invoice, secret } = await buy('currency: LTC', key)
    expect(secret).toBe(null)
    await settle(invoice.id)
    expect(
      await ask('{ organization { checkPlan checkPlanUntil billing { invoices { status settledAt } } } }', key),
    ).toEqual({
      checkPlan: 'PRO',
      checkPlanUntil: '2026-12-20T12:00:00.000Z',
      billing: { invoices: [{ status: 'SETTLED', settledAt: noon.toISOString() }] },
    })
  })

  test('returns typed errors', async () => {
    expect(await buy('currency: BTC')).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['email'] }] })
    expect(await buy('currency: BTC, email: "a@b.example"', undefined, bare)).toMatchObject({
      code: 'PAYMENT_PROVIDER_NOT_CONFIGURED',
    })
    fake.server.fault = 'silent'
    expect(await buy('currency: BTC, email: "a@b.example"')).toMatchObject({
      __typename: 'UnavailableError',
      code: 'PAYMENT_PROVIDER_UNAVAILABLE',
    })
    fake.server.fault = null
    const { key } = await newOrganization(url, { pro: true })
    expect(await buy('currency: BTC', key)).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })
  })

  test('is limited per day for callers without a key', async () => {
    const bought = await Promise.all(Array.from({ length: 21 }, () => buy('currency: LTC, email: "a@b.example"')))
    expect(bought.at(-1)).toEqual({
      __typename: 'LimitExceededError',
      code: 'DAILY_LIMIT_EXCEEDED',
      message: 'The limit of 20 invoices a day (UTC) from your address is reached.',
    })
  })
})

describe('unmatched payments', () => {
  interface Page {
    readonly totalCount: number
    readonly pageInfo: { readonly endCursor: string }
    readonly edges: readonly { readonly node: { readonly id: string } }[]
  }
  const list = (args: string, key?: string) =>
    ask<Page>(
      `{ unmatchedPayments(${args}) { totalCount pageInfo { endCursor }
         edges { node { id provider type reason amount currency email subscriptionId organizationId assignedAt } } } }`,
      key,
    )

  test('can be listed and assigned by the operator only', async () => {
    const { id, key } = await newOrganization(url)
    const [one, two] = [checkout({ amount: 9900 }), checkout({ reference: id, amount: 1 })]
    await deliver(url, one)
    await deliver(url, two)
    await expect(list('first: 1')).rejects.toThrow('UNAUTHENTICATED')
    await expect(list('first: 1', key)).rejects.toThrow('FORBIDDEN')
    const all = await list('first: 10', operatorToken)
    expect(all.totalCount).toBe(2)
    expect(all.edges.map(({ node }) => node)).toContainEqual({
      id: one.id,
      provider: 'STRIPE',
      type: 'checkout.session.completed',
      reason: 'NO_REFERENCE',
      amount: 9900,
      currency: 'eur',
      email: 'payer@acme.example',
      subscriptionId: one.data.object && expect.stringMatching(/^sub_/),
      organizationId: null,
      assignedAt: null,
    })
    const first = await list('first: 1', operatorToken)
    const second = await list(`first: 1, after: "${first.pageInfo.endCursor}"`, operatorToken)
    expect([...first.edges, ...second.edges].map(({ node }) => node.id).sort()).toEqual([one.id, two.id].sort())
    const odd = Buffer.from('GPC:S:\u0000').toString('base64')
    await expect(list(`after: "${odd}"`, operatorToken)).rejects.toThrow('INVALID_INPUT')

    const assign = (input: object, by?: string) =>
      ask<object>(
        `mutation ($input: AssignPaymentInput!) { assignPayment(input: $input) {
          ... on PaymentEvent { organizationId reason assignedAt } ${failure} } }`,
        by,
        { input },
      )
    const input = { paymentEventId: one.id, organizationId: id }
    await expect(assign(input)).rejects.toThrow('UNAUTHENTICATED')
    await expect(assign(input, key)).rejects.toThrow('FORBIDDEN')
    expect(await assign({ ...input, paymentEventId: 'evt_none' }, operatorToken)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await assign(input, operatorToken)).toEqual({
      organizationId: id,
      reason: null,
      assignedAt: noon.toISOString(),
    })
    expect(await ask('{ organization { tier } }', key)).toEqual({ tier: 'TEAM' })
    expect((await list('first: 1', operatorToken)).totalCount).toBe(1)
    await assign({ paymentEventId: two.id, organizationId: id, tier: 'PRO' }, operatorToken)
    expect((await list('first: 1', operatorToken)).totalCount).toBe(0)
  })
})

test('setTier requires the operator', async () => {
  const { id, key } = await newOrganization(url)
  const set = (by?: string, organizationId = id) =>
    ask<object>(
      `mutation ($input: SetTierInput!) { setTier(input: $input) { ... on Organization { tier } ${failure} } }`,
      by,
      { input: { organizationId, tier: 'TEAM' } },
    )
  await expect(set()).rejects.toThrow('UNAUTHENTICATED')
  await expect(set(key)).rejects.toThrow('FORBIDDEN')
  expect(await set(operatorToken, 'org_nobody')).toMatchObject({ code: 'NOT_FOUND' })
  expect(await set(operatorToken)).toEqual({ tier: 'TEAM' })
})
