// @slow
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createQuota } from '../../../src/account/quota.ts'
import type { SignedInUser } from '../../../src/core/context.ts'
import { transaction } from '../../../src/core/context.ts'
import { hashSecret } from '../../../src/core/hash-secret.ts'
import { createMetrics } from '../../../src/core/telemetry/metrics.ts'
import { HOUR, MINUTE } from '../../../src/core/time.ts'
import { change } from '../../../src/event-log/change.ts'
import { enterState } from '../../../src/monitoring/uptime/state-intervals.ts'
import type { DnsClient } from '../../../src/network/dns/client.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { createThirdPartyRate } from '../../../src/network/third-party-rate.ts'
import { dispatch } from '../../../src/notification/delivery/dispatch.ts'
import type { PushContext } from '../../../src/notification/push/browser.ts'
import { addBrowser, browsersOf, removeBrowser, testBrowser } from '../../../src/notification/push/browser.ts'
import { followOrganizations } from '../../../src/notification/push/follow.ts'
import { pushDeliveries } from '../../../src/notification/push/push-deliveries.ts'
import { sealedFor } from '../../../src/notification/push/send.ts'
import { vapidKeys } from '../../../src/notification/push/vapid.ts'
import { createDeliveryWorker } from '../../../src/notification/queue/worker.ts'
import { insertMembership } from '../../../src/people/membership.ts'
import { endSessions, startSession } from '../../../src/people/session.ts'
import { insertUser } from '../../../src/people/user.ts'
import type { Tenant } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { startPushService, vapidClaims } from '../../support/push-service.ts'
import { notifiedIn, outbound, seal, site } from '../setup.ts'

const database = await testDatabase()
const { prisma, pool } = database
const notified = notifiedIn(database)
const { system, now } = notified
const service = await startPushService()
afterAll(() => service.close())
beforeEach(() => {
  service.received.length = 0
  service.answer = () => ({ status: 201 })
})
// Workers send for all tests.
afterEach(() => prisma.pushBrowser.deleteMany())

/** Addresses are literals in these tests, so no names are resolved. */
const noDns = {} as DnsClient
const usage = createQuota(pool)
const tools = { outbound, now, seal, config: system.config, site }
const sending = { ctx: system, pool, seal, usage, metrics: createMetrics(), random: () => 0.5 }
const newWorker = () =>
  createDeliveryWorker({ ...sending, rate: createThirdPartyRate() }, pushDeliveries({ ctx: system, pool, tools }))

let people = 0

/** A person, a member of these organizations, in a new session. */
async function person(tenants: readonly Tenant[]) {
  const email = `push-${++people}@example.com`
  const userId = await transaction(system, async (tx) => {
    const user = await insertUser(tx, 'MAILED_SIGN_UP_LINK', { email, name: `Person ${people}`, passwordHash: null })
    for (const { id: organizationId } of tenants)
      await insertMembership(tx, { organizationId, userId: user.id, role: 'VIEWER' }, user.name)
    return user.id
  })
  return { userId, signIn: () => signIn(userId) }
}

async function signIn(userId: string): Promise<PushContext> {
  const hash = hashSecret(await startSession(system, userId, 'Firefox'))
  const { id: sessionId } = await prisma.session.findUniqueOrThrow({ where: { hash } })
  const actor: SignedInUser = {
    kind: 'user',
    userId,
    sessionId,
    isOperator: false,
    confirmedAt: now(),
    memberships: new Map(),
  }
  return { ...system, actor, usage, seal, site, tools: { outbound } }
}

/** A member with one browser. */
async function member(tenants: readonly Tenant[]) {
  const someone = await person(tenants)
  const ctx = await someone.signIn()
  const subscription = service.subscribe()
  await addBrowser(ctx, subscription)
  return { ...someone, ctx, path: new URL(subscription.endpoint).pathname }
}

async function monitorOf({ id: organizationId }: Tenant) {
  return prisma.monitor.create({
    data: {
      id: `mon_push${++people}`,
      organizationId,
      name: 'Website',
      kind: 'HTTP',
      options: {},
      intervalSeconds: 60,
      timeoutMs: 1000,
      failureThreshold: 1,
      recoveryThreshold: 1,
      state: 'UP',
      stateSince: now(),
      createdAt: now(),
    },
  })
}

