// @slow
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { MAX_CONCURRENT_MAILS } from '../../src/notification/channel/mailer.ts'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { LEASE } from '../../src/notification/queue/lease.ts'
import { importSubscribers } from '../../src/notification/subscriber/subscriber-import.ts'
import { startChild } from '../support/child.ts'
import { noon } from '../support/context.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownDatabase, using } from '../support/shared-database.ts'
import { notifiedIn } from './setup.ts'

const COUNT = 450
/** How many messages a killed worker may have had in progress: sent, with the response not received or not stored. */
const MAX_REPEATED = 2 * 64

test('a worker killed while sending loses nothing, and repeated messages keep their id', async () => {
  const place = await ownDatabase()
  const seen = new Map<string, string[]>()
  const reached = (count: number) =>
    new Promise<void>((resolve) => server.on('request', () => seen.size >= count && resolve()))
  const server = createServer(({ url = '', headers }, response) => {
    seen.set(url, [...(seen.get(url) ?? []), String(headers['webhook-id'])])
    setTimeout(() => response.end(), 2)
  })
  await once(server.listen(0, '0.0.0.0'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await prepare(place.where, port)
    const first = startChild('worker-child', [place.where])
    await reached(COUNT / 3)
    await first.kill()
    const before = seen.size
    expect(before, 'it was killed in the middle').toBeLessThan(COUNT)

    const second = startChild('worker-child', [place.where, String(LEASE + 1000)])
    expect(await second.line()).toBe('done')
    expect(seen.size).toBe(COUNT)
    const ids = [...seen.values()]
    expect(ids.filter((each) => new Set(each).size > 1)).toEqual([])
    expect(ids.filter((each) => each.length > 1).length).toBeLessThan(MAX_REPEATED)
    expect(await statuses(place.where)).toEqual([{ status: 'DELIVERED', _count: COUNT }])
  } finally {
    server.close()
    server.closeAllConnections()
    await place.remove()
  }
})

const MAILS = 300
/** A worker is killed after this many emails. */
const KILLS = [60, 140, 220]

test('workers killed while sending email lose none and repeat only emails in progress', async () => {
  const place = await ownDatabase()
  const server = await startMailServer()
  try {
    await using(place.where, async (database) => {
      const notified = notifiedNow(database)
      const tenant = await notified.tenant('TEAM')
      const csv = Array.from({ length: MAILS }, (_, each) => `${each}@reader.example`).join('\n')
      await importSubscribers(notified.owner(tenant), { csv })
      await notified.incident(tenant, 'Outage')
      await dispatch(notified.system, tenant.id)
    })
    for (const [turn, count] of KILLS.entries()) {
      const worker = startChild('worker-child', [place.where, String(turn * (LEASE + 1000)), server.url])
      await server.arrived(count)
      await worker.kill()
    }
    const last = startChild('worker-child', [place.where, String(KILLS.length * (LEASE + 1000)), server.url])
    expect(await last.line()).toBe('done')
    const ids = new Map<string, number>()
    for (const { messageId = '' } of server.mails) ids.set(messageId, (ids.get(messageId) ?? 0) + 1)
    expect(ids.size).toBe(MAILS)
    const doubles = server.mails.length - MAILS
    expect(doubles).toBeLessThanOrEqual(KILLS.length * MAX_CONCURRENT_MAILS)
    expect(await statuses(place.where)).toEqual([{ status: 'DELIVERED', _count: MAILS }])
  } finally {
    await server.close()
    await place.remove()
  }
}, 240_000)

/** One incident with many webhooks to notify, behind many hosts. */
const prepare = (where: string, port: number) =>
  using(where, async (database) => {
    const notified = notifiedNow(database)
    const tenant = await notified.tenant('TEAM')
    const urls = Array.from({ length: COUNT }, (_, each) => `http://127.0.0.${(each % 16) + 1}:${port}/${each}`)
    await notified.webhooks(tenant, urls)
    await notified.incident(tenant, 'Outage')
    await dispatch(notified.system, tenant.id)
    expect(await database.prisma.delivery.count()).toBe(COUNT)
  })

/** Its clock shows the real time, as those of the workers do: deliveries of an earlier day would not be retried for long. */
function notifiedNow(database: Parameters<typeof notifiedIn>[0]) {
  const notified = notifiedIn(database)
  notified.time = (Date.now() - noon.getTime()) / MINUTE
  return notified
}

const statuses = (where: string) =>
  using(where, ({ prisma }) => prisma.delivery.groupBy({ by: ['status'], _count: true }))
