// @slow
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MINUTE, SECOND } from '../../../src/core/time.ts'
import type { DnsClient } from '../../../src/network/dns/client.ts'
import type { Answer } from '../../../src/network/outbound/outbound.ts'
import { createOutbound } from '../../../src/network/outbound/outbound.ts'
import { redeliver } from '../../../src/notification/delivery/delivery.ts'
import { dispatch } from '../../../src/notification/delivery/dispatch.ts'
import { readAttempts } from '../../../src/notification/queue/attempt.ts'
import { LEASE } from '../../../src/notification/queue/lease.ts'
import { unsubscribe } from '../../../src/notification/subscriber/subscriber.ts'
import { testDatabase } from '../../support/database.ts'
import { createGate } from '../../support/dns-server.ts'
import type { Received } from '../../support/receiver.ts'
import { startReceiver } from '../../support/receiver.ts'
import { notifiedIn } from '../setup.ts'

const database = await testDatabase()
const { prisma } = database
const notified = notifiedIn(database)
const receiver = await startReceiver()
afterAll(() => receiver.close())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = () => ({ status: 200 })
})

// Each test has its own page, but workers send for all.
afterEach(() => prisma.delivery.deleteMany())

/** A page with one webhook. */
async function page(path = '/hook') {
  const tenant = await notified.tenant()
  const subscriber = await notified.subscriber(tenant, { webhook: receiver.url + path })
  return { tenant, subscriber }
}
const idOf = ({ headers }: Received) => headers['webhook-id']
const messageOf = ({ body }: Received) => JSON.parse(body).data.incident.message as string
const deliveriesOf = (organizationId: string) =>
  prisma.delivery.findMany({ where: { organizationId }, orderBy: { seq: 'asc' } })

describe('a receiver that is down', () => {
  test('for an hour then gets everything once, in order per incident', async () => {
    const { tenant } = await page()
    const worker = notified.worker()
    receiver.answer = () => ({ status: 503 })
    const first = await notified.incident(tenant, 'A')
    const second = await notified.incident(tenant, 'B')
    await notified.tick(tenant, worker)
    for (const word of ['one', 'two', 'three']) {
      await notified.update(tenant, first, `A ${word}`)
      await notified.update(tenant, second, `B ${word}`)
      await notified.tick(tenant, worker)
      await notified.pass(20, worker, 5)
    }
    const attempts = receiver.received.length
    expect(new Set(receiver.received.map(idOf)).size, 'nothing overtakes what failed').toBe(2)
    expect(attempts).toBeLessThan(30)

    receiver.received.length = 0
    receiver.answer = () => ({ status: 204 })
    await notified.pass(130, worker, 10)
    const messages = receiver.received.map(messageOf)
    expect(messages.filter((each) => /A/.test(each))).toEqual(['First of A.', 'A one', 'A two', 'A three'])
    expect(messages.filter((each) => /B/.test(each))).toEqual(['First of B.', 'B one', 'B two', 'B three'])
    expect(new Set(receiver.received.map(idOf)).size).toBe(8)
    expect((await deliveriesOf(tenant.id)).map(({ status }) => status)).toEqual(Array(8).fill('DELIVERED'))
  })

  test('is retried with the same id and content, with growing delays, and given up after a day', async () => {
    const { tenant } = await page()
    const worker = notified.worker()
    receiver.answer = () => ({ status: 500 })
    const incident = await notified.incident(tenant, 'Old title')
    await notified.tick(tenant, worker)
    await notified.update(tenant, incident, 'Said later')
    await notified.pass(25 * 60, worker, 15)
    const [delivery] = await deliveriesOf(tenant.id)
    expect(delivery).toMatchObject({ status: 'FAILED', dueAt: null })
    const attempts = readAttempts(delivery?.attempts ?? [])
    expect(attempts.length).toBe(receiver.received.length)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(receiver.received.map(idOf))).toEqual(new Set([delivery?.id]))
    const pauses = attempts.map(({ at }, index) => at.getTime() - (attempts[index - 1]?.at.getTime() ?? 0)).slice(1)
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other))
    expect(attempts[0]).toMatchObject({ delivered: false, status: 500, message: 'Answered with status 500.' })
  })

  test('is not contacted before its Retry-After', async () => {
    const { tenant } = await page()
    const worker = notified.worker()
    receiver.answer = () => ({ status: 429, headers: { 'retry-after': '1800' } })
    await notified.incident(tenant, 'A')
    await notified.tick(tenant, worker)
    await notified.pass(29, worker, 29)
    expect(receiver.received.length).toBe(1)
    await notified.pass(1, worker)
    expect(receiver.received.length).toBe(2)
  })

  test('does not delay others', async () => {
    const { tenant } = await page('/down')
    await notified.subscriber(tenant, { webhook: `${receiver.url}/up` })
    receiver.answer = ({ path }) => ({ status: path === '/up' ? 200 : 500 })
    const worker = notified.worker()
    const incident = await notified.incident(tenant, 'A')
    await notified.update(tenant, incident, 'more')
    await notified.tick(tenant, worker)
    const up = receiver.received.filter(({ path }) => path === '/up')
    expect(up.map(messageOf)).toEqual(['First of A.', 'more'])
  })
})

