// @slow
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, describe, expect, test } from 'vitest'
import { acknowledgeAlert, acknowledgeByToken, linkedAlerts } from '../../src/alerting/acknowledge.ts'
import { alertPages } from '../../src/alerting/html/routes.tsx'
import { weekdays } from '../../src/alerting/quiet-hours.ts'
import { NotFound } from '../../src/core/errors.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { sendRaw } from '../support/raw-http.ts'
import type { Received } from '../support/receiver.ts'
import { alertedWithReceiver } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const { receiver, alerted } = await alertedWithReceiver(database)

const pagerduty = { pagerduty: { routingKey: 'a'.repeat(32) } }
const topic = (name: string) => ({ name, ntfy: { topic: name } })
const body = ({ body }: Received) => JSON.parse(body)
/** The sent messages, as `topic: title`. */
const sent = () =>
  receiver.received
    .filter(({ headers }) => headers['x-host'] === 'ntfy.sh')
    .map(body)
    .map(({ topic, title }) => `${topic}: ${title}`)
const visitor = () => ({ ...alerted.system, actor: { kind: 'visitor' } as const })
/** The token of the link in the last message. */
const lastToken = () => /alerts\/([-\w]{43})/.exec(receiver.received.at(-1)?.body ?? '')?.[1] ?? ''

async function failing(tenant: Tenant) {
  const monitor = await alerted.monitor(tenant, 'API')
  await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
  await alerted.run(tenant, 0.25)
  return monitor
}

describe('an unacknowledged alert', () => {
  test('repeats reminders and escalates once, until it is over', async () => {
    const tenant = await alerted.tenant()
    const boss = await alerted.channel(tenant, { ...topic('boss'), when: ['LISTED'] })
    const escalate = { channelId: boss.id, afterMinutes: 10 }
    await alerted.channel(tenant, { ...topic('team'), remindAfterMinutes: 30, escalate, when: ['DOWN'] })
    const monitor = await failing(tenant)
    await alerted.run(tenant, 62, 1)
    expect(sent()).toEqual([
      'team: Down: API',
      'boss: Not acknowledged: down: API',
      'team: Still down: API',
      'team: Still down: API',
    ])
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 120, 10)
    expect(sent()).toHaveLength(4)
  })

  test('escalates only after quiet times', async () => {
    const tenant = await alerted.tenant()
    alerted.time = 0
    const boss = await alerted.channel(tenant, { ...topic('boss'), when: ['LISTED'] })
    const quietTimes = { windows: [{ days: weekdays, from: '12:00', to: '13:00' }], timeZone: 'UTC' }
    await alerted.channel(tenant, { ...topic('team'), quietTimes, escalate: { channelId: boss.id, afterMinutes: 5 } })
    await failing(tenant)
    await alerted.run(tenant, 58, 2)
    expect(sent()).toEqual([])
    await alerted.run(tenant, 10, 1)
    expect(sent()).toEqual(['team: Down: API', 'boss: Not acknowledged: down: API'])
  })
})

