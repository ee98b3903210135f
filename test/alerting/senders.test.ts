import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { AddressInput } from '../../src/alerting/channel-address.ts'
import { readAddress } from '../../src/alerting/channel-address.ts'
import { buildMessage, sealedAddress } from '../../src/alerting/message.ts'
import type { Sent } from '../../src/alerting/send.ts'
import { sendAlert } from '../../src/alerting/send.ts'
import type { AlertItem } from '../../src/alerting/sender/item.ts'
import { bodyOf } from '../../src/alerting/sender/sender.ts'
import { readConfig } from '../../src/core/config.ts'
import { seal, site } from '../notification/setup.ts'
import { noon } from '../support/context.ts'
import type { Received, ReceiverAnswer } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { toReceiver } from './setup.ts'

const receiver = await startReceiver()
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
})
const tools = { outbound: toReceiver(receiver), mailer: null, now: () => noon }
const config = readConfig({})

const down: AlertItem = {
  alertId: 'alr_000000000000000000000000',
  about: 'CHANGE',
  change: 'DOWN',
  monitor: { id: 'mon_000000000000000000000000', name: 'API <b>' },
  state: 'DOWN',
  since: noon,
  message: 'HTTP 500 instead of 2xx',
  at: noon,
  count: 1,
  lastedMs: null,
  by: null,
}
const up: AlertItem = { ...down, change: 'UP', state: 'UP', lastedMs: 90_000, message: '' }
const acknowledged: AlertItem = { ...down, about: 'ACKNOWLEDGED', by: 'Ana' }

async function send(input: AddressInput, ...items: readonly AlertItem[]): Promise<Sent> {
  const { kind, data } = readAddress({ config }, input)
  const [first = down, ...others] = items
  const id = 'alc_000000000000000000000000'
  const secrets = { secret: null, formerSecret: null, formerSecretUntil: null }
  const channel = { id, name: 'Ops', address: seal.seal(JSON.stringify(data), sealedAddress(id)), ...secrets }
  const organization = { id: 'org_0', name: 'Acme', slug: 'acme', timeZone: 'UTC' }
  const delivery = { id: 'ald_000000000000000000000000' }
  const message = buildMessage({ delivery, items: [first, ...others], channel, organization }, seal, site.baseUrl, noon)
  return sendAlert(kind, message, tools, 'org_1')
}

const json = ({ body }: Received) => JSON.parse(body)
const answers = (answer: (request: Received) => ReceiverAnswer) => {
  receiver.answer = answer
}
const ack = expect.stringMatching(/^https:\/\/allclear\.example\/alerts\/[-\w]{43}$/)
const monitorUrl = 'https://allclear.example/console/acme/monitors/mon_000000000000000000000000'
const ok = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"ok":true}' }