describe('an address that no longer exists', () => {
  test('gets nothing else', async () => {
    const { tenant, subscriber } = await page()
    const worker = notified.worker()
    receiver.answer = () => ({ status: 410 })
    await notified.incident(tenant, 'A')
    await notified.incident(tenant, 'B')
    await notified.tick(tenant, worker)
    expect(await prisma.subscriber.findUnique({ where: { id: subscriber.id } })).toMatchObject({ stopReason: 'GONE' })
    await notified.incident(tenant, 'C')
    await notified.tick(tenant, worker)
    expect(receiver.received.length).toBe(1)
    expect((await deliveriesOf(tenant.id)).map(({ status }) => status)).toEqual(['FAILED', 'CANCELLED'])
  })

  test('that unsubscribed gets no pending messages', async () => {
    const { tenant, subscriber } = await page()
    await notified.incident(tenant, 'A')
    await dispatch(notified.system, tenant.id)
    await unsubscribe(notified.system, notified.token(subscriber))
    await notified.tick(tenant, notified.worker())
    expect(receiver.received).toEqual([])
    expect((await deliveriesOf(tenant.id)).map(({ status }) => status)).toEqual(['CANCELLED'])
  })
})

describe('several workers', () => {
  test('send each message once', async () => {
    const tenant = await notified.tenant('PRO')
    for (let each = 0; each < 40; each += 1) {
      await notified.subscriber(tenant, { webhook: `${receiver.url}/${each}` })
    }
    await notified.incident(tenant, 'A')
    await dispatch(notified.system, tenant.id)
    const workers = [notified.worker(), notified.worker(), notified.worker()]
    await Promise.all(workers.map((worker) => worker.poll()))
    await Promise.all(workers.map((worker) => worker.idle()))
    expect(receiver.received.length).toBe(40)
    expect(new Set(receiver.received.map(({ path }) => path)).size).toBe(40)
  })

  test('take over from a dead worker after its lease', async () => {
    const { tenant } = await page()
    await notified.incident(tenant, 'A')
    await dispatch(notified.system, tenant.id)
    // A worker that claims the delivery and then dies.
    const until = new Date(notified.now().getTime() + LEASE)
    await prisma.delivery.updateMany({ where: { organizationId: tenant.id }, data: { dueAt: until } })
    const other = notified.worker()
    await notified.pass(LEASE / MINUTE - 1, other)
    expect(receiver.received).toEqual([])
    await notified.pass(1, other)
    expect(receiver.received.length).toBe(1)
  })

  test('one that stops releases what it has not started and waits for the rest', async () => {
    const tenant = await notified.tenant()
    for (let each = 0; each < 8; each += 1) await notified.subscriber(tenant, { webhook: `${receiver.url}/${each}` })
    await notified.incident(tenant, 'A')
    await dispatch(notified.system, tenant.id)
    const { opened, open } = createGate()
    receiver.answer = async () => {
      await opened
      return { status: 200 }
    }
    const worker = notified.worker()
    await worker.poll()
    const closed = worker.close()
    open()
    await closed
    const statuses = (await deliveriesOf(tenant.id)).map(({ status, dueAt }) => [status, dueAt])
    expect(statuses.filter(([status]) => status === 'DELIVERED').length).toBe(4)
    expect(statuses.filter(([status]) => status === 'PENDING')).toEqual(Array(4).fill(['PENDING', notified.now()]))
    await notified.tick(tenant, notified.worker())
    expect(receiver.received.length).toBe(8)
  })
})

test('at most four deliver to one host, and one to one subscriber', async () => {
  const tenant = await notified.tenant()
  for (let each = 0; each < 9; each += 1) await notified.subscriber(tenant, { webhook: `${receiver.url}/${each}` })
  for (const title of ['A', 'B', 'C']) await notified.incident(tenant, title)
  let busy = 0
  let most = 0
  const paths = new Set<string>()
  const twice: string[] = []
  const { opened: four, open } = createGate()
  receiver.answer = async ({ path }) => {
    busy += 1
    most = Math.max(most, busy)
    if (paths.has(path)) twice.push(path)
    paths.add(path)
    // All allowed requests are busy before any of them is answered.
    if (busy === 4) open()
    await four
    paths.delete(path)
    busy -= 1
    return { status: 200 }
  }
  await notified.tick(tenant, notified.worker())
  expect(receiver.received.length).toBe(27)
  expect({ most, twice }).toEqual({ most: 4, twice: [] })
})

/** Outbound requests that never end until the test says so. */
function hangingOutbound() {
  const { opened: ended, open: end } = createGate()
  const urls: string[] = []
  const request = async ({ url }: { readonly url: string }) => {
    urls.push(url)
    await ended
    return { kind: 'answer', status: 200, headers: {}, body: Buffer.alloc(0) } as unknown as Answer
  }
  return { outbound: { request }, urls, end }
}