describe('acknowledging', () => {
  test('ends reminders and escalation, and notifies PagerDuty', async () => {
    const tenant = await alerted.tenant()
    const boss = await alerted.channel(tenant, { ...topic('boss'), when: ['LISTED'] })
    const escalate = { channelId: boss.id, afterMinutes: 10 }
    await alerted.channel(tenant, { ...topic('team'), remindAfterMinutes: 5, escalate })
    await alerted.channel(tenant, pagerduty)
    await failing(tenant)
    const alert = await prisma.alert.findFirstOrThrow({ where: { organizationId: tenant.id } })
    const acknowledged = await acknowledgeAlert(alerted.own(tenant), alert.id)
    expect(acknowledged).toMatchObject({ acknowledgedBy: expect.stringMatching(/^API key /) })
    await acknowledgeAlert(alerted.own(tenant), alert.id)
    await alerted.run(tenant, 60, 5)
    expect(sent()).toEqual(['team: Down: API'])
    const events = receiver.received.filter(({ headers }) => headers['x-host'] === 'events.pagerduty.com').map(body)
    expect(events.map(({ event_action: action }) => action)).toEqual(['trigger', 'acknowledge'])
    expect((await tenant.news()).filter((each) => each.startsWith('ALERT_ACK'))).toEqual(['ALERT_ACKNOWLEDGED API'])
  })

  test('works once per link of a message; an alert that fails again needs a new link', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, { ...topic('team'), remindAfterMinutes: 5 })
    const monitor = await failing(tenant)
    const token = lastToken()
    // Mail scanners only open the page.
    for (let each = 0; each < 3; each += 1)
      expect(await linkedAlerts(visitor(), token)).toMatchObject({ isUsed: false })
    expect(await prisma.alert.count({ where: { organizationId: tenant.id, acknowledgedAt: { not: null } } })).toBe(0)
    const [first, second] = await Promise.all([1, 2].map(() => acknowledgeByToken(visitor(), token)))
    expect([first, second]).toMatchObject([{ isUsed: true }, { isUsed: true }])
    const by = 'the link sent to team'
    expect((await linkedAlerts(visitor(), token)).alerts).toMatchObject([{ acknowledgedBy: by }])
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
    alerted.time += 1
    await alerted.setState(tenant, [monitor], 'DOWN')
    await alerted.run(tenant, 1)
    await acknowledgeByToken(visitor(), token)
    expect(await prisma.alert.findFirst({ where: { organizationId: tenant.id } })).toMatchObject({
      count: 2,
      acknowledgedAt: null,
    })
    expect(lastToken()).not.toBe(token)
    await acknowledgeByToken(visitor(), lastToken())
    expect(await prisma.alert.findFirst({ where: { organizationId: tenant.id } })).toMatchObject({ acknowledgedBy: by })
  })

  test('of a later outage needs the link of a later message, even if the first link is unused', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, topic('team'))
    const monitor = await failing(tenant)
    const token = lastToken()
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
    alerted.time += 1
    await alerted.setState(tenant, [monitor], 'DOWN')
    await alerted.run(tenant, 1)
    expect(await linkedAlerts(visitor(), token)).toMatchObject({ isUsed: false, alerts: [{ hasBegunAgain: true }] })
    await acknowledgeByToken(visitor(), token)
    const found = () => prisma.alert.findFirst({ where: { organizationId: tenant.id } })
    expect(await found()).toMatchObject({ count: 2, acknowledgedAt: null })
    await acknowledgeByToken(visitor(), lastToken())
    expect(await found()).toMatchObject({ count: 2, acknowledgedAt: alerted.now() })
  })

  test('is impossible with the content of the database alone', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, topic('team'))
    await failing(tenant)
    const rows = await prisma.$queryRaw`SELECT each::text FROM "AlertDelivery" AS each`
    expect(lastToken()).toHaveLength(43)
    expect(JSON.stringify(rows)).not.toContain(lastToken())
    for (const token of ['', 'x', 'a'.repeat(43), '\u0000'])
      await expect(acknowledgeByToken(visitor(), token)).rejects.toThrow(NotFound)
  })
})