/** The documentation of each provider: its host, path and headers, the message that it accepts, and how it refuses permanently. */
const providers: readonly {
  readonly name: string
  readonly input: AddressInput
  readonly secret: string
  readonly host: string
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
  readonly refusal: ReceiverAnswer
}[] = [
  {
    name: 'ntfy',
    input: { ntfy: { server: 'https://push.example.com/', topic: 'ops', token: 'tk_secret12345' } },
    secret: 'tk_secret12345',
    host: 'push.example.com',
    path: '/',
    headers: { authorization: 'Bearer tk_secret12345' },
    body: {
      topic: 'ops',
      title: 'Down: API <b>',
      message: expect.stringContaining('HTTP 500'),
      priority: 5,
      tags: ['rotating_light'],
      click: monitorUrl,
      actions: [{ action: 'view', label: 'Acknowledge', url: ack }],
    },
    refusal: { status: 403, body: '{"code":40301,"http":403,"error":"forbidden tk_secret12345"}' },
  },
  {
    name: 'Gotify',
    input: { gotify: { server: 'https://gotify.example.com/base', token: 'Asecret1234567' } },
    secret: 'Asecret1234567',
    host: 'gotify.example.com',
    path: '/base/message',
    headers: { 'x-gotify-key': 'Asecret1234567' },
    body: { title: 'Down: API <b>', message: expect.stringContaining('Acknowledge: https://'), priority: 8 },
    refusal: { status: 401, body: '{"error":"Unauthorized","errorCode":401,"errorDescription":"Asecret1234567"}' },
  },
  {
    name: 'Pushover',
    input: { pushover: { token: 'a'.repeat(30), user: 'u'.repeat(30) } },
    secret: 'a'.repeat(30),
    host: 'api.pushover.net',
    path: '/1/messages.json',
    body: {
      token: 'a'.repeat(30),
      user: 'u'.repeat(30),
      title: 'Down: API <b>',
      message: expect.stringContaining('HTTP 500'),
      priority: 1,
      url: ack,
      timestamp: noon.getTime() / 1000,
    },
    refusal: {
      status: 400,
      body: `{"token":"${'a'.repeat(30)}","errors":["application token is invalid"],"status":0}`,
    },
  },
  {
    name: 'PagerDuty',
    input: { pagerduty: { routingKey: 'k'.repeat(32), region: 'EU' } },
    secret: 'k'.repeat(32),
    host: 'events.eu.pagerduty.com',
    path: '/v2/enqueue',
    body: {
      routing_key: 'k'.repeat(32),
      event_action: 'trigger',
      dedup_key: down.alertId,
      payload: {
        summary: 'Down: API <b>: HTTP 500 instead of 2xx',
        source: 'API <b>',
        severity: 'critical',
        timestamp: noon.toISOString(),
      },
      links: [{ href: monitorUrl, text: 'Open in Allclear' }],
    },
    refusal: { status: 400, body: `{"status":"invalid event","message":"${'k'.repeat(32)}","errors":["bad"]}` },
  },
  {
    name: 'Opsgenie',
    input: { opsgenie: { apiKey: 'eb243592-faa2-4ba2-a551q-1afdf565c889' } },
    secret: 'eb243592-faa2-4ba2-a551q-1afdf565c889',
    host: 'api.opsgenie.com',
    path: '/v2/alerts',
    headers: { authorization: 'GenieKey eb243592-faa2-4ba2-a551q-1afdf565c889' },
    body: { message: 'Down: API <b>', alias: down.alertId, priority: 'P1', source: 'Allclear' },
    refusal: { status: 422, body: '{"message":"Request body is not processable.","took":0.1}' },
  },
  {
    name: 'Mattermost',
    input: { mattermost: { url: 'https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz' } },
    secret: 'abcdefghijklmnopqrstuvwxyz',
    host: 'chat.example.com',
    path: '/hooks/abcdefghijklmnopqrstuvwxyz',
    body: {
      username: 'Acme',
      attachments: [
        expect.objectContaining({
          title: 'Down: API <b>',
          title_link: monitorUrl,
          text: expect.stringContaining('[Acknowledge]('),
        }),
      ],
    },
    refusal: {
      status: 404,
      body: '{"id":"web.incoming_webhook.invalid.app_error","message":"abcdefghijklmnopqrstuvwxyz"}',
    },
  },
  {
    name: 'Matrix',
    input: {
      matrix: { server: 'https://matrix.example.org', roomId: '!ops:example.org', accessToken: 'syt_secret_123' },
    },
    secret: 'syt_secret_123',
    host: 'matrix.example.org',
    path: '/_matrix/client/v3/rooms/!ops%3Aexample.org/send/m.room.message/ald_000000000000000000000000',
    method: 'PUT',
    headers: { authorization: 'Bearer syt_secret_123' },
    body: {
      msgtype: 'm.text',
      body: expect.stringContaining('Down: API <b>'),
      format: 'org.matrix.custom.html',
      formatted_body: expect.stringContaining('<strong>Down: API &#60;b&#62;</strong>'),
    },
    refusal: { status: 403, body: '{"errcode":"M_FORBIDDEN","error":"syt_secret_123 is not in the room"}' },
  },
  {
    name: 'Slack',
    input: { slack: { url: 'https://hooks.slack.com/services/T0000/B0000/abcdefghijkl' } },
    secret: 'abcdefghijkl',
    host: 'hooks.slack.com',
    path: '/services/T0000/B0000/abcdefghijkl',
    body: { text: 'Acme: Down: API &lt;b&gt;' },
    refusal: { status: 404, body: 'no_service abcdefghijkl' },
  },
  {
    name: 'Discord',
    input: { discord: { url: 'https://discord.com/api/webhooks/1/abcdefghijkl' } },
    secret: 'abcdefghijkl',
    host: 'discord.com',
    path: '/api/webhooks/1/abcdefghijkl?wait=true',
    body: { username: 'Acme', embeds: [expect.objectContaining({ title: 'Down: API <b>' })] },
    refusal: { status: 404, body: '{"message":"Unknown Webhook","code":10015}' },
  },
  {
    name: 'Microsoft Teams',
    input: { teams: { url: 'https://prod-1.westeurope.logic.azure.com/workflows/abc?sig=secret123' } },
    secret: 'secret123',
    host: 'prod-1.westeurope.logic.azure.com',
    path: '/workflows/abc?sig=secret123',
    body: { type: 'message' },
    refusal: { status: 410, body: '{"error":{"code":"WorkflowNotFound"}}' },
  },
  {
    name: 'Telegram',
    input: { telegram: { botToken: `12345:${'A'.repeat(35)}`, chatId: '-100' } },
    secret: 'A'.repeat(35),
    host: 'api.telegram.org',
    path: `/bot12345:${'A'.repeat(35)}/sendMessage`,
    body: { chat_id: '-100', parse_mode: 'HTML', text: expect.stringContaining('<b>Down: API &#60;b&#62;</b>') },
    refusal: { status: 403, body: '{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked"}' },
  },
]

