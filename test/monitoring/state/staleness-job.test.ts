// @slow
import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import { pauseMonitor } from '../../../src/monitoring/monitor/pause.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { reconcileStaleness, reconcileStalenessInTurn } from '../../../src/monitoring/state/staleness-job.ts'
import { readUptimes } from '../../../src/monitoring/uptime/uptime-history.ts'
import { readPageState } from '../../../src/status/page/page-state.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)
const { at, now, finds } = watching
/** The context of a web process. */
const ctx = testContext(prisma, { now })

/** Creates a tenant with one service and a monitor of it with an interval of 60 s, which was up until second 120. */
async function withMonitor(given: Parameters<typeof watching.monitor>[1] = {}, regions: readonly string[] = ['local']) {
  await prisma.monitor.deleteMany()
  await prisma.region.deleteMany()
  finds.clear()
  watching.time = 0
  const acme = await tenant('TEAM')
  const [serviceId = ''] = await acme.services('Shop')
  const workers = regions.map((region) => watching.worker({ region }))
  for (const { scheduler } of workers) await scheduler.poll()
  const { id } = await watching.monitor(acme.id, { serviceId, ...given })
  await watching.pass(120, workers, 20)
  const [worker] = workers
  if (!worker) throw new Error('There is no worker.')
  const lastKnown = async () => {
    const watches = await prisma.watch.findMany({ where: { monitorId: id }, orderBy: { region: 'asc' } })
    return watches.map(({ lastKnownAt }) => (Number(lastKnownAt) - at(0).getTime()) / SECOND)
  }
  return {
    ...acme,
    ...{ organizationId: acme.id, serviceId, id, worker, workers, lastKnown },
    monitor: () => prisma.monitor.findUniqueOrThrow({ where: { id } }),
    /** Returns the kinds of staleness events after the first result, and their times in seconds. */
    reported: async () =>
      (await acme.events())
        .filter(({ kind }) => /_(UN)?KNOWN$/.test(kind))
        .map(({ kind, since }) => `${kind}${since === null ? '' : ` ${(+since - +at(0)) / SECOND}`}`)
        .slice(1),
    page: async () => (await readPageState(prisma, acme.id, now())).status,
    /** Returns the seconds that count as up, down and unknown, up to now. */
    counted: async (from = 0) => {
      const [uptime] = await readUptimes(prisma, [{ id, from: at(from), to: now() }], now())
      const { up = 0, down = 0, unknown = 0 } = uptime?.tally ?? {}
      return { up: up / SECOND, down: down / SECOND, unknown: unknown / SECOND }
    },
  }
}

