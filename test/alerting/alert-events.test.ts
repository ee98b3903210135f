// @slow
import { afterAll, beforeEach, expect, test } from 'vitest'
import { acknowledgeByToken } from '../../src/alerting/acknowledge.ts'
import { createAlertLog } from '../../src/alerting/channel-notifier.ts'
import { testAlertChannel } from '../../src/alerting/test-channel.ts'
import { isFor } from '../../src/event-log/audience.ts'
import { createIntegration } from '../../src/integration/integration.ts'
import { createReceiveLimits, receive } from '../../src/integration/receive.ts'
import { createIncomingWorker } from '../../src/integration/worker.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { seal } from '../notification/setup.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { alertedIn, handleEvents, toReceiver } from './setup.ts'

const database = await testDatabase()
const receiver = await startReceiver()
const alerted = alertedIn(database, { outbound: toReceiver(receiver), mailer: null })
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
})

const ntfy = { ntfy: { topic: 'ops' } }
const alertNews = async (tenant: Tenant) =>
  (await tenant.news()).filter((each) => /^(ALERT_(?!CHANNEL_C)|INCOMING)/.test(each))

test('the log records the start, reminder, escalation, acknowledgement and end of alerts once each', async () => {
  const tenant = await alerted.tenant()
  const boss = await alerted.channel(tenant, { ...ntfy, name: 'Boss', when: ['LISTED'] })
  const escalate = { channelId: boss.id, afterMinutes: 10 }
  await alerted.channel(tenant, { ...ntfy, remindAfterMinutes: 15, escalate })
  const monitors = [await alerted.monitor(tenant, 'One'), await alerted.monitor(tenant, 'Two')]
  await alerted.setState(tenant, monitors, 'DOWN', 'Refused')
  await alerted.run(tenant, 16, 1)
  const [, token = ''] = /alerts\/([-\w]{43})/.exec(receiver.received.at(-1)?.body ?? '') ?? []
  await acknowledgeByToken({ ...alerted.system, actor: { kind: 'visitor' } }, token)
  await alerted.setState(tenant, monitors, 'UP')
  await alerted.run(tenant, 1)
  expect(await alertNews(tenant)).toEqual([
    'ALERT_OPENED One, Two',
    'ALERT_ESCALATED One, Two',
    'ALERT_REMINDED One, Two',
    'ALERT_ACKNOWLEDGED One, Two',
    'ALERT_ENDED One, Two',
  ])
})

test('alerts that begin together share events, and flapping appends none', async () => {
  const tenant = await alerted.tenant('TEAM')
  await alerted.channel(tenant, ntfy)
  const monitors = []
  for (let each = 0; each < 120; each += 1) monitors.push(await alerted.monitor(tenant, `M${each}`))
  await alerted.setState(tenant, monitors, 'DOWN', 'Refused')
  while (await dispatch(alerted.system, tenant.id, handleEvents)) {}
  const opened = await alertNews(tenant)
  // The dispatcher reads 100 events per transaction, starting with those that created the monitors.
  expect(opened.length).toBeLessThanOrEqual(3)
  expect(opened[0]).toMatch(/^ALERT_OPENED M0, M1, M2 and \d+ more$/)
  const [flapping] = monitors
  for (let outage = 0; flapping && outage < 6; outage += 1) {
    await alerted.setState(tenant, [flapping], 'UP')
    await alerted.run(tenant, 1)
    await alerted.setState(tenant, [flapping], 'DOWN')
    await alerted.run(tenant, 1)
  }
  expect((await alertNews(tenant)).slice(opened.length)).toEqual([
    'ALERT_ENDED M0',
    'ALERT_OPENED M0',
    'ALERT_ENDED M0',
  ])
})

test('the log records tests of a channel, and refused messages at most once a minute', async () => {
  const tenant = await alerted.tenant()
  const own = alerted.own(tenant)
  const channel = await alerted.channel(tenant, ntfy)
  await testAlertChannel(own, channel.id)
  const given = { name: 'Sentry', kind: 'SENTRY', signingSecret: 'a secret of Sentry' }
  const { secret } = await createIntegration({ ...own, seal }, given)
  const incoming = { ...own, seal, receiveLimits: createReceiveLimits() }
  const sent = { body: Buffer.from('{}'), header: () => undefined }
  for (let each = 0; each < 5; each += 1)
    await expect(receive(incoming, secret ?? '', sent)).rejects.toThrow('signature')
  const { secret: other } = await createIntegration({ ...own, seal }, { name: 'Grafana', kind: 'GRAFANA' })
  for (let each = 0; each < 3; each += 1) await receive(incoming, other ?? '', sent)
  const worker = createIncomingWorker({ ctx: alerted.system, seal, outbound: toReceiver(receiver) })
  await worker.poll()
  await worker.idle()
  expect(await alertNews(tenant)).toEqual([
    'ALERT_CHANNEL_TESTED Ops',
    'INCOMING_ALERT_REFUSED Sentry',
    'INCOMING_ALERT_REFUSED Grafana',
  ])
})

test('events about alerts are for the organization only', () => {
  const log = createAlertLog()
  const alert = { id: 'a', subjectName: 'A' }
  for (const kind of [
    'ALERT_OPENED',
    'ALERT_REMINDED',
    'ALERT_ESCALATED',
    'ALERT_ACKNOWLEDGED',
    'ALERT_ENDED',
  ] as const) {
    log.add(kind, alert)
    for (const audience of ['page', 'subscribers', 'browsers', 'alerts'] as const)
      expect(isFor(audience, kind), kind).toBe(false)
  }
  log.add('ALERT_OPENED', alert)
  expect(log.events()).toHaveLength(5)
})
