import { createHmac } from 'node:crypto'
import pg from 'pg'
import Stripe from 'stripe'
import { describe, expect, inject, test } from 'vitest'
import { startApp } from '../../../src/app/start.ts'
import { testApp, testConfig } from '../../support/app.ts'
import { noon } from '../../support/context.ts'
import { serverDatabase, serverUrl } from '../../support/database.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { newOrganization, post } from '../../support/graphql-client.ts'
import { silent, temporaryDirectory } from '../../support/scratch.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { checkout, invoice, newSubscriptionId } from '../events.ts'
import { deliver, sendSigned, stripeSettings, webhookSecret } from '../setup.ts'

const dns = await startDnsServer(scriptedLists())
const settings = stripeSettings
const { baseUrl: url } = await testApp({ dns, settings, now: () => noon })

const statusAndCode = async (response: Response) => {
  const body = (await response.json()) as { error?: { code: string }; received?: boolean }
  return [response.status, body.error?.code ?? body]
}
const tierOf = async (from: string, key: string) => {
  const { data } = await post(from, { key, query: '{ organization { tier } }' })
  return (data as unknown as { organization: { tier: string } }).organization.tier
}
const signatureOf = (payload: string, secret = webhookSecret, at = noon) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: at.getTime() / 1000 })

describe('a webhook request', () => {
  test('with a valid signature takes effect immediately, and only once', async () => {
    const { id, key } = await newOrganization(url)
    const event = checkout({ reference: id })
    for (let time = 0; time < 3; time++) {
      expect(await statusAndCode(await deliver(url, event))).toEqual([200, { received: true }])
      expect(await tierOf(url, key)).toBe('PRO')
    }
    const query =
      '{ organization { events(filter: { kind: [TIER_CHANGED] }) { totalCount edges { node { actor } } } } }'
    const { data } = await post(url, { key, query })
    expect(data).toMatchObject({ organization: { events: { totalCount: 1, edges: [{ node: { actor: 'SYSTEM' } }] } } })
  })

  test('of an unhandled type is accepted and ignored', async () => {
    for (const event of [
      { ...checkout(), type: 'charge.refunded' },
      { type: 'v1.billing.meter.no_meter_found', data: 7 },
    ]) {
      expect(await statusAndCode(await deliver(url, event))).toEqual([200, { received: true }])
    }
  })

  test('that is unsigned, changed or too old is rejected', async () => {
    const { id, key } = await newOrganization(url)
    const event = checkout({ reference: id })
    const body = JSON.stringify(event)
    const old = new Date(noon.getTime() - 301_000)
    for (const response of [
      await deliver(url, event, noon, 'whsec_another'),
      await deliver(url, event, old),
      await sendSigned(url, body, ''),
      await sendSigned(url, `${body}\n`, signatureOf(body)),
      await sendSigned(url, body.replace('2900', '9900'), signatureOf(body)),
      await sendSigned(url, '', signatureOf('')),
      await fetch(`${url}/api/v1/billing/webhook`, { method: 'POST', body }),
    ]) {
      expect(await statusAndCode(response)).toEqual([400, 'INVALID_SIGNATURE'])
    }
    expect(await tierOf(url, key)).toBe('FREE')
  })

  test.each([
    ['no JSON', 'hello'],
    ['an empty object', '{}'],
    ['a thin event', JSON.stringify({ ...checkout(), object: 'v2.core.event' })],
  ])('with %s is rejected despite its signature', async (_, body) => {
    expect(await statusAndCode(await sendSigned(url, body, signatureOf(body)))).toEqual([400, 'INVALID_PAYLOAD'])
  })

  test('with a body that is not UTF-8 is rejected despite its signature', async () => {
    const body = Buffer.concat([Buffer.from('{"id":"evt_1","x":"'), Buffer.from([0xff]), Buffer.from('"}')])
    const time = noon.getTime() / 1000
    const hmac = createHmac('sha256', webhookSecret).update(`${time}.`).update(body).digest('hex')
    expect(await statusAndCode(await sendSigned(url, body, `t=${time},v1=${hmac}`))).toEqual([400, 'INVALID_PAYLOAD'])
  })

  test('has at most 256 KiB', async () => {
    const padded = (size: number) => {
      const event = { ...checkout(), padding: '' }
      return { ...event, padding: 'x'.repeat(size - JSON.stringify(event).length) }
    }
    expect(await statusAndCode(await deliver(url, padded(256 * 1024)))).toEqual([200, { received: true }])
    expect(await statusAndCode(await deliver(url, padded(256 * 1024 + 1)))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  test('requires POST and a configured secret', async () => {
    const got = await fetch(`${url}/api/v1/billing/webhook`)
    expect([got.headers.get('allow'), ...(await statusAndCode(got))]).toEqual(['POST', 405, 'METHOD_NOT_ALLOWED'])
    const bare = await testApp({ dns })
    expect(await statusAndCode(await deliver(bare.baseUrl, checkout()))).toEqual([503, 'WEBHOOK_NOT_CONFIGURED'])
    const btcpay = await fetch(`${url}/api/v1/billing/btcpay/webhook`, { method: 'POST', body: '{}' })
    expect(await statusAndCode(btcpay)).toEqual([503, 'WEBHOOK_NOT_CONFIGURED'])
  })
})

test('concurrent events of one subscription in any order give the correct state', async () => {
  const { id, key } = await newOrganization(url)
  const sub = { subscription: newSubscriptionId() }
  const events = [
    checkout({ ...sub, reference: id }),
    ...Array.from({ length: 15 }, (_, index) =>
      invoice({ ...sub, created: noon.getTime() / 1000 + index, lines: [{ amount: index === 14 ? 9900 : 2900 }] }),
    ),
  ].reverse()
  const answers = await Promise.all([...events, ...events].map((event) => deliver(url, event)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await tierOf(url, key)).toBe('TEAM')
})

test.skipIf(serverUrl === undefined)(
  '500 concurrent deliveries of one event, to two services on one PostgreSQL server, have one effect',
  async () => {
    const { url: databaseUrl, remove } = await serverDatabase(serverUrl ?? '', inject('databaseTemplate'))
    const directory = await temporaryDirectory()
    const config = testConfig(dns, directory.path, { ...settings, DATABASE_URL: databaseUrl })
    const apps = [await startApp({ config, log: silent, now: () => noon })]
    apps.push(await startApp({ config, log: silent, now: () => noon }))
    const [one, other] = apps.map(({ baseUrl }) => baseUrl)
    const { id, key } = await newOrganization(one ?? '')
    const event = checkout({ reference: id })
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => deliver((index % 2 ? one : other) ?? '', event)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await tierOf(one ?? '', key)).toBe('PRO')
    const client = new pg.Client(databaseUrl)
    await client.connect()
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM "PaymentEvent") AS events,
              (SELECT count(*)::int FROM "Event" WHERE kind = 'TIER_CHANGED') AS changes`,
    )
    await client.end()
    expect(rows).toEqual([{ events: 1, changes: 1 }])
    for (const app of apps) await app.close()
    await directory.remove()
    await remove()
  },
)
