// @slow
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { rotateAlertChannelSecret, signingSecret, updateAlertChannel } from '../../src/alerting/channel.ts'
import { quietTimesOf, weekdays } from '../../src/alerting/quiet-hours.ts'
import { change } from '../../src/event-log/change.ts'
import { deleteMonitor } from '../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor } from '../../src/monitoring/monitor/pause.ts'
import { monitorEvent } from '../../src/monitoring/monitor-events.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { scheduleMaintenance } from '../../src/status/maintenance/maintenance.ts'
import { runDueMaintenance } from '../../src/status/maintenance/maintenance-job.ts'
import { testDatabase } from '../support/database.ts'
import type { Received } from '../support/receiver.ts'
import { alertedWithReceiver, handleEvents } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const { receiver, alerted } = await alertedWithReceiver(database)

const hook = { webhook: { url: 'https://hooks.example.com/alerts' } }
const ntfy = { ntfy: { topic: 'ops' } }
const pagerduty = { pagerduty: { routingKey: 'a'.repeat(32) } }
const sent = (such: (request: Received) => boolean = () => true) =>
  receiver.received.filter(such).map(({ body }) => JSON.parse(body))
const titles = () => sent(({ headers }) => headers['x-host'] === 'ntfy.sh').map(({ title }) => title)

describe('a channel gets alerts', () => {
  test('about down and up once each, signed, even without a service', async () => {
    const tenant = await alerted.tenant()
    const channel = await alerted.channel(tenant, hook)
    const monitor = await alerted.monitor(tenant, 'API')
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.setState(tenant, [monitor], 'DOWN', 'HTTP 500 instead of 2xx')
    await alerted.run(tenant)
    alerted.time += 5
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant, 2)
    const [down, up] = receiver.received
    const secret = signingSecret(alerted.own(tenant), channel) ?? ''
    const timestamp = new Date(Number(down?.headers['webhook-timestamp']) * 1000)
    const id = String(down?.headers['webhook-id'])
    expect(new Webhook(secret).sign(id, timestamp, down?.body ?? '')).toBe(down?.headers['webhook-signature'])
    expect(JSON.parse(down?.body ?? '')).toMatchObject({
      type: 'monitor.down',
      data: {
        monitor: { id: monitor.id, name: 'API' },
        state: 'DOWN',
        message: 'HTTP 500 instead of 2xx',
        acknowledge_url: expect.stringMatching(/^https:\/\/allclear\.example\/alerts\/[-\w]{43}$/),
      },
    })
    expect(JSON.parse(up?.body ?? '')).toMatchObject({ type: 'monitor.up', data: { acknowledge_url: null } })
    expect(receiver.received).toHaveLength(2)
  })

  test('also signed with the previous secret for a day after a rotation', async () => {
    const tenant = await alerted.tenant()
    const channel = await alerted.channel(tenant, hook)
    const own = alerted.own(tenant)
    const former = signingSecret(own, channel) ?? ''
    const secret = signingSecret(own, await rotateAlertChannelSecret(own, channel.id)) ?? ''
    expect(secret).not.toBe(former)
    const monitor = await alerted.monitor(tenant, 'API')
    const verify = (by: string, { headers, body }: Received) => {
      const [id, at] = [String(headers['webhook-id']), new Date(Number(headers['webhook-timestamp']) * 1000)]
      return String(headers['webhook-signature'])
        .split(' ')
        .includes(new Webhook(by).sign(id, at, body))
    }
    await alerted.setState(tenant, [monitor], 'DOWN')
    await alerted.run(tenant)
    alerted.time += 24 * 60
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant)
    expect(receiver.received.map((each) => [verify(secret, each), verify(former, each)])).toEqual([
      [true, true],
      [true, false],
    ])
    const other = await alerted.channel(tenant, ntfy)
    await expect(rotateAlertChannelSecret(own, other.id)).rejects.toThrow('Only webhooks')
  })

  test('about the monitors, services and changes that it has chosen', async () => {
    const tenant = await alerted.tenant()
    const [shop = ''] = await tenant.services('Shop')
    const api = await alerted.monitor(tenant, 'API')
    const cart = await alerted.monitor(tenant, 'Cart', { serviceId: shop })
    const other = await alerted.monitor(tenant, 'Other')
    await alerted.channel(tenant, { ...hook, monitorIds: [api.id], serviceIds: [shop], when: ['DOWN', 'CERTIFICATE'] })
    await alerted.setState(tenant, [api, cart, other], 'DOWN', 'Refused')
    alerted.time += 1
    await alerted.setState(tenant, [api, other], 'UP')
    alerted.time += 1
    await alerted.setState(tenant, [api], 'DEGRADED', 'TLS certificate expires in 3 days')
    await alerted.setState(tenant, [cart], 'DEGRADED', 'Answered in 900 ms, more than 500 ms')
    await alerted.run(tenant)
    expect(sent().map(({ type, data }) => `${type} ${data.monitor.name}`)).toEqual([
      'monitor.down API',
      'monitor.down Cart',
      'certificate.expiring API',
    ])
  })

  test('of a blacklist monitor as listed and delisted', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, hook)
    const list = await alerted.monitor(tenant, 'Relay', { http: null, blacklist: { target: '192.0.2.1' } })
    await alerted.setState(tenant, [list], 'DOWN', 'Listed on SpamCop')
    alerted.time += 1
    await alerted.setState(tenant, [list], 'UP')
    await alerted.run(tenant)
    expect(sent().map(({ type }) => type)).toEqual(['blacklist.listed', 'blacklist.delisted'])
  })

  test('only about events after its creation', async () => {
    const tenant = await alerted.tenant()
    const monitor = await alerted.monitor(tenant, 'API')
    await alerted.setState(tenant, [monitor], 'DOWN')
    await alerted.channel(tenant, hook)
    await alerted.run(tenant)
    expect(sent()).toEqual([])
  })
})

