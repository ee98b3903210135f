// @slow
import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { MonitorState, ProbeOutcome } from '../../../src/generated/prisma/enums.ts'
import { createMonitor, deleteMonitor, updateMonitor } from '../../../src/monitoring/monitor/monitor.ts'
import { pauseMonitor, resumeMonitor } from '../../../src/monitoring/monitor/pause.ts'
import type { Parent } from '../../../src/monitoring/state/dependency.ts'
import { judgeDependency } from '../../../src/monitoring/state/dependency.ts'
import { reconcileStaleness } from '../../../src/monitoring/state/staleness-job.ts'
import { readUptimes } from '../../../src/monitoring/uptime/uptime-history.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { seal } from '../../notification/setup.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { watchingIn } from '../workers.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)

describe('the effect of a parent on a monitor', () => {
  const result = (outcome: ProbeOutcome | null, seconds: number | null) => ({
    lastOutcome: outcome,
    lastKnownAt: seconds === null ? null : at(seconds),
  })
  const parent = (state: MonitorState, given: Partial<Parent> = {}): Parent => ({
    ...{ id: 'mon_router', kind: 'PING', state, stateSince: at(-30), blockedSince: null },
    watches: [result('UP', -10)],
    ...given,
  })
  const child = (state: MonitorState, heldSince: Date | null = null) => ({
    ...{ state, heldSince, stateSince: at(-3600) },
    watches: [result('DOWN', 0)],
  })
  const fails = { state: 'DOWN', since: at(-20) } as const
  const slows = { state: 'DEGRADED', since: at(-20) } as const
  const recovers = { state: 'UP', since: at(0) } as const
  const probed = [result('UP', 2)]

  test.each([
    // The parents, the monitor, the state from its own results, and the effect of the parents.
    ['an UP parent that has not been probed since', [parent('UP')], child('UP'), fails, 'HELD 0'],
    ['a DEGRADED parent', [parent('DEGRADED')], child('UP'), fails, 'HELD 0'],
    ['a slower answer', [parent('UP')], child('UP'), slows, 'HELD 0'],
    ['a first result that fails', [parent('UP')], child('PENDING'), fails, 'HELD 0'],
    ['a parent that was probed since', [parent('UP', { watches: probed })], child('UP', at(1)), fails, 'FREE'],
    [
      'a parent whose probe fails',
      [parent('UP', { watches: [result('DOWN', 2)] })],
      child('UP', at(1)),
      fails,
      'HELD 1',
    ],
    [
      'a parent whose probe is UNKNOWN',
      [parent('UP', { watches: [result('UNKNOWN', -10)] })],
      child('UP', at(1)),
      fails,
      'HELD 1',
    ],
    [
      'a parent that is UP in most regions',
      [parent('UP', { watches: [...probed, ...probed, result('DOWN', 2)] })],
      child('UP', at(1)),
      fails,
      'FREE',
    ],
    [
      'a parent that is UP in half of its regions',
      [parent('UP', { watches: [...probed, result('DOWN', 2)] })],
      child('UP', at(1)),
      fails,
      'HELD 1',
    ],
    ['a state that was held for two minutes', [parent('UP')], child('UP', at(-120)), fails, 'FREE'],
    ['no change', [parent('UP')], child('UP'), null, 'FREE'],
    ['a recovery', [parent('UP')], child('DOWN'), recovers, 'FREE'],
    ['an outage that continues', [parent('UP')], child('DOWN'), fails, 'FREE'],
    [
      'a parent that was never probed',
      [parent('PENDING', { watches: [result(null, null)] })],
      child('UP'),
      fails,
      'FREE',
    ],
    ['a paused parent', [parent('PAUSED')], child('UP'), fails, 'FREE'],
    ['a heartbeat, which cannot be probed early', [parent('UP', { kind: 'HEARTBEAT' })], child('UP'), fails, 'FREE'],
    ['no parent', [], child('UP'), fails, 'FREE'],
    ['a DOWN parent', [parent('DOWN')], child('UP'), null, 'BLOCKED -30'],
    [
      'a DOWN parent, and an earlier failure',
      [parent('DOWN', { stateSince: at(-10) })],
      child('UP'),
      fails,
      'BLOCKED -20',
    ],
    [
      'a DOWN parent, and a later good result',
      [parent('DOWN')],
      { ...child('UP'), watches: [result('UP', -5)] },
      null,
      'BLOCKED -5',
    ],
    ['a DOWN heartbeat', [parent('DOWN', { kind: 'HEARTBEAT' })], child('UP'), fails, 'BLOCKED -30'],
    ['a parent whose own parent is down', [parent('UP', { blockedSince: at(-15) })], child('UP'), null, 'BLOCKED -15'],
    ['one DOWN parent of two', [parent('UP', { watches: probed }), parent('DOWN')], child('UP'), fails, 'BLOCKED -30'],
    ['a paused parent whose parent is down', [parent('PAUSED', { blockedSince: at(-15) })], child('UP'), fails, 'FREE'],
    ['a monitor that was down before', [parent('DOWN')], child('DOWN'), null, 'BLOCKED -30'],
  ] as const)('%s', (_name, parents, monitor, next, expected) => {
    const found = judgeDependency(parents, monitor, next, at(0))
    const since = found.kind === 'FREE' ? '' : ` ${(Number(found.since) - noon.getTime()) / SECOND}`
    expect(`${found.kind}${since}`).toBe(expected)
  })
})

