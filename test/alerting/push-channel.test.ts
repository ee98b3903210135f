// @slow
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createQuota } from '../../src/account/quota.ts'
import { acknowledgeByToken } from '../../src/alerting/acknowledge.ts'
import { updateAlertChannel } from '../../src/alerting/channel.ts'
import { createDefaultPushChannels } from '../../src/alerting/default-push-channel.ts'
import { testAlertChannel } from '../../src/alerting/test-channel.ts'
import { transaction } from '../../src/core/context.ts'
import { NotFound } from '../../src/core/errors.ts'
import { hashSecret } from '../../src/core/hash-secret.ts'
import { createMetrics } from '../../src/core/telemetry/metrics.ts'
import { createThirdPartyRate } from '../../src/network/third-party-rate.ts'
import { addBrowser } from '../../src/notification/push/browser.ts'
import { pushDeliveries } from '../../src/notification/push/push-deliveries.ts'
import { readAttempts } from '../../src/notification/queue/attempt.ts'
import { createDeliveryWorker } from '../../src/notification/queue/worker.ts'
import { insertMembership } from '../../src/people/membership.ts'
import { startSession } from '../../src/people/session.ts'
import { insertUser } from '../../src/people/user.ts'
import { outbound, seal, site } from '../notification/setup.ts'
import type { Tenant } from '../status/setup.ts'
import { serverUrl, testDatabase } from '../support/database.ts'
import { startPushService } from '../support/push-service.ts'
import { alertedIn } from './setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const service = await startPushService()
const alerted = alertedIn(database, { outbound, mailer: null })
const { system, now } = alerted
const usage = createQuota(pool)
const tools = { outbound, now, seal, config: system.config, site }
const sending = { ctx: system, pool, seal, usage, metrics: createMetrics(), random: () => 0.5 }
const browsers = createDeliveryWorker(
  { ...sending, rate: createThirdPartyRate() },
  pushDeliveries({ ctx: system, pool, tools }),
)
afterAll(() => service.close())
beforeEach(() => {
  service.received.length = 0
  service.answer = () => ({ status: 201 })
})
afterEach(() => prisma.pushBrowser.deleteMany())

let people = 0

/** A member with a browser that gets notifications. */
async function member({ id: organizationId }: Tenant) {
  const email = `alert-push-${++people}@example.com`
  const userId = await transaction(system, async (tx) => {
    const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', { email, name: `Person ${people}`, passwordHash: null })
    await insertMembership(tx, { organizationId, userId: user.id, role: 'VIEWER' }, user.name)
    return user.id
  })
  const { id: sessionId } = await prisma.session.findUniqueOrThrow({
    where: { hash: hashSecret(await startSession(system, userId, 'Firefox')) },
  })
  const actor = {
    kind: 'user',
    userId,
    sessionId,
    isOperator: false,
    confirmedAt: now(),
    memberships: new Map(),
  } as const
  const subscription = service.subscribe()
  await addBrowser({ ...system, actor, usage, seal, site, tools: { outbound } }, subscription)
  return { userId, path: new URL(subscription.endpoint).pathname }
}

/** Dispatches and sends, also to browsers, for this many minutes. */
async function run(tenant: Tenant, minutes: number) {
  await alerted.run(tenant, minutes)
  await browsers.poll()
  await browsers.idle()
}

const shown = () => service.received.map(({ path, text }) => ({ at: path, ...JSON.parse(text ?? '{}') }))
const bodies = () => shown().map(({ title, body }) => `${title.replace(/^.*?: /, '')} – ${body.split('\n')[0]}`)
const lastMessage = ({ id: organizationId }: Tenant) =>
  prisma.alertDelivery.findFirstOrThrow({ where: { organizationId }, orderBy: { position: 'desc' } })