describe('when the last worker has died', () => {
  test('a web process reports when the monitor became stale, and that it is known at the next result', async () => {
    const { lastKnown, monitor, reported, page, counted, worker, serviceId } = await withMonitor()
    const [known = 0] = await lastKnown()
    const ends = known + 60
    expect(await page()).toMatchObject({ indicator: 'NONE' })

    watching.time = ends
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await reported()).toEqual([])
    // There were no results for a minute.
    watching.time = Math.max(ends, 180) + 1
    await reconcileStaleness(ctx, 'OVERDUE')
    await reconcileStaleness(ctx, 'OVERDUE')
    const fell = [`MONITOR_UNKNOWN ${ends}`, `SERVICE_UNKNOWN ${ends}`]
    expect(await reported()).toEqual(fell)
    expect(await monitor()).toMatchObject({ state: 'UP', unknownSince: at(ends) })
    expect(await page()).toMatchObject({ indicator: 'MINOR', shown: 'UNKNOWN', unknownSince: at(ends) })
    const service = (await readPageState(prisma, (await monitor()).organizationId, now())).services[0]
    expect(service).toMatchObject({ id: serviceId, status: 'DEGRADED_PERFORMANCE', unknownSince: at(ends) })

    watching.time = 1000
    expect(await counted()).toMatchObject({ unknown: expect.closeTo(1000 - ends, -2), down: 0 })
    await worker.tick()
    const [again = 0] = await lastKnown()
    expect(again).toBe(1000)
    expect(await reported()).toEqual([...fell, 'MONITOR_KNOWN 1000', 'SERVICE_KNOWN'])
    expect(await monitor()).toMatchObject({ unknownSince: null })
    expect(await page()).toMatchObject({ indicator: 'NONE', unknownSince: null })
    expect(await counted(100)).toEqual({ up: ends - 100, down: 0, unknown: 1000 - ends })
  })

  test('staleness does not end when a worker starts, but when it has a result', async () => {
    const { monitor, reported } = await withMonitor()
    watching.time = 300
    await reconcileStaleness(ctx, 'OVERDUE')
    await prisma.region.updateMany({ data: { lastSeenAt: now() } })
    await reconcileStaleness(ctx, 'OVERDUE')
    expect((await monitor()).unknownSince).not.toBeNull()
    expect(await reported()).toHaveLength(2)
  })

  test('a DOWN monitor stays DOWN on the page, which shows when it became stale', async () => {
    const { id, workers, page, monitor, reported, counted } = await withMonitor()
    finds.set(id, 'DOWN')
    await watching.pass(120, workers)
    expect(await page()).toMatchObject({ indicator: 'CRITICAL' })
    const before = await counted()
    watching.time = 1000
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await page()).toMatchObject({ indicator: 'CRITICAL', shown: 'MAJOR_OUTAGE' })
    expect(await monitor()).toMatchObject({ state: 'DOWN', unknownSince: expect.any(Date) })
    expect(await reported()).toHaveLength(2)
    expect((await counted()).down).toBeLessThan(before.down + 61)
  })

  test('a monitor that was never probed is stale from its creation', async () => {
    const { organizationId } = await withMonitor()
    watching.time = 400
    const { id } = await watching.monitor(organizationId)
    watching.time = 470
    await reconcileStaleness(ctx)
    expect(await prisma.monitor.findUnique({ where: { id } })).toMatchObject({ unknownSince: at(400) })
  })

  test('a paused monitor is not stale, and its service becomes unknown', async () => {
    const { id, as, monitor, page, reported } = await withMonitor()
    watching.time = 1000
    await reconcileStaleness(ctx, 'OVERDUE')
    await pauseMonitor({ ...as('WRITE'), now }, id)
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await monitor()).toMatchObject({ state: 'PAUSED', unknownSince: null })
    expect(await page()).toMatchObject({ indicator: 'MINOR', unknownSince: at(1000) })
    expect((await reported()).map((line) => line.split(' ')[0])).toEqual([
      'MONITOR_UNKNOWN',
      'SERVICE_UNKNOWN',
      'SERVICE_UNKNOWN',
    ])
  })

  test('a service is stale when all its monitors are stale, and known as soon as one is known', async () => {
    const { organizationId, serviceId, reported, worker, id } = await withMonitor()
    const other = await watching.monitor(organizationId, { serviceId, name: 'Other', intervalSeconds: 600 })
    await worker.tick()
    watching.time = 400
    await reconcileStaleness(ctx, 'OVERDUE')
    expect((await reported()).map((line) => line.split(' ')[0])).toEqual(['MONITOR_UNKNOWN'])
    watching.time = 2000
    await reconcileStaleness(ctx, 'OVERDUE')
    expect((await reported()).map((line) => line.split(' ')[0]).slice(1)).toEqual([
      'MONITOR_UNKNOWN',
      'SERVICE_UNKNOWN',
    ])
    await prisma.watch.updateMany({ where: { monitorId: other.id }, data: { dueAt: at(2300) } })
    await worker.tick()
    expect((await reported()).slice(3)).toEqual(['MONITOR_KNOWN 2000', 'SERVICE_KNOWN'])
    expect(await prisma.monitor.findUnique({ where: { id } })).toMatchObject({ unknownSince: null })
  })
})

test('a worker in a new region does not make the past known', async () => {
  const { lastKnown, counted, id } = await withMonitor()
  const [known = 0] = await lastKnown()
  watching.time = 5000
  await prisma.watch.create({
    data: { id: watchId(id, 'mars'), monitorId: id, region: 'mars', dueAt: at(4000), stateSince: at(5000) },
  })
  await watching.worker({ region: 'mars' }).tick()
  expect(await counted(100)).toEqual({ up: known + 60 - 100, down: 0, unknown: 5000 - known - 60 })
})

test('time after the first UNKNOWN result does not count, even if it is short', async () => {
  const { id, counted, workers } = await withMonitor()
  finds.set(id, 'UNKNOWN')
  await watching.pass(60, workers, 1)
  const { unknownSince } = await prisma.watch.findFirstOrThrow({ where: { monitorId: id } })
  const from = (Number(unknownSince) - at(0).getTime()) / SECOND
  expect(await counted(100)).toEqual({ up: from - 100, down: 0, unknown: 180 - from })
  finds.delete(id)
  await watching.pass(70, workers, 1)
  const gaps = await prisma.monitorGap.findMany({ where: { monitorId: id } })
  expect(gaps).toMatchObject([{ startedAt: unknownSince, endedAt: at(from + 60) }])
  expect((await counted(100)).unknown).toBe(60)
})

