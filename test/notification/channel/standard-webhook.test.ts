import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { DnsClient } from '../../../src/network/dns/client.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { readRetryAfter } from '../../../src/network/retry-after.ts'
import { webhook } from '../../../src/notification/channel/standard-webhook.ts'
import { noon } from '../../support/context.ts'
import { startReceiver } from '../../support/receiver.ts'
import { outbound } from '../setup.ts'
import { baseUrl, incident, messageTo } from './messages.ts'

const receiver = await startReceiver()
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = () => ({ status: 200 })
})
// The library's clock cannot be set.
const tools = { outbound, mailer: null, now: () => new Date() }
const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_b2xkIHNlY3JldCBvZiB0d2VudHktZm91cg==']
const send = (path = '/hook') => webhook.send(messageTo(receiver.url + path, { secrets }), tools)

test('the Standard Webhooks library verifies a webhook with the new and the old secret', async () => {
  expect(await send()).toEqual({ kind: 'delivered', status: 200, message: 'Answered with status 200.' })
  const [came] = receiver.received
  expect(came?.headers['webhook-id']).toBe('dlv_0123456789abcdef01234567')
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(came?.body ?? '', came?.headers as Record<string, string>)).toMatchObject({
      type: 'incident.created',
      timestamp: noon.toISOString(),
      data: {
        page: { slug: 'acme', url: `${baseUrl}/status/acme` },
        incident: { id: incident.id, status: 'INVESTIGATING', message: incident.message },
        unsubscribe_url: `${baseUrl}/subscriptions/token/unsubscribe`,
      },
    })
  }
  const other = new Webhook('whsec_b3RoZXIgc2VjcmV0IG9mIHR3ZW50eS1mb3Vy')
  expect(() => other.verify(came?.body ?? '', came?.headers as Record<string, string>)).toThrow()
})

test.each([
  [204, 'delivered', undefined],
  [302, 'failed', 'TEMPORARY'],
  [400, 'failed', 'TEMPORARY'],
  [404, 'failed', 'TEMPORARY'],
  [410, 'failed', 'GONE'],
  [500, 'failed', 'TEMPORARY'],
])('a response with %i means %s %s', async (status, kind, permanence) => {
  receiver.answer = () => ({ status, headers: { location: '/elsewhere' } })
  expect(await send()).toMatchObject({ kind, status, ...(permanence && { permanence }) })
  expect(receiver.received.length, 'no redirect is followed').toBe(1)
})

test('a message is not posted to private addresses unless allowed', async () => {
  const guarded = createOutbound({ dns: {} as DnsClient, allowPrivate: false })
  const outcome = await webhook.send(messageTo(receiver.url, { secrets }), { ...tools, outbound: guarded })
  expect(outcome).toMatchObject({ kind: 'failed', status: null, permanence: 'TEMPORARY' })
  expect(receiver.received).toEqual([])
})

test.each([
  [undefined, null],
  ['120', 120_000],
  ['0.5', 500],
  ['0', 0],
  ['Fri, 20 Nov 2026 12:01:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['soon', null],
  ['-5', null],
  ['99999999999999', null],
])('Retry-After %s is %s milliseconds', (value, milliseconds) => {
  expect(readRetryAfter({ 'retry-after': value }, noon)).toBe(milliseconds)
})
