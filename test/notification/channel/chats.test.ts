import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createDnsClient } from '../../../src/network/dns/client.ts'
import type { Outbound } from '../../../src/network/outbound/outbound.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { discord } from '../../../src/notification/channel/discord.ts'
import { slack } from '../../../src/notification/channel/slack.ts'
import { teams } from '../../../src/notification/channel/teams.ts'
import { telegram } from '../../../src/notification/channel/telegram.ts'
import { createAuthority } from '../../support/certificate.ts'
import { noon } from '../../support/context.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { startReceiver } from '../../support/receiver.ts'
import { scriptedLists } from '../../support/scripted-lists.ts'
import { baseUrl, contentOf, messageTo } from './messages.ts'

const hosts = {
  slack: 'hooks.slack.com',
  discord: 'discord.com',
  teams: 'prod-1.westeurope.logic.azure.com',
  telegram: 'api.telegram.org',
} as const
const authority = createAuthority()
const receiver = await startReceiver(authority.issue(Object.values(hosts)))
const dnsServer = await startDnsServer(
  scriptedLists(Object.fromEntries(Object.values(hosts).map((host) => [host, ['127.0.0.1']]))),
)
const dns = createDnsClient({ servers: [dnsServer], timeoutMs: 10_000, now: () => noon })
afterAll(async () => {
  await receiver.close()
  await dns.close()
  await dnsServer.close()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = () => ({ status: 200 })
})

/** The services with their certificates on this machine; only the port differs. */
const out = createOutbound({ dns, allowPrivate: true, ca: authority.ca })
const outbound: Pick<Outbound, 'request'> = {
  request: (request, limits) => {
    const url = new URL(request.url)
    url.port = String(receiver.port)
    return out.request({ ...request, url: url.href }, limits)
  },
}
const tools = { outbound, mailer: null, now: () => noon }
const bodyOf = (index = 0) => JSON.parse(receiver.received[index]?.body ?? '{}')
const long = { ...contentOf(), message: '😀x'.repeat(10_000), topic: 'T'.repeat(200), headline: 'H'.repeat(400) }

const channels = {
  slack: { channel: slack, address: `https://${hosts.slack}/services/T0/B0/secret` },
  discord: { channel: discord, address: `https://${hosts.discord}/api/webhooks/1/secret` },
  teams: { channel: teams, address: `https://${hosts.teams}/workflows/1?sig=secret` },
  telegram: { channel: telegram, address: `123456:${'A'.repeat(35)}/-1001` },
}

describe.each(Object.entries(channels))('%s', (name, { channel, address }) => {
  test('is posted over TLS with the event and an unsubscribe link', async () => {
    expect(await channel.send(messageTo(address), tools)).toMatchObject({ kind: 'delivered', status: 200 })
    const [came] = receiver.received
    expect(came).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
    expect(came?.headers.host).toContain(hosts[name as keyof typeof hosts])
    expect(came?.body).toContain('We look into')
    expect(came?.body).toContain(`${baseUrl}/subscriptions/token`)
  })

  test('accepts a message of any length', async () => {
    await channel.send(messageTo(address, { content: long }), tools)
    expect(receiver.received[0]?.body.length).toBeLessThan(16_000)
    // A character cut in half would be written as an escape.
    expect(receiver.received[0]?.body).not.toMatch(/\\ud[89a-f]/)
  })

  test('with a temporary failure is retried at the time that it names', async () => {
    receiver.answer = () => ({
      status: 429,
      ...(name !== 'telegram' && { headers: { 'retry-after': '7' } }),
      body: JSON.stringify({ ok: false, parameters: { retry_after: 7 } }),
    })
    expect(await channel.send(messageTo(address), tools)).toMatchObject({ permanence: 'TEMPORARY', retryAfterMs: 7000 })
    receiver.answer = () => ({ status: 502, body: '<html>' })
    expect(await channel.send(messageTo(address), tools)).toMatchObject({ permanence: 'TEMPORARY', status: 502 })
  })

  test('that no longer exists is not retried', async () => {
    receiver.answer = () => ({ status: 404, body: 'no_service' })
    const outcome = await channel.send(messageTo(address), tools)
    expect(outcome).toMatchObject({ permanence: 'GONE' })
    expect(outcome).toMatchObject({ message: expect.not.stringContaining('secret') })
  })
})

test('Slack gets escaped text', async () => {
  await slack.send(messageTo(channels.slack.address), tools)
  const { text, attachments } = bodyOf()
  expect(text).toContain('API &lt;b&gt;down&lt;/b&gt; &amp;')
  const sectionText = attachments[0].blocks[0].text.text
  expect(sectionText).toContain('&lt;!channel&gt;')
  expect(sectionText).not.toContain('<!channel>')
  expect(sectionText).toContain(`|View the incident>`)
})