describe('messages to people', () => {
  test('report monitors that fail within a minute together', async () => {
    const tenant = await alerted.tenant('PRO')
    await alerted.channel(tenant, ntfy)
    for (let each = 0; each < 20; each += 1) {
      const monitor = await alerted.monitor(tenant, `M${each}`)
      await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
      if (each % 5 === 0) await alerted.run(tenant, 0.15, 0.05)
    }
    await alerted.run(tenant, 2)
    expect(titles()).toEqual(['Down: 20 monitors'])
  })

  test('report one monitor within seconds, and report a problem that has ended by then as ended', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, ntfy)
    const [one, two] = [await alerted.monitor(tenant, 'One'), await alerted.monitor(tenant, 'Two')]
    await alerted.setState(tenant, [one], 'DOWN', 'Refused')
    await alerted.run(tenant, 0.25)
    expect(titles()).toEqual(['Down: One'])
    await alerted.setState(tenant, [two], 'DOWN', 'Refused')
    await alerted.run(tenant, 0.1, 0.1)
    await alerted.setState(tenant, [two], 'UP')
    await alerted.run(tenant, 1)
    expect(titles()).toEqual(['Down: One', 'Up: Two'])
  })

  test('wait for the end of quiet times, then report the current states', async () => {
    const tenant = await alerted.tenant()
    const quietTimes = { windows: [{ days: weekdays, from: '13:00', to: '15:00' }], timeZone: 'Europe/Berlin' }
    await alerted.channel(tenant, { ...ntfy, quietTimes })
    await alerted.channel(tenant, { ...pagerduty, quietTimes })
    const [one, two] = [await alerted.monitor(tenant, 'One'), await alerted.monitor(tenant, 'Two')]
    alerted.time = 60
    await alerted.setState(tenant, [one, two], 'DOWN', 'Refused')
    await alerted.run(tenant, 10, 5)
    await alerted.setState(tenant, [two], 'UP')
    await alerted.run(tenant, 40, 10)
    expect(receiver.received).toEqual([])
    // 15:00 in Berlin.
    alerted.time = 120
    await alerted.run(tenant, 1)
    expect(titles()).toEqual(['Down: One · Up: Two'])
    // An alert that began and ended in quiet times is not sent.
    const events = sent(({ headers }) => headers['x-host'] === 'events.pagerduty.com')
    expect(events.map((event) => `${event.event_action} ${event.payload.source}`)).toEqual(['trigger One'])
  })
})