describe.each(providers)('$name', ({ input, secret, host, path, method = 'POST', headers = {}, body, refusal }) => {
  test('accepts our message as documented', async () => {
    answers(() => ok)
    expect((await send(input)).result).toMatchObject({ kind: 'delivered', status: 200 })
    const [request] = receiver.received
    expect(request).toMatchObject({ method, path, headers: { ...headers, 'x-host': host } })
    expect(request && json(request)).toMatchObject(body)
  })

  test('refuses permanently, and its response is shown without our secret', async () => {
    answers(() => refusal)
    const { result, answer } = await send(input)
    expect(result).toMatchObject({ kind: 'failed', status: refusal.status })
    expect(result.kind === 'failed' && result.permanence).not.toBe('TEMPORARY')
    expect(answer).not.toContain(secret)
    expect(answer?.length).toBeGreaterThan(5)
  })

  test('is retried when it is overloaded or broken', async () => {
    for (const status of [500, 503]) {
      answers(() => ({ status }))
      expect((await send(input)).result).toMatchObject({ kind: 'failed', permanence: 'TEMPORARY' })
    }
  })
})

test('PagerDuty and Opsgenie get the acknowledgement and the end of an alert', async () => {
  answers(() => ({ status: 202, body: '{"status":"success"}' }))
  const pagerduty = { pagerduty: { routingKey: 'k'.repeat(32) } }
  const opsgenie = { opsgenie: { apiKey: 'eb243592-faa2-4ba2-a551q-1afdf565c889' } }
  for (const input of [pagerduty, opsgenie]) for (const item of [acknowledged, up]) await send(input, item)
  expect(receiver.received.slice(0, 2).map((request) => json(request))).toMatchObject([
    { event_action: 'acknowledge', dedup_key: down.alertId },
    { event_action: 'resolve', dedup_key: down.alertId },
  ])
  expect(receiver.received.slice(2).map(({ path }) => path)).toEqual([
    `/v2/alerts/${down.alertId}/acknowledge?identifierType=alias`,
    `/v2/alerts/${down.alertId}/close?identifierType=alias`,
  ])
})