test('Discord mentions no one and responds after posting', async () => {
  await discord.send(messageTo(channels.discord.address), tools)
  expect(receiver.received[0]?.path).toBe('/api/webhooks/1/secret?wait=true')
  const { allowed_mentions, embeds } = bodyOf()
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(embeds[0]).toMatchObject({ timestamp: noon.toISOString(), url: expect.stringContaining('/incidents/') })
  receiver.received.length = 0
  await discord.send(messageTo(channels.discord.address, { content: long }), tools)
  const [embed] = bodyOf().embeds
  expect(embed.title.length).toBeLessThanOrEqual(256)
  expect(embed.description.length).toBeLessThanOrEqual(4096)
})

test('Teams gets an adaptive card with escaped text', async () => {
  await teams.send(messageTo(channels.teams.address), tools)
  const { type, attachments } = bodyOf()
  expect([type, attachments[0].contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive'])
  const { body, actions } = attachments[0].content
  expect(JSON.stringify(body)).toContain('\\\\[slow\\\\](https')
  expect(body[2]).toMatchObject({
    type: 'FactSet',
    facts: [{ title: 'Impact', value: 'Major' }, { title: 'Affected' }],
  })
  expect(actions.map(({ type }: { type: string }) => type)).toEqual(['Action.OpenUrl', 'Action.OpenUrl'])
})

test('Telegram gets only supported tags and reports missing chats', async () => {
  await telegram.send(messageTo(channels.telegram.address), tools)
  expect(receiver.received[0]?.path).toBe(`/bot123456:${'A'.repeat(35)}/sendMessage`)
  const { chat_id, text, parse_mode } = bodyOf()
  expect([chat_id, parse_mode]).toEqual(['-1001', 'HTML'])
  expect(text.match(/<\/?\w+/g)).toEqual(['<b', '</b', '<a', '</a', '<a', '</a'])
  for (const [description, permanence] of [
    ['Bad Request: chat not found', 'GONE'],
    ['Bad Request: message is too long', 'REFUSED'],
  ]) {
    receiver.answer = () => ({ status: 400, body: JSON.stringify({ ok: false, description }) })
    expect(await telegram.send(messageTo(channels.telegram.address), tools)).toMatchObject({ permanence })
  }
})

describe('a Telegram group that became a supergroup', () => {
  const moved = (id: unknown) => ({
    status: 400,
    body: JSON.stringify({
      ...{ ok: false, error_code: 400, description: 'Bad Request: group chat was upgraded to a supergroup chat' },
      parameters: { migrate_to_chat_id: id },
    }),
  })
  const send = () => telegram.send(messageTo(channels.telegram.address), tools)

  test('gets the message at its new id, which is kept', async () => {
    receiver.answer = ({ body }) => (JSON.parse(body).chat_id === '-1001' ? moved(-1_009_876_543_210) : { status: 200 })
    const movedTo = expect.objectContaining({
      text: `123456:${'A'.repeat(35)}/-1009876543210`,
      label: 'bot 123456, chat -1009876543210',
    })
    expect(await send()).toMatchObject({ kind: 'delivered', movedTo })
    expect([bodyOf(0).chat_id, bodyOf(1).chat_id]).toEqual(['-1001', '-1009876543210'])
    expect(bodyOf(1).text).toBe(bodyOf(0).text)
  })

  test('is kept at its new id when that fails, and is asked once', async () => {
    receiver.answer = ({ body }) => (JSON.parse(body).chat_id === '-1001' ? moved(-2) : { status: 502 })
    expect(await send()).toMatchObject({
      kind: 'failed',
      permanence: 'TEMPORARY',
      movedTo: { label: 'bot 123456, chat -2' },
    })
    receiver.answer = ({ body }) => moved(JSON.parse(body).chat_id === '-1001' ? -2 : -3)
    receiver.received.length = 0
    await send()
    expect(receiver.received).toHaveLength(2)
  })

  test.each([undefined, null, 'abc', 1.5, {}])('is gone if the answer names the new id %j', async (id) => {
    receiver.answer = () => moved(id)
    expect(await send()).toEqual(expect.not.objectContaining({ movedTo: expect.anything() }))
    expect(await send()).toMatchObject({ permanence: 'GONE' })
  })
})

test('an address must belong to its service and is shown without its secret', () => {
  for (const { channel, address } of [channels.slack, channels.discord, channels.teams]) {
    const parsed = channel.address.parse(address)
    expect(parsed.label).not.toContain(address.split('/').slice(3).join('/'))
    expect(parsed.destination).toBe(new URL(address).host)
    expect(channel.address.safeParse(address.replace('https:', 'http:')).success).toBe(false)
    expect(channel.address.safeParse('https://example.com/services/T0/B0/x').success).toBe(false)
  }
})
