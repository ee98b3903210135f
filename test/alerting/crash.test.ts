// @slow
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { dispatch } from '../../src/notification/delivery/dispatch.ts'
import { LEASE } from '../../src/notification/queue/lease.ts'
import { outbound } from '../notification/setup.ts'
import { startChild } from '../support/child.ts'
import { ownDatabase, using } from '../support/shared-database.ts'
import { alertedIn, handleEvents } from './setup.ts'

const CHANNELS = 8
const MONITORS = 8
/** Each monitor goes down and up again. */
const COUNT = CHANNELS * MONITORS * 2
/** How many messages a killed worker may have had in progress: sent, with the response not received or not stored. */
const MAX_REPEATED = 2 * 32

test('a worker killed while it sends alerts loses none, repeats only messages in progress, and keeps the order', async () => {
  const place = await ownDatabase()
  const came: { readonly id: string; readonly thread: string; readonly type: string }[] = []
  const server = createServer(async (request, response) => {
    const { type, data } = JSON.parse(await text(request))
    came.push({ id: String(request.headers['webhook-id']), thread: `${request.url} ${data.monitor.name}`, type })
    server.emit('came')
    setTimeout(() => response.end(), 2)
  })
  const reached = (count: number) =>
    new Promise<void>((resolve) => server.on('came', () => came.length >= count && resolve()))
  await once(server.listen(0, '0.0.0.0'), 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await prepare(place.where, port)
    const first = startChild('alert-child', [place.where])
    await reached(COUNT / 3)
    await first.kill()
    const before = came.length
    expect(before, 'it was killed in the middle').toBeLessThan(COUNT)

    const second = startChild('alert-child', [place.where, String(LEASE + 1000)])
    expect(await second.line()).toBe('done')
    expect(new Set(came.map(({ id }) => id)).size).toBe(COUNT)
    expect(came.length - COUNT).toBeLessThan(MAX_REPEATED)
    const orders = new Map<string, string[]>()
    for (const { thread, type } of came) orders.set(thread, [...(orders.get(thread) ?? []), type])
    expect(orders.size).toBe(CHANNELS * MONITORS)
    for (const types of orders.values()) expect(types.join(' ')).toMatch(/^(monitor\.down ?)+(monitor\.up ?)+$/)
    await using(place.where, async ({ prisma }) => {
      expect(await prisma.alertDelivery.groupBy({ by: ['status'], _count: true })).toEqual([
        { status: 'DELIVERED', _count: COUNT },
      ])
    })
  } finally {
    server.close()
    server.closeAllConnections()
    await place.remove()
  }
})

/** Creates monitors that went down and up. Every channel gets two alerts about each. */
const prepare = (where: string, port: number) =>
  using(where, async (database) => {
    const alerted = alertedIn(database, { outbound, mailer: null })
    const tenant = await alerted.tenant('TEAM')
    for (let each = 0; each < CHANNELS; each++)
      await alerted.channel(tenant, { webhook: { url: `http://127.0.0.${each + 1}:${port}/${each}` } })
    const monitors = []
    for (let each = 0; each < MONITORS; each++) monitors.push(await alerted.monitor(tenant, `Monitor ${each}`))
    for (const state of ['DOWN', 'UP'] as const) {
      alerted.time += 1
      await alerted.setState(tenant, monitors, state)
      while (await dispatch(alerted.system, tenant.id, handleEvents)) {}
    }
    expect(await database.prisma.alertDelivery.count()).toBe(COUNT)
  })