test('a channel has quiet times as windows on chosen days', async () => {
  const tenant = await alerted.tenant()
  const own = alerted.own(tenant)
  const windows = [{ days: ['SUNDAY', 'SATURDAY', 'SUNDAY'], from: '00:00', to: '24:00' }]
  const { id } = await alerted.channel(tenant, ntfy)
  const edit = async (given: object) => quietTimesOf(await updateAlertChannel(own, { id, ...given }))
  expect(await edit({ quietTimes: { windows } })).toEqual({
    windows: [{ days: [6, 7], from: 0, to: 1440 }],
    timeZone: 'UTC',
  })
  expect(await edit({ name: 'Same' })).not.toBeNull()
  expect(await edit({ quietTimes: { windows: [{ days: weekdays, from: '22:00', to: '07:00' }] } })).toMatchObject({
    windows: [{ days: [1, 2, 3, 4, 5, 6, 7], from: 1320, to: 420 }],
  })
  expect(await edit({ quietTimes: null })).toBeNull()
  const always = [
    {
      days: weekdays,
      from: '00:00',
      to: '24:00',
    },
  ]
  for (const [given, path] of [
    [{ quietTimes: { windows: [] } }, ['quietTimes', 'windows']],
    [{ quietTimes: { windows: always } }, ['quietTimes', 'windows']],
    [{ quietTimes: { windows: [{ days: [], from: '00:00', to: '07:00' }] } }, ['quietTimes', 'windows', '0', 'days']],
    [
      { quietTimes: { windows: [{ days: ['MONDAY'], from: '24:00', to: '7' }] } },
      ['quietTimes', 'windows', '0', 'from'],
    ],
  ] as const)
    await expect(edit(given)).rejects.toMatchObject({
      issues: expect.arrayContaining([expect.objectContaining({ path })]),
    })
})

describe('alerts are silent', () => {
  test('during maintenance, and sent if the monitor is still down afterwards', async () => {
    alerted.time = 0
    const tenant = await alerted.tenant()
    const [shop = ''] = await tenant.services('Shop')
    const monitor = await alerted.monitor(tenant, 'Cart', { serviceId: shop })
    await alerted.channel(tenant, ntfy)
    const [startsAt, endsAt] = [0, 30].map((minutes) => new Date(alerted.now().getTime() + minutes * 60_000))
    await scheduleMaintenance(alerted.own(tenant), {
      title: 'Disks',
      message: 'New disks.',
      startsAt,
      endsAt,
      serviceIds: [shop],
    })
    alerted.time += 1
    await runDueMaintenance(alerted.system)
    await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
    await alerted.run(tenant, 20, 5)
    expect(titles()).toEqual([])
    alerted.time = 31
    await runDueMaintenance(alerted.system)
    await alerted.run(tenant, 2)
    expect(titles()).toEqual(['Down: Cart'])
  })

  test('while a parent monitor is down, and sent afterwards if the problem lasts and is new', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, ntfy)
    const api = await alerted.monitor(tenant, 'API')
    const shop = await alerted.monitor(tenant, 'Shop')
    const both = { id: { in: [api.id, shop.id] } }
    const unknown = (monitor: typeof api) => ({ ...monitorEvent('MONITOR_UNKNOWN', monitor), since: alerted.now() })
    await alerted.setState(tenant, [api], 'DOWN', 'Refused')
    await alerted.run(tenant, 2)
    await prisma.monitor.updateMany({ where: both, data: { blockedSince: alerted.now(), unknownSince: alerted.now() } })
    await change(alerted.system, tenant.id, async () => [null, unknown(api), unknown(shop)])
    await alerted.run(tenant, 20, 1)
    expect(titles()).toEqual(['Down: API'])
    expect(await prisma.alert.findMany({ where: { organizationId: tenant.id }, select: { silence: true } })).toEqual([
      { silence: 'PARENT_DOWN' },
    ])
    await prisma.monitor.updateMany({ where: both, data: { blockedSince: null, unknownSince: null } })
    await alerted.run(tenant, 2)
    expect(titles(), 'it is sent once').toEqual(['Down: API'])
    expect(await prisma.alert.findMany({ where: { organizationId: tenant.id }, select: { silence: true } })).toEqual([
      { silence: null },
    ])
    await alerted.setState(tenant, [api], 'UP')
    await alerted.run(tenant, 2)
    expect(titles()).toEqual(['Down: API', 'Up: API'])
  })

  test('during flapping, which is reported once, and again with its count at the end', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, ntfy)
    const monitor = await alerted.monitor(tenant, 'API')
    for (let outage = 0; outage < 6; outage += 1) {
      await alerted.setState(tenant, [monitor], 'DOWN', 'Refused')
      await alerted.run(tenant, 2)
      await alerted.setState(tenant, [monitor], 'UP')
      await alerted.run(tenant, 2)
    }
    expect(titles()).toEqual(['Down: API', 'Up: API', 'Down: API', 'Up: API', 'Flapping: API failed 3 times'])
    await alerted.run(tenant, 12, 1)
    expect(sent().at(-1)).toMatchObject({ title: 'Up: API', message: expect.stringContaining('It failed 6 times') })
    expect(titles()).toHaveLength(6)
  })
})