describe('a monitor that two regions must agree on', () => {
  const two = ['local', 'mars']

  test('is stale while one region is stale, regardless of the other, and that time counts as unknown', async () => {
    const { id, workers, lastKnown, monitor, counted, page } = await withMonitor({ agreement: 2 }, two)
    const [here] = workers
    if (!here) throw new Error('There is no worker.')
    const [, ofMars = 0] = await lastKnown()
    expect(await monitor()).toMatchObject({ state: 'UP', unknownSince: null })
    finds.set(watchId(id, 'local'), 'DOWN')
    await watching.pass(300, [here], 30)
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await monitor()).toMatchObject({ state: 'UP', unknownSince: at(ofMars + 60) })
    expect(await page()).toMatchObject({ shown: 'UNKNOWN' })
    expect(await counted(100)).toEqual({ up: ofMars + 60 - 100, down: 0, unknown: 420 - ofMars - 60 })
    // The result of one region does not make the state known; the result of the second does.
    await watching.pass(60, [here])
    finds.set(id, 'DOWN')
    await watching.pass(120, workers)
    expect(await monitor()).toMatchObject({ state: 'DOWN', unknownSince: null })
    expect((await counted(100)).up).toBe(ofMars + 60 - 100)
  })

  test('stays DOWN when a region that agreed becomes stale', async () => {
    const { id, workers, monitor } = await withMonitor({ agreement: 2 }, two)
    finds.set(id, 'DOWN')
    await watching.pass(120, workers, 30)
    expect(await monitor()).toMatchObject({ state: 'DOWN' })
    await watching.pass(200, workers.slice(0, 1), 50)
    finds.set(watchId(id, 'local'), 'UP')
    await watching.pass(200, workers.slice(0, 1), 50)
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await monitor()).toMatchObject({ state: 'DOWN', unknownSince: expect.any(Date) })
    expect(await prisma.incident.count({ where: { resolvedAt: null, monitors: { some: { monitorId: id } } } })).toBe(1)
  })

  test('is never up while only one region probes it', async () => {
    const { monitor, counted } = await withMonitor({ agreement: 2 })
    await watching.pass(300, [])
    await reconcileStaleness(ctx, 'OVERDUE')
    expect(await monitor()).toMatchObject({ state: 'PENDING', unknownSince: at(0) })
    expect(await counted()).toEqual({ up: 0, down: 0, unknown: 420 })
  })
})

describe('monitors are examined', () => {
  const scopes = async (seconds: number, actual = watching.time) => {
    await prisma.monitor.deleteMany()
    watching.time = seconds
    const acme = await tenant('TEAM')
    // It has no watch, so only an examination of all finds it.
    const { id } = await watching.monitor(acme.id)
    await prisma.monitor.update({ where: { id }, data: { stateSince: at(seconds - 1000) } })
    await prisma.watch.deleteMany({ where: { monitorId: id } })
    await Promise.all([1, 2, 3].map(() => reconcileStalenessInTurn(ctx)))
    const { unknownSince } = await prisma.monitor.findUniqueOrThrow({ where: { id } })
    const [scan] = await prisma.stalenessScan.findMany()
    watching.time = actual
    return { isWhole: unknownSince !== null, dueIn: (Number(scan?.dueAt) - Number(at(seconds))) / SECOND }
  }

  test('by one process at a time, all of them once a minute, and also after the clock was set back', async () => {
    await prisma.stalenessScan.deleteMany()
    expect(await scopes(10_000)).toEqual({ isWhole: true, dueIn: 4 })
    expect(await scopes(10_003)).toEqual({ isWhole: false, dueIn: 1 })
    expect(await scopes(10_004)).toEqual({ isWhole: false, dueIn: 4 })
    expect(await scopes(10_059)).toEqual({ isWhole: false, dueIn: 4 })
    expect(await scopes(10_063)).toEqual({ isWhole: true, dueIn: 4 })
    expect(await scopes(5000)).toEqual({ isWhole: true, dueIn: 4 })
  })
})
