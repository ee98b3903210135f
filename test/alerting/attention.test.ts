import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { acknowledgeAlert, acknowledgeByToken, linkedAlerts } from '../../src/alerting/acknowledge.ts'
import { NotFound } from '../../src/core/errors.ts'
import type { Tenant } from '../status/setup.ts'
import { testDatabase } from '../support/database.ts'
import type { Received } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { alertedIn, toReceiver } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const receiver = await startReceiver()
const alerted = alertedIn(database, { outbound: toReceiver(receiver), mailer: null })
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
})

const pagerduty = { pagerduty: { routingKey: 'a'.repeat(32) } }
const topic = (name: string) => ({ name, ntfy: { topic: name } })
const body = ({ body }: Received) => JSON.parse(body)
/** What was told, as `topic: title`. */
const told = () =>
  receiver.received
    .filter(({ headers }) => headers['x-host'] === 'ntfy.sh')
    .map(body)
    .map(({ topic, title }) => `${topic}: ${title}`)
const visitor = () => ({ ...alerted.system, actor: { kind: 'visitor' } as const })
/** The token of the link in the last message. */
const lastToken = () => /alerts\/([-\w]{43})/.exec(receiver.received.at(-1)?.body ?? '')?.[1] ?? ''

async function failing(tenant: Tenant) {
  const monitor = await alerted.monitor(tenant, 'API')
  await alerted.goes(tenant, [monitor], 'DOWN', 'Refused')
  await alerted.run(tenant, 0.25)
  return monitor
}

describe('an alert that nobody acknowledges', () => {
  test('is reminded of, and escalated once, until it is over', async () => {
    const tenant = await alerted.tenant()
    const boss = await alerted.channel(tenant, { ...topic('boss'), when: ['LISTED'] })
    const escalate = { channelId: boss.id, afterMinutes: 10 }
    await alerted.channel(tenant, { ...topic('team'), remindAfterMinutes: 30, escalate, when: ['DOWN'] })
    const monitor = await failing(tenant)
    await alerted.run(tenant, 62, 1)
    expect(told()).toEqual([
      'team: Down: API',
      'boss: Not acknowledged: down: API',
      'team: Still down: API',
      'team: Still down: API',
    ])
    await alerted.goes(tenant, [monitor], 'UP')
    await alerted.run(tenant, 120, 10)
    expect(told()).toHaveLength(4)
  })

  test('waits for the end of quiet hours with its escalation', async () => {
    const tenant = await alerted.tenant()
    alerted.time = 0
    const boss = await alerted.channel(tenant, { ...topic('boss'), when: ['LISTED'] })
    const quietHours = { from: '12:00', to: '13:00', timeZone: 'UTC' }
    await alerted.channel(tenant, { ...topic('team'), quietHours, escalate: { channelId: boss.id, afterMinutes: 5 } })
    await failing(tenant)
    await alerted.run(tenant, 58, 2)
    expect(told()).toEqual([])
    await alerted.run(tenant, 10, 1)
    expect(told()).toEqual(['team: Down: API', 'boss: Not acknowledged: down: API'])
  })
})

describe('acknowledging', () => {
  test('ends reminders and escalation, and tells PagerDuty', async () => {
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
    expect(told()).toEqual(['team: Down: API'])
    const events = receiver.received.filter(({ headers }) => headers['x-host'] === 'events.pagerduty.com').map(body)
    expect(events.map(({ event_action: action }) => action)).toEqual(['trigger', 'acknowledge'])
    expect((await tenant.news()).filter((each) => each.startsWith('ALERT_ACK'))).toEqual(['ALERT_ACKNOWLEDGED API'])
  })

  test('works by the link of a message, once: what begins again needs another', async () => {
    const tenant = await alerted.tenant()
    await alerted.channel(tenant, { ...topic('team'), remindAfterMinutes: 5 })
    const monitor = await failing(tenant)
    const token = lastToken()
    // Reading is what scanners do.
    for (let each = 0; each < 3; each += 1)
      expect(await linkedAlerts(visitor(), token)).toMatchObject({ isUsed: false })
    expect(await prisma.alert.count({ where: { organizationId: tenant.id, acknowledgedAt: { not: null } } })).toBe(0)
    const [first, second] = await Promise.all([1, 2].map(() => acknowledgeByToken(visitor(), token)))
    expect([first, second]).toMatchObject([{ isUsed: true }, { isUsed: true }])
    const by = 'the link sent to team'
    expect((await linkedAlerts(visitor(), token)).alerts).toMatchObject([{ acknowledgedBy: by }])
    await alerted.goes(tenant, [monitor], 'UP')
    await alerted.run(tenant, 1)
    alerted.time += 1
    await alerted.goes(tenant, [monitor], 'DOWN')
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

  test('keeps nothing by which somebody could who reads the database', async () => {
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