describe('the page of an acknowledgement link', async () => {
  const site = {
    baseUrl: 'https://allclear.example',
    assets: { url: (name: string) => `/${name}`, routes: new Hono() },
  }
  const app = alertPages({ site, contextOf: visitor })
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  /** Everything that an acknowledgement changes. */
  const stateOf = async (tenant: Tenant) => {
    const where = { organizationId: tenant.id }
    return [
      await prisma.alert.findMany({ where }),
      await prisma.alertRecipient.findMany({ where: { alert: where } }),
      await prisma.alertDelivery.findMany({ where }),
      await tenant.news(),
    ]
  }
  let teams = 0
  /** A tenant whose team was notified of a monitor that is down, beside other such tenants. */
  async function alerting() {
    const tenant = await alerted.tenant()
    const team = `team-${++teams}`
    const boss = await alerted.channel(tenant, { ...topic(`boss-of-${team}`), when: ['LISTED'] })
    const escalate = { channelId: boss.id, afterMinutes: 10 }
    await alerted.channel(tenant, { ...topic(team), remindAfterMinutes: 5, escalate })
    await failing(tenant)
    const messages = () => sent().filter((each) => each.includes(`${team}: `))
    const first = receiver.received.find(({ body }) => body.includes(`"${team}"`))
    return { tenant, team, messages, path: /\/alerts\/[-\w]{43}/.exec(first?.body ?? '')?.[0] ?? expect.unreachable() }
  }

  const prefetches: readonly Readonly<Record<string, string>>[] = [
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
    { purpose: 'prefetch', 'x-purpose': 'preview' },
    { 'x-moz': 'prefetch' },
    // Headers that some frameworks use as the method.
    { 'x-http-method-override': 'POST', 'x-method-override': 'POST', 'x-http-method': 'POST' },
    { 'user-agent': 'Mozilla/5.0 (compatible; Slackbot-LinkExpanding 1.0)', range: 'bytes=0-32767' },
  ]
  const scans: readonly (readonly [
    name: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    suffix: string,
  ])[] = [
    ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].flatMap((method) =>
      [{}, ...prefetches].map((headers) => [Object.entries(headers).join() || 'plainly', method, headers, ''] as const),
    ),
    ['with a query', 'GET', {}, '?_method=POST&acknowledge=true'],
    ['with an empty query', 'GET', {}, '?'],
    ['with the query of a form', 'HEAD', {}, '?acknowledge='],
    [
      'before a request of another site',
      'OPTIONS',
      { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      '',
    ],
  ]

  test('changes nothing for a mail scanner, regardless of what it sends, except the form', async () => {
    const { tenant, team, path, messages } = await alerting()
    const before = await stateOf(tenant)
    for (const [name, method, headers, suffix] of scans) {
      const response = await fetch(url + path + suffix, { method, headers, redirect: 'manual' })
      const html = await response.text()
      const is = method === 'GET' || method === 'HEAD' ? [200] : [204, 404, 405]
      expect(is, `${method} ${name}`).toContain(response.status)
      expect(response.headers.get('access-control-allow-origin'), `${method} ${name}`).toBeNull()
      if (method === 'GET') expect(html).toContain('Acknowledge this alert?')
    }
    // A GET can have a body that looks like the form.
    const form = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 16\r\n\r\nacknowledge=true'
    const answer = await sendRaw(url, `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${form}`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await stateOf(tenant)).toEqual(before)
    await alerted.run(tenant, 20, 1)
    // Messages to different channels have no order.
    expect(messages().sort(), 'reminders and escalation go on').toEqual([
      `boss-of-${team}: Not acknowledged: down: API`,
      `${team}: Down: API`,
      ...Array(3).fill(`${team}: Still down: API`),
    ])
  })

  test('acknowledges once by its button; a second press reports that the link was used', async () => {
    const { tenant, team, path, messages } = await alerting()
    const press = async () => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      })
      return { status: response.status, html: await response.text() }
    }
    const read = async () => (await fetch(url + path)).text()
    expect(await read()).toContain('<form method="post"')
    const presses = await Promise.all([press(), press(), press()])
    for (const { status, html } of presses) {
      expect(status).toBe(200)
      expect(html).toContain(`acknowledged by the link sent to ${team}`)
      expect(html).not.toContain('<form')
    }
    const acknowledged = await stateOf(tenant)
    expect((await tenant.news()).filter((each) => each.startsWith('ALERT_ACK'))).toEqual(['ALERT_ACKNOWLEDGED API'])
    alerted.time += 1
    const again = await press()
    expect(again).toMatchObject({ status: 200, html: expect.stringContaining('<h1>Acknowledged</h1>') })
    expect(await read()).toContain('<h1>Acknowledged</h1>')
    expect(await stateOf(tenant)).toEqual(acknowledged)
    await alerted.run(tenant, 60, 5)
    expect(messages()).toEqual([`${team}: Down: API`])
  })

  test('reports that a used link cannot acknowledge an alert that failed again', async () => {
    const { tenant, path } = await alerting()
    await fetch(url + path, { method: 'POST' })
    const monitors = await prisma.monitor.findMany({ where: { organizationId: tenant.id } })
    await alerted.setState(tenant, monitors, 'UP')
    await alerted.run(tenant, 1)
    alerted.time += 1
    await alerted.setState(tenant, monitors, 'DOWN')
    await alerted.run(tenant, 1)
    const before = await stateOf(tenant)
    const html = await (await fetch(url + path, { method: 'POST' })).text()
    expect(html).toContain('use the link of a later message')
    expect(html).not.toContain('<form')
    expect(await stateOf(tenant)).toEqual(before)
  })
})