/** A tenant with an incident that is dispatched to a webhook at each of these addresses. */
async function notifying(urls: readonly string[]) {
  const tenant = await notified.tenant('TEAM')
  await notified.webhooks(tenant, urls)
  await notified.incident(tenant, 'A')
  await dispatch(notified.system, tenant.id)
  return tenant
}

test('an organization with many slow hosts leaves half of the sends and of the claims to others', async () => {
  const slow = await notifying(Array.from({ length: 400 }, (_, each) => `http://10.0.${each >> 8}.${each & 255}/`))
  const { outbound, urls, end } = hangingOutbound()
  const worker = notified.worker({ outbound })
  for (let poll = 0; poll < 20; poll += 1) await worker.poll()
  expect(urls).toHaveLength(64)
  const claimed = await prisma.delivery.count({ where: { organizationId: slow.id, dueAt: { gt: notified.now() } } })
  expect(claimed).toBeLessThanOrEqual(264)
  await notifying(['http://10.9.9.9/quick'])
  await worker.poll()
  await expect.poll(() => urls.at(-1)).toBe('http://10.9.9.9/quick')
  end()
  await worker.close()
})

test('an organization uses at most half of the sends to one host', async () => {
  await notifying(Array.from({ length: 30 }, (_, each) => `http://10.0.0.1/a/${each}`))
  const { outbound, urls, end } = hangingOutbound()
  const worker = notified.worker({ outbound })
  for (let poll = 0; poll < 5; poll += 1) await worker.poll()
  await expect.poll(() => urls.length).toBe(4)
  await notifying(['http://10.0.0.1/b'])
  await worker.poll()
  await expect.poll(() => urls.at(-1)).toBe('http://10.0.0.1/b')
  end()
  await worker.close()
})

test('a failed delivery can be sent again with its id', async () => {
  const { tenant } = await page()
  const worker = notified.worker()
  receiver.answer = () => ({ status: 500 })
  await notified.incident(tenant, 'A')
  await notified.tick(tenant, worker)
  await notified.pass(25 * 60, worker, 60)
  const [delivery] = await deliveriesOf(tenant.id)
  receiver.received.length = 0
  await expect(redeliver(notified.owner(await notified.tenant()), delivery?.id ?? '')).rejects.toThrow(
    'Delivery not found',
  )
  await redeliver(notified.owner(tenant), delivery?.id ?? '')
  await expect(redeliver(notified.owner(tenant), delivery?.id ?? '')).rejects.toThrow('still pending')
  await notified.tick(tenant, worker)
  await notified.pass(1, worker)
  expect(receiver.received.length, 'and is tried as soon again as the first time').toBe(2)
  receiver.answer = () => ({ status: 200 })
  await notified.pass(30, worker, 10)
  expect(new Set(receiver.received.map(idOf))).toEqual(new Set([delivery?.id]))
  expect((await deliveriesOf(tenant.id))[0]).toMatchObject({ status: 'DELIVERED' })
})

test('one webhook host gets a limited number per minute from all organizations; the rest waits', async () => {
  const tenants = [await notified.tenant('TEAM'), await notified.tenant('TEAM')]
  for (const [index, tenant] of tenants.entries()) {
    const urls = Array.from({ length: 60 }, (_, each) => `https://hook-${index}-${each}.victim.com/`)
    await notified.webhooks(tenant, urls)
    await notified.incident(tenant, 'A')
    await dispatch(notified.system, tenant.id)
  }
  let sent = 0
  const request = async () => {
    sent += 1
    return { kind: 'answer', status: 200, headers: {}, body: Buffer.alloc(0) } as unknown as Answer
  }
  const worker = notified.worker({ outbound: { request } })
  await worker.poll()
  await worker.idle()
  await worker.close()
  // A sixth of 600 a minute can go together; a slow machine lets a few more follow.
  expect(sent).toBeGreaterThanOrEqual(100)
  const left = await prisma.delivery.count({ where: { status: 'PENDING' } })
  expect(sent + left).toBe(120)
  expect(await prisma.delivery.count({ where: { status: 'FAILED' } })).toBe(0)
})

test('a webhook at its address limit waits, without counting as an attempt', async () => {
  const { tenant } = await page()
  let isFull = true
  const rate = { tryAcquire: () => !isFull, acquire: async () => false }
  const worker = notified.worker({ outbound: createOutbound({ dns: {} as DnsClient, allowPrivate: true, rate }) })
  await notified.incident(tenant, 'A')
  await notified.tick(tenant, worker)
  expect(receiver.received).toEqual([])
  const [delivery] = await deliveriesOf(tenant.id)
  expect(delivery).toMatchObject({ status: 'PENDING', attempts: [], dueAt: delivery?.deferredUntil })
  expect(delivery?.dueAt?.getTime()).toBeGreaterThanOrEqual(notified.now().getTime() + 2 * SECOND)
  expect(delivery?.dueAt?.getTime()).toBeLessThanOrEqual(notified.now().getTime() + 4 * SECOND)
  isFull = false
  await notified.pass(1, worker)
  expect(receiver.received.length).toBe(1)
  expect(await deliveriesOf(tenant.id)).toMatchObject([{ status: 'DELIVERED' }])
})