const enter = (
  tenant: Tenant,
  monitor: { id: string; name: string; serviceId: string | null },
  state: 'UP' | 'DOWN' | 'DEGRADED',
  cause = '',
) =>
  change(system, tenant.id, async (tx) => {
    await enterState(tx, monitor, state, now(), cause)
    return [null, { kind: 'MONITOR_STATE_CHANGED', subjectId: monitor.id, subjectName: monitor.name }]
  })

/** Dispatches and sends the events of an organization. */
async function tick({ id }: Tenant, worker = newWorker()) {
  await dispatch(system, id)
  await worker.poll()
  await worker.idle()
}

const shown = () =>
  service.received.map(
    ({ text }) => JSON.parse(text ?? '{}') as { title: string; body: string; path: string; tag: string },
  )
const pending = () => prisma.pushDelivery.count()

describe('a member’s browser', () => {
  test('is notified once when an incident is opened and resolved, encrypted and signed', async () => {
    const tenant = await notified.tenant()
    await member([tenant])
    const id = await notified.incident(tenant, 'Slow answers')
    await notified.update(tenant, id, 'We look.')
    await tick(tenant)
    await tick(tenant)
    expect(shown()).toEqual([
      {
        title: expect.stringMatching(/: Slow answers$/),
        body: 'Incident opened with major impact.',
        path: `/console/${tenant.slug}/incidents/${id}`,
        tag: id,
      },
    ])
    const headers = service.received[0]?.headers
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high', ttl: '86400', topic: id })
    const claims = vapidClaims(headers?.authorization ?? '')
    expect(claims).toMatchObject({ aud: service.url, sub: site.baseUrl })
    expect(claims.exp * 1000 - now().getTime()).toBe(12 * HOUR)
    await notified.update(tenant, id, 'Done.', 'RESOLVED')
    await tick(tenant)
    expect(shown().at(-1)).toMatchObject({ body: 'Incident resolved.', tag: id })
    expect(await pending()).toBe(0)
  })

  test('gets no notification about an incident that a monitor opened, nor about the monitor', async () => {
    const tenant = await notified.tenant()
    await member([tenant])
    const id = await notified.incident(tenant, 'Automatic')
    await prisma.incident.update({ where: { id }, data: { automatic: true } })
    await enter(tenant, await monitorOf(tenant), 'DOWN', 'Refused')
    await tick(tenant)
    expect(service.received).toEqual([])
  })
})

describe('no one else is notified', () => {
  test('of other organizations, or of earlier events', async () => {
    const [mine, theirs] = [await notified.tenant(), await notified.tenant()]
    await notified.incident(mine, 'Before')
    notified.time += 1
    const { path } = await member([mine])
    await member([theirs])
    await notified.incident(mine, 'After')
    await tick(mine)
    expect(service.received.map((message) => message.path)).toEqual([path])
    expect(shown()[0]?.title).toMatch(/After$/)
  })

  test('who has since left the organization or signed out, or whose session is over', async () => {
    const tenant = await notified.tenant()
    const [left, out, over] = [await member([tenant]), await member([tenant]), await member([tenant])]
    await notified.incident(tenant, 'Meanwhile')
    await dispatch(system, tenant.id)
    expect(await pending()).toBe(3)
    await prisma.membership.deleteMany({ where: { userId: left.userId } })
    await endSessions(system, { userId: out.userId })
    await prisma.session.updateMany({ where: { userId: over.userId }, data: { expiresAt: now() } })
    await tick(tenant)
    expect([service.received.length, await pending()]).toEqual([0, 0])
    expect(await prisma.pushBrowser.count({ where: { userId: out.userId } })).toBe(0)
    await prisma.user.delete({ where: { id: over.userId } })
    expect(await prisma.pushBrowser.count({ where: { userId: over.userId } })).toBe(0)
  })

  test('a member who joins later is notified, although the log was not dispatched before', async () => {
    const tenant = await notified.tenant()
    const { userId } = await member([])
    await transaction(system, (tx) =>
      insertMembership(tx, { organizationId: tenant.id, userId, role: 'EDITOR' }, 'Joined'),
    )
    await followOrganizations(prisma)
    await notified.incident(tenant, 'News')
    await tick(tenant)
    expect(shown()[0]?.title).toMatch(/News$/)
  })
})