describe('PagerDuty and similar receivers', () => {
  test('always get the end of an alert that they opened, even when the monitor is paused or deleted', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, { ...pagerduty, when: ['DOWN'] })
    const monitors = [
      await alerted.monitor(tenant, 'One'),
      await alerted.monitor(tenant, 'Two'),
      await alerted.monitor(tenant, 'Three'),
    ]
    await alerted.setState(tenant, monitors, 'DOWN', 'Refused')
    await alerted.run(tenant)
    const [one, two, three] = monitors
    await pauseMonitor(alerted.own(tenant), two?.id ?? '')
    await deleteMonitor(alerted.own(tenant), three?.id ?? '')
    await alerted.setState(tenant, one ? [one] : [], 'UP')
    await alerted.run(tenant)
    const keys = new Map<string, string[]>()
    for (const { dedup_key: key, event_action: action, payload } of sent())
      keys.set(key, [...(keys.get(key) ?? []), `${action} ${payload.source}`])
    expect([...keys.values()].sort()).toEqual([
      ['trigger One', 'resolve One'],
      ['trigger Three', 'resolve Three'],
      ['trigger Two', 'resolve Two'],
    ])
  })
})

describe('every alert is sent exactly once', () => {
  test('by any number of workers', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, hook)
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    await Promise.all([1, 2, 3].map(() => dispatch(alerted.system, tenant.id, handleEvents)))
    await alerted.run(tenant)
    expect(sent()).toHaveLength(1)
  })

  test('a failed message is retried with the same id, and later messages wait for it', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, hook)
    const monitor = await alerted.monitor(tenant, 'API')
    receiver.answer = () => ({ status: 503 })
    await alerted.setState(tenant, [monitor], 'DOWN')
    await alerted.run(tenant)
    await alerted.setState(tenant, [monitor], 'UP')
    await alerted.run(tenant)
    expect(sent().map(({ type }) => type)).toEqual(['monitor.down'])
    receiver.answer = () => ({ status: 200 })
    await alerted.run(tenant, 2)
    expect(sent().map(({ type }) => type)).toEqual(['monitor.down', 'monitor.down', 'monitor.up'])
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
  })

  test('a message whose retry would be after the last possible date is given up and counted', async () => {
    const tenant = await alerted.tenant()
    const matrix = { server: 'https://matrix.example.com', roomId: '!a:example.com', accessToken: 'syt_secret' }
    await alerted.channel(tenant, { matrix })
    const body = '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1e300}'
    receiver.answer = () => ({ status: 429, headers: { 'content-type': 'application/json' }, body })
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    await alerted.run(tenant, 10, 1)
    expect(receiver.received).toHaveLength(1)
    expect(await prisma.alertDelivery.findMany({ where: { organizationId: tenant.id } })).toMatchObject([
      { status: 'FAILED', dueAt: null, attempts: [{ status: 429, delivered: false }] },
    ])
  })

  test('messages that a killed worker had claimed are sent after its lease', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, hook)
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    await dispatch(alerted.system, tenant.id, handleEvents)
    const lease = new Date(alerted.now().getTime() + 60_000)
    await prisma.alertDelivery.updateMany({ where: { organizationId: tenant.id }, data: { dueAt: lease } })
    await alerted.run(tenant)
    expect(sent()).toEqual([])
    await alerted.run(tenant, 2)
    expect(sent()).toHaveLength(1)
  })
})