describe('a monitor that depends on another', async () => {
  const database = await testDatabase()
  const { prisma } = database
  const tenant = tenantsOf(prisma)
  const watching = watchingIn(database)
  const { finds, now } = watching
  const system = testContext(prisma, { now })

  /** Creates a router, and a shop behind it with a service. Both are up. */
  async function behind(router: Parameters<typeof watching.monitor>[1] = {}) {
    await prisma.monitor.deleteMany()
    await prisma.probeResult.deleteMany()
    finds.clear()
    watching.time = 0
    const acme = await tenant('TEAM')
    const [serviceId = ''] = await acme.services('Shop')
    const worker = watching.worker()
    await worker.scheduler.poll()
    // The ids determine the second of the interval in which each is probed.
    const routerId = 'mon_router000000000000000003'
    const shopId = 'mon_shop00000000000000000006'
    await watching.monitor(acme.id, { id: routerId, name: 'Router', ...router })
    await watching.monitor(acme.id, { id: shopId, name: 'Shop', serviceId })
    await prisma.monitorDependency.create({ data: { monitorId: shopId, parentId: routerId } })
    const pass = async (seconds: number) => {
      const end = watching.time + seconds
      while (watching.time < end) {
        await watching.pass(Math.min(5, end - watching.time), [worker], 5)
        await reconcileStaleness(system)
      }
    }
    await pass(120)
    return {
      ...acme,
      ...{ routerId, shopId, serviceId, pass },
      shop: () => prisma.monitor.findUniqueOrThrow({ where: { id: shopId } }),
      incidents: () => prisma.incident.count({ where: { organizationId: acme.id } }),
      status: async () => (await readPageState(prisma, acme.id, now())).services[0]?.shown,
      counted: async (from: number) => {
        const [uptime] = await readUptimes(prisma, [{ id: shopId, from: at(from), to: now() }], now())
        return uptime?.tally
      },
    }
  }

  test('is unknown and opens no incident while its parent is down, no matter which one fails first', async () => {
    for (const first of ['router', 'shop'] as const) {
      const { shopId, routerId, pass, shop, incidents, status, counted, events } = await behind()
      const failedAt = watching.time
      const before = (await events()).length
      finds.set(first === 'shop' ? shopId : routerId, 'DOWN')
      await pass(5)
      finds.set(routerId, 'DOWN').set(shopId, 'DOWN')
      await pass(300)
      expect(await shop()).toMatchObject({ state: 'UP', blockedSince: expect.any(Date), heldSince: null })
      expect(await incidents()).toBe(0)
      expect(await status()).toBe('UNKNOWN')
      const down = await counted(failedAt)
      expect(down?.down).toBe(0)
      expect(down?.unknown).toBeGreaterThan(180 * SECOND)
      const kinds = (await events()).slice(before).map(({ kind, subjectId }) => [kind, subjectId])
      expect(kinds.filter(([, id]) => id === shopId)).toEqual([['MONITOR_UNKNOWN', shopId]])

      finds.clear()
      await pass(120)
      expect(await shop()).toMatchObject({ state: 'UP', blockedSince: null, unknownSince: null })
      expect(await status()).toBe('OPERATIONAL')
      expect((await counted(failedAt))?.down).toBe(0)
      expect(await incidents()).toBe(0)
    }
  })

  test('goes down if its parent is up: the parent is probed at once, then an incident is opened', async () => {
    const { shopId, routerId, pass, incidents, shop } = await behind({ intervalSeconds: 3600 })
    const probes = () => prisma.probeResult.count({ where: { monitorId: routerId } })
    const before = await probes()
    finds.set(shopId, 'DOWN')
    await pass(100)
    expect(await probes()).toBe(before + 1)
    expect(await shop()).toMatchObject({ state: 'DOWN', heldSince: null, blockedSince: null })
    expect(await incidents()).toBe(1)
  })

  test('goes down after its parent is up again if it still fails', async () => {
    const { shopId, routerId, pass, incidents, shop, counted } = await behind()
    finds.set(routerId, 'DOWN').set(shopId, 'DOWN')
    await pass(300)
    finds.delete(routerId)
    const upAt = watching.time
    await pass(200)
    const { state, stateSince } = await shop()
    expect(state).toBe('DOWN')
    expect(Number(stateSince)).toBeGreaterThanOrEqual(Number(at(upAt)))
    expect(await incidents()).toBe(1)
    // It is unknown until the second consecutive failure, which makes it DOWN.
    expect((await counted(0))?.down).toBe(Number(now()) - Number(stateSince) - 20 * SECOND)
  })

  test('does not wait forever for a parent without known results', async () => {
    const { shopId, routerId, pass, incidents } = await behind()
    finds.set(routerId, 'UNKNOWN').set(shopId, 'DOWN')
    await pass(120)
    expect(await incidents()).toBe(0)
    await pass(120)
    expect(await incidents()).toBe(1)
  })

  test('is known again after its parent is paused or deleted', async () => {
    for (const end of ['pause', 'delete'] as const) {
      const { ctx, routerId, pass, shop } = await behind()
      finds.set(routerId, 'DOWN')
      await pass(200)
      expect((await shop()).blockedSince).not.toBeNull()
      await (end === 'pause' ? pauseMonitor(ctx, routerId) : deleteMonitor(ctx, routerId))
      await pass(60)
      expect(await shop()).toMatchObject({ state: 'UP', blockedSince: null, unknownSince: null })
    }
  })

  test('starts over after a pause, and becomes unknown again', async () => {
    const { ctx, routerId, shopId, pass, shop } = await behind()
    finds.set(routerId, 'DOWN')
    await pass(200)
    await pauseMonitor(ctx, shopId)
    expect(await shop()).toMatchObject({ blockedSince: null, unknownSince: null, state: 'PAUSED' })
    await resumeMonitor(ctx, shopId)
    await pass(60)
    expect(await shop()).toMatchObject({ state: 'PENDING', blockedSince: expect.any(Date) })
    finds.clear()
    await pass(120)
    expect(await shop()).toMatchObject({ state: 'UP', blockedSince: null, unknownSince: null })
  })

  test('can depend on up to ten monitors of its organization, but never on itself', async () => {
    const { ctx } = await tenant('TEAM')
    const own = { ...ctx, seal }
    const other = await watching.monitor((await tenant('FREE')).id)
    const ping = { name: 'A', ping: { host: 'example.com' } }
    const { id: routerId } = await createMonitor(own, ping)
    const { id: shopId } = await createMonitor(own, { ...ping, dependsOnIds: [routerId] })
    expect(await updateMonitor(own, { id: shopId, dependsOnIds: [routerId] })).toMatchObject({ version: 1 })
    const leaf = await createMonitor(own, { ...ping, dependsOnIds: [shopId, routerId] })
    for (const [id, dependsOnIds, issue] of [
      [routerId, [leaf.id], '0'],
      [routerId, [shopId], '0'],
      [shopId, [routerId, shopId], '1'],
    ] as const)
      await expect(updateMonitor(own, { id, dependsOnIds })).rejects.toMatchObject({
        issues: [{ path: ['dependsOnIds', issue], message: 'must not depend on this monitor' }],
      })
    await expect(updateMonitor(own, { id: leaf.id, dependsOnIds: [shopId, shopId] })).rejects.toMatchObject({
      issues: [{ path: ['dependsOnIds', '1'] }],
    })
    for (const strange of [other.id, 'mon_none', '\0', leaf.organizationId])
      await expect(updateMonitor(own, { id: leaf.id, dependsOnIds: [strange] })).rejects.toThrow('Monitor not found.')
    await expect(
      updateMonitor(own, { id: leaf.id, dependsOnIds: Array.from({ length: 11 }, () => routerId) }),
    ).rejects.toThrow()
    expect(await updateMonitor(own, { id: leaf.id, dependsOnIds: [] })).toMatchObject({ version: 2 })
    expect(await prisma.monitorDependency.count({ where: { monitorId: leaf.id } })).toBe(0)
  })
})