describe('a push service', () => {
  test.each([404, 410])('that answers %i has ended the subscription', async (status) => {
    const tenant = await notified.tenant()
    const { userId } = await member([tenant])
    service.answer = () => ({ status })
    await notified.incident(tenant, 'Gone')
    await tick(tenant)
    expect(await prisma.pushBrowser.count({ where: { userId } })).toBe(0)
    expect(await pending()).toBe(0)
  })

  test('that fails is retried with growing delays for a day', async () => {
    const tenant = await notified.tenant()
    await member([tenant])
    service.answer = () => ({ status: 503, headers: { 'retry-after': '600' } })
    await notified.incident(tenant, 'Again')
    await tick(tenant)
    const { dueAt, failed } = await prisma.pushDelivery.findFirstOrThrow()
    expect([dueAt.getTime() - now().getTime(), failed]).toEqual([10 * MINUTE, 1])
    notified.time += 11
    service.answer = () => ({ status: 201 })
    await tick(tenant)
    expect([service.received.length, await pending()]).toEqual([2, 0])
    service.answer = () => ({ status: 503 })
    await notified.incident(tenant, 'Never')
    for (let hour = 0; hour < 27; hour++) {
      await tick(tenant)
      notified.time += 60
    }
    expect(await pending()).toBe(0)
  })

  test('that refuses a message is not retried', async () => {
    const tenant = await notified.tenant()
    const { userId } = await member([tenant])
    service.answer = () => ({ status: 413 })
    await notified.incident(tenant, 'Refused')
    await tick(tenant)
    expect([await pending(), await prisma.pushBrowser.count({ where: { userId } })]).toEqual([0, 1])
  })

  test('gets a message from one of two workers, and again after a crash', async () => {
    const tenant = await notified.tenant()
    await member([tenant])
    await notified.incident(tenant, 'Twice')
    await dispatch(system, tenant.id)
    const [one, other] = [newWorker(), newWorker()]
    await Promise.all([one.poll(), other.poll()])
    await Promise.all([one.idle(), other.idle()])
    expect(service.received).toHaveLength(1)
    await notified.incident(tenant, 'Crash')
    await dispatch(system, tenant.id)
    // The state that a worker leaves if it dies with its lease.
    await prisma.pushDelivery.updateMany({ data: { dueAt: new Date(now().getTime() + MINUTE) } })
    await tick(tenant)
    expect(service.received).toHaveLength(1)
    notified.time += 2
    await tick(tenant)
    expect(service.received).toHaveLength(2)
  })
})