test('Matrix decides how long to wait before a retry', async () => {
  answers(() => ({ status: 429, body: '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":2500}' }))
  const { result } = await send({
    matrix: { server: 'https://matrix.example.org', roomId: '!ops:example.org', accessToken: 'syt_secret_123' },
  })
  expect(result).toMatchObject({ kind: 'failed', permanence: 'TEMPORARY', retryAfterMs: 2500 })
})

test('a message to people lists or counts its alerts', async () => {
  answers(() => ok)
  const of = (name: string, item: AlertItem) => ({ ...item, alertId: name, monitor: { id: name, name } })
  await send({ ntfy: { topic: 'ops' } }, of('A', down), of('B', down), of('C', up))
  expect(receiver.received.map(json)[0]).toMatchObject({ title: 'Down: A, B · Up: C', priority: 5 })
})

describe('a long message', () => {
  const reason = 'The server said: “é & <b> *no* _way_” again and 👩‍👩‍👧‍👦 again. '.repeat(120)
  const inputs: readonly (readonly [string, AddressInput])[] = providers.flatMap(({ name, input }) =>
    ['PagerDuty', 'Opsgenie', 'Gotify'].includes(name) ? [] : [[name, input] as const],
  )
  test.each(inputs)('of %s keeps time and link of an alert', async (name, input) => {
    answers(() => ok)
    await send(input, { ...down, message: reason })
    const body = receiver.received[0]?.body ?? ''
    expect(body).toContain('/alerts/')
    expect(body).toContain('Since 20 Nov 2026')
    expect(body).toContain('…')
    expect(body).not.toMatch(/\\ud[89a-f]/)
    const { message } = JSON.parse(body)
    if (name === 'ntfy') expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096)
    if (name === 'Pushover') expect(message.length).toBeLessThanOrEqual(1024)
    if (name === 'Mattermost') expect(body.length).toBeLessThanOrEqual(16_383)
  })

  test.each(inputs)('of %s lists the first of many alerts, and counts the others', async (_, input) => {
    answers(() => ok)
    const items = Array.from({ length: 200 }, (_, index) => ({
      ...{ ...down, alertId: `a${index}`, monitor: { id: `m${index}`, name: `Monitor ${index}` } },
    }))
    await send(input, ...items)
    const body = receiver.received[0]?.body ?? ''
    expect(body).toMatch(/Monitor 0.*(\\n|<br>|\n).*… and \d+ more/)
    expect(body).toContain('/alerts/')
  })

  test('is cut at a word of its reason', () => {
    const text = bodyOf({ lines: ['one two three', 'Since noon'], items: [down] }, 20)
    expect(text).toBe('one two…\nSince noon')
  })
})

test('Mattermost mentions no one and formats no names', async () => {
  answers(() => ok)
  const name = '@channel *b* [x](y)'
  await send(
    { mattermost: { url: 'https://chat.example.com/hooks/abcdefghijklmnopqrstuvwxyz' } },
    { ...down, monitor: { ...down.monitor, name }, message: `- ${name}\n# x` },
  )
  const [{ title, fallback, text }] = JSON.parse(receiver.received[0]?.body ?? '').attachments
  expect([title, fallback]).toEqual([`Down: @\u200b${name.slice(1)}`, `Down: @\u200b${name.slice(1)}`])
  expect(text).toContain('\\- @\u200bchannel \\*b\\* \\[x\\](y)\n\\# x\nSince')
})

test.each([
  [{ gotify: { server: 'ftp://x', token: 'abc' } }, /URL of a server/],
  [{ mattermost: { url: 'https://chat.example.com/' } }, /incoming webhook/],
  [{ slack: { url: 'https://example.com/' } }, /hooks\.slack\.com/],
  [{ pagerduty: { routingKey: 'short' } }, /32 letters/],
  [{ ntfy: { topic: 'a b' } }, /letters, digits/],
  [{ ntfy: { topic: 'a' }, slack: { url: '' } }, /exactly one/],
  [{ mail: { address: 'ops@example.com' } }, /isn’t set up/],
  [{}, /exactly one/],
])('refuses %j', (input, reason) => {
  expect(() => readAddress({ config }, input)).toThrow(reason)
})