describe('a channel to browsers', () => {
  test('gathers alerts and is silent during flapping, like other channels; its link acknowledges', async () => {
    const tenant = await alerted.tenant()
    const { path } = await member(tenant)
    await alerted.channel(tenant, { push: {} })
    const [one, two] = [await alerted.monitor(tenant, 'One'), await alerted.monitor(tenant, 'Two')]
    await alerted.setState(tenant, [one, two], 'DOWN', 'Refused')
    await run(tenant, 1)
    expect(shown()).toMatchObject([
      { at: path, title: expect.stringMatching(/: Down: One, Two$/), path: `/console/${tenant.slug}/alerts` },
    ])
    const [, token = ''] = /^\/alerts\/([-\w]{43})$/.exec(shown()[0].acknowledge) ?? []
    await acknowledgeByToken({ ...system, actor: { kind: 'visitor' } }, token)
    expect(await prisma.alert.count({ where: { organizationId: tenant.id, acknowledgedAt: { not: null } } })).toBe(2)
    for (let outage = 0; outage < 4; outage += 1) {
      await alerted.setState(tenant, [one], 'UP')
      await run(tenant, 2)
      await alerted.setState(tenant, [one], 'DOWN', 'Refused')
      await run(tenant, 2)
    }
    expect(bodies().slice(1)).toEqual([
      'Up: One – Refused',
      'Down: One – Refused',
      'Up: One – Refused',
      'Flapping: One failed 3 times – Refused',
    ])
    expect(JSON.stringify(await prisma.pushDelivery.findMany())).not.toContain('/alerts/')
  })

  test('reaches only the chosen members, and replaces an earlier notification of an alert', async () => {
    const tenant = await alerted.tenant()
    const [mine, theirs] = [await member(tenant), await member(tenant)]
    const channel = await alerted.channel(tenant, { push: { userIds: [mine.userId] } })
    expect(channel.label).toBe('1 member')
    const monitor = await alerted.monitor(tenant, 'API')
    await alerted.setState(tenant, [monitor], 'DOWN')
    await run(tenant, 1)
    await alerted.setState(tenant, [monitor], 'UP')
    await run(tenant, 1)
    const [down, up] = shown()
    expect([down.at, up.at, up.tag]).toEqual([mine.path, mine.path, down.tag])
    const edit = { id: channel.id, push: { userIds: [theirs.userId] } }
    await updateAlertChannel(alerted.own(tenant), edit)
    await alerted.setState(tenant, [monitor], 'DOWN')
    await run(tenant, 1)
    expect(shown().at(-1).at).toBe(theirs.path)
    const stranger = await member(await alerted.tenant())
    for (const userIds of [[stranger.userId], ['usr_none'], ['\0']])
      await expect(alerted.channel(tenant, { push: { userIds } })).rejects.toThrow(NotFound)
  })

  test('records the responses of push services, and fails if no browser accepts a message', async () => {
    const tenant = await alerted.tenant()
    const [first] = [await member(tenant), await member(tenant)]
    await alerted.channel(tenant, { push: {} })
    const monitor = await alerted.monitor(tenant, 'API')
    service.answer = (path) => ({ status: path === first.path ? 413 : 201 })
    await alerted.setState(tenant, [monitor], 'DOWN')
    await run(tenant, 1)
    const { status, attempts } = await lastMessage(tenant)
    expect(status).toBe('DELIVERED')
    expect(readAttempts(attempts).map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'Queued for 2 browsers.',
        expect.stringMatching(/: Answered with status 201\.$/),
        expect.stringMatching(/: Answered with status 413\.$/),
      ]),
    )
    service.answer = () => ({ status: 413 })
    await alerted.setState(tenant, [monitor], 'UP')
    await run(tenant, 1)
    expect((await lastMessage(tenant)).status).toBe('FAILED')
    await prisma.pushBrowser.deleteMany()
    await alerted.setState(tenant, [monitor], 'DOWN')
    await run(tenant, 1)
    const last = await lastMessage(tenant)
    expect([last.status, readAttempts(last.attempts)[0]?.message]).toEqual([
      'FAILED',
      expect.stringMatching(/^No browser of these members/),
    ])
  })

  test.skipIf(serverUrl === undefined)(
    'does not fail if another browser accepts the message in the meantime',
    async () => {
      const tenant = await alerted.tenant()
      await member(tenant)
      await alerted.channel(tenant, { push: {} })
      service.answer = () => ({ status: 413 })
      await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
      await alerted.run(tenant, 1)
      const { id } = await lastMessage(tenant)
      const accepted = JSON.stringify([{ at: now(), delivered: true, status: 201, message: '', durationMs: 0 }])
      const other = await pool.connect()
      try {
        await other.query('BEGIN')
        const record = 'UPDATE "AlertDelivery" SET attempts = attempts || $2::jsonb WHERE id = $1'
        await other.query(record, [id, accepted])
        await browsers.poll()
        const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
        await expect.poll(async () => (await pool.query(waiting)).rows).toEqual([{ count: 1 }])
        await other.query('COMMIT')
      } finally {
        other.release()
      }
      await browsers.idle()
      const { status, attempts } = await lastMessage(tenant)
      expect([status, readAttempts(attempts).map((each) => each.status)]).toEqual(['DELIVERED', [null, 201, 413]])
    },
  )

  test('escalates and reminds like other channels', async () => {
    const tenant = await alerted.tenant()
    const [team, boss] = [await member(tenant), await member(tenant)]
    const second = await alerted.channel(tenant, { push: { userIds: [boss.userId] }, when: ['LISTED'] })
    const escalate = { channelId: second.id, afterMinutes: 10 }
    await alerted.channel(tenant, { push: { userIds: [team.userId] }, remindAfterMinutes: 15, escalate })
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    for (let minute = 0; minute < 20; minute += 1) await run(tenant, 1)
    expect(shown().map(({ at, title }) => [at, title.replace(/^.*?: /, '')])).toEqual([
      [team.path, 'Down: API'],
      [boss.path, 'Not acknowledged: down: API'],
      [team.path, 'Still down: API'],
    ])
  })

  test('returns the response of each push service to a test', async () => {
    const tenant = await alerted.tenant()
    const channel = await alerted.channel(tenant, { push: {} })
    const own = alerted.own(tenant)
    const tried = () => testAlertChannel(own, channel.id)
    expect(await tried()).toMatchObject({ delivered: false, message: expect.stringMatching(/^No browser/) })
    const [gone] = [await member(tenant), await member(tenant)]
    service.answer = (path) => ({ status: path === gone.path ? 410 : 201 })
    const host = new URL(service.url).host
    expect(await tried()).toMatchObject({
      ...{ delivered: true, status: 201 },
      message: expect.stringContaining(`${host}: Answered with status 410.`),
    })
    expect(shown().at(-1)).toMatchObject({ title: expect.stringContaining('Test: alerts reach this channel') })
    expect(await prisma.pushBrowser.count()).toBe(1)
  })
})

describe('a channel to the browsers of all members', () => {
  test('is created once by default, as soon as a member turns on notifications', async () => {
    const tenant = await alerted.tenant()
    const channels = () => prisma.alertChannel.findMany({ where: { organizationId: tenant.id } })
    while (await createDefaultPushChannels({ ...system, seal })) {}
    expect(await channels()).toEqual([])
    await member(tenant)
    await Promise.all([1, 2].map(() => createDefaultPushChannels({ ...system, seal })))
    const [channel] = await channels()
    expect(await channels()).toMatchObject([{ kind: 'PUSH', label: 'every member', changes: ['DOWN', 'UP'] }])
    expect(await tenant.news()).toContain('ALERT_CHANNEL_CREATED Browsers of members')
    await alerted.setState(tenant, [await alerted.monitor(tenant, 'API')], 'DOWN')
    await run(tenant, 1)
    expect(bodies()).toHaveLength(1)
    await prisma.alertChannel.delete({ where: { id: channel?.id ?? '' } })
    await member(tenant)
    await createDefaultPushChannels({ ...system, seal })
    expect(await channels(), 'it was deleted on purpose').toEqual([])
  })
})