describe('browsers of a person', () => {
  test('are at most ten; adding one again replaces it', async () => {
    const { signIn } = await person([])
    const first = await signIn()
    await addBrowser(first, service.subscribe())
    for (let count = 1; count < 10; count++) await addBrowser(await signIn(), service.subscribe())
    await expect(addBrowser(await signIn(), service.subscribe())).rejects.toThrow('at most 10 browsers')
    await addBrowser(first, service.subscribe())
    expect(await browsersOf(first)).toHaveLength(10)
  })

  test('belong to the last person who adds them, and only that person can remove them', async () => {
    const [mine, theirs] = [await person([]), await person([])]
    const [my, their] = [await mine.signIn(), await theirs.signIn()]
    const subscription = service.subscribe()
    await addBrowser(my, subscription)
    await addBrowser(their, subscription)
    expect(await browsersOf(my)).toEqual([])
    const [browser] = await browsersOf(their)
    await expect(removeBrowser(my, browser?.id ?? '')).rejects.toThrow('Browser not found.')
    await expect(testBrowser(my, browser?.id ?? '', '/')).rejects.toThrow('Browser not found.')
    await removeBrowser(their, browser?.id ?? '')
    expect(await browsersOf(their)).toEqual([])
  })

  test('keep their secrets sealed', async () => {
    const { ctx } = await member([])
    const { subscription, endpointHash } = await prisma.pushBrowser.findFirstOrThrow({
      where: { sessionId: (ctx.actor as SignedInUser).sessionId },
    })
    expect(subscription).toMatch(/^s1\./)
    expect(endpointHash).toMatch(/^[0-9a-f]{64}$/)
    const { privateKey, publicKey } = await prisma.vapidKey.findUniqueOrThrow({ where: { id: 1 } })
    expect(privateKey).toMatch(/^s1\./)
    expect((await vapidKeys({ db: prisma, seal })).publicKey).toBe(publicKey)
  })

  test.each([
    ['endpoint', { endpoint: 'ftp://a.example/' }],
    ['endpoint', { endpoint: 'https://user:secret@a.example/' }],
    ['endpoint', { endpoint: 'https://victim.com/any-path' }],
    ['endpoint', { endpoint: 'https://fcm.googleapis.com.victim.com/fcm/send/a' }],
    ['endpoint', { endpoint: 'https://fcm.googleapis.com:25/fcm/send/a' }],
    ['endpoint', { endpoint: 'http://fcm.googleapis.com/fcm/send/a' }],
    ['endpoint', { endpoint: `https://a.example/${'x'.repeat(3000)}` }],
    ['p256dh', { p256dh: 'AAAA' }],
    ['p256dh', { p256dh: Buffer.alloc(65, 4).toString('base64url') }],
    ['auth', { auth: '' }],
  ])('must have a valid %s', async (path, changes) => {
    const { signIn } = await person([])
    const given = { ...service.subscribe(), ...changes }
    await expect(addBrowser(await signIn(), given)).rejects.toMatchObject({ issues: [{ path: [path] }] })
  })

  test('must use https, except on private networks', async () => {
    const { signIn } = await person([])
    const ctx = { ...(await signIn()), config: { ...system.config, ALLOW_PRIVATE_NETWORKS: false } }
    await expect(addBrowser(ctx, service.subscribe())).rejects.toMatchObject({ issues: [{ path: ['endpoint'] }] })
  })

  test('are sent nothing at an endpoint of another server that was stored earlier', async () => {
    const { ctx } = await member([])
    const where = { sessionId: (ctx.actor as SignedInUser).sessionId }
    const { id } = await prisma.pushBrowser.findFirstOrThrow({ where })
    const stored = { ...service.subscribe(), endpoint: 'https://victim.com/any-path' }
    const subscription = seal.seal(JSON.stringify(stored), sealedFor(id))
    await prisma.pushBrowser.update({ where: { id }, data: { subscription } })
    const asked: unknown[] = []
    const request = (sent: unknown) => Promise.reject(new Error(String(asked.push(sent))))
    const { result } = await testBrowser({ ...ctx, tools: { outbound: { request } } }, id, '/')
    expect(result).toMatchObject({ kind: 'failed', permanence: 'GONE' })
    expect(asked).toEqual([])
    expect(await browsersOf(ctx)).toEqual([])
  })

  test('cannot lead into a private network', async () => {
    const { ctx } = await member([])
    const [browser] = await browsersOf(ctx)
    const guarded = { ...ctx, tools: { outbound: createOutbound({ dns: noDns, allowPrivate: false }) } }
    const { result } = await testBrowser(guarded, browser?.id ?? '', '/')
    expect(result).toMatchObject({ kind: 'failed', status: null })
    expect(service.received).toEqual([])
  })

  test('are tested with the real response, and removed when they are gone', async () => {
    const { ctx } = await member([])
    const [browser] = await browsersOf(ctx)
    const run = () => testBrowser(ctx, browser?.id ?? '', '/console/a/now')
    const result = { kind: 'delivered', status: 201, message: 'Answered with status 201.' }
    expect(await run()).toEqual({ host: new URL(service.url).host, result })
    expect(shown()).toEqual([{ title: 'Allclear', body: expect.any(String), path: '/console/a/now', tag: 'test' }])
    for (let count = 1; count < 30; count++) await run()
    await expect(run()).rejects.toThrow('too many tests')
    notified.time += 60
    service.answer = () => ({ status: 410 })
    expect(await run()).toMatchObject({ result: { permanence: 'GONE', status: 410 } })
    expect(await browsersOf(ctx)).toEqual([])
  })
})
