// @slow
import { beforeEach, describe, expect, test } from 'vitest'
import { HOUR, SECOND } from '../../../src/core/time.ts'
import { endRun, startRun } from '../../../src/monitoring/heartbeat/runs.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { probeResult } from '../../../src/monitoring/result/probe-result.ts'
import { LEASE_MS, type RunProbe } from '../../../src/monitoring/schedule/scheduler.ts'
import { ANYWHERE } from '../../../src/monitoring/watch/live-region.ts'
import { retrySeconds } from '../../../src/monitoring/watch/next-due.ts'
import { scheduleOf } from '../../../src/monitoring/watch/staleness.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma, pool } = database
const watching = watchingIn(database)
const { at, finds } = watching
const acme = await tenantsOf(prisma)('TEAM')

beforeEach(async () => {
  await prisma.monitor.deleteMany()
  await prisma.probeResult.deleteMany()
  await prisma.region.deleteMany()
  await prisma.region.create({ data: { name: 'local', lastSeenAt: at(0) } })
  watching.time = 0
  finds.clear()
})

const watchOf = (id: string, region = 'local') => prisma.watch.findUniqueOrThrow({ where: { id: watchId(id, region) } })
const times = async (monitorId: string) => {
  const results = await prisma.probeResult.findMany({ where: { monitorId }, orderBy: { at: 'asc' } })
  return results.map((result) => (result.at.getTime() - at(0).getTime()) / SECOND)
}

/** Creates probes that run until the test ends them or they are aborted. */
function manualProbes(): { run: RunProbe; running: string[]; end(): void } {
  const ends: (() => void)[] = []
  const running: string[] = []
  return {
    running,
    run: ({ monitor }, signal) =>
      new Promise((resolve) => {
        running.push(monitor.id)
        const end = () => resolve(probeResult('UP', 'Fine.', { latencyMs: 1 }))
        ends.push(end)
        signal.addEventListener('abort', end)
      }),
    end: () => ends.splice(0).forEach((end) => void end()),
  }
}

describe('a scheduler', () => {
  test('probes each monitor once per interval, at its own offset, without drift', async () => {
    const { id } = await watching.monitor(acme.id, { intervalSeconds: 30 })
    const worker = watching.worker()
    await worker.tick()
    await watching.pass(200, [worker], 1)
    const [first, second = 0, ...more] = await times(id)
    expect(first).toBe(0)
    expect(second).toBeLessThanOrEqual(31)
    expect(more).toEqual(more.map((_, index) => second + 30 * (index + 1)))
    expect(more.length).toBeGreaterThanOrEqual(4)
    const { length } = await times(id)
    expect(await worker.metrics.text()).toContain(`allclear_check_lateness_seconds_bucket{le="1"} ${length}`)
  })

  test('spreads monitors over the interval', async () => {
    await watching.monitors(acme.id, 40)
    const worker = watching.worker()
    await worker.tick()
    const due = await prisma.watch.findMany({ select: { dueAt: true } })
    const seconds = due.map(({ dueAt }) => ((dueAt?.getTime() ?? 0) - at(0).getTime()) / SECOND)
    expect(Math.max(...seconds)).toBeLessThanOrEqual(60)
    for (const quarter of [0, 15, 30, 45]) {
      expect(seconds.filter((each) => each >= quarter && each <= quarter + 15).length).toBeGreaterThanOrEqual(1)
    }
  })

  test('retries results that contradict the state until it changes', async () => {
    const { id } = await watching.monitor(acme.id)
    const worker = watching.worker()
    await worker.tick()
    finds.set(id, 'DOWN')
    await watching.pass(120, [worker], 1)
    const results = await prisma.probeResult.findMany({ where: { monitorId: id }, orderBy: { at: 'asc' } })
    const [failed, confirmed] = results.filter(({ outcome }) => outcome === 'DOWN').map((result) => result.at.getTime())
    const between = ((confirmed ?? 0) - (failed ?? 0)) / SECOND
    expect(between).toBeGreaterThan(0)
    expect(between).toBeLessThanOrEqual(retrySeconds(60))
    expect(await watchOf(id)).toMatchObject({ state: 'DOWN', stateSince: new Date(failed ?? 0) })
  })

  test('respects the minimum interval of the tier', async () => {
    const free = await tenantsOf(prisma)('FREE')
    const { id } = await watching.monitor(free.id, { intervalSeconds: 10 })
    const worker = watching.worker()
    await worker.tick()
    await watching.pass(130, [worker], 1)
    const [first, second = 0, ...more] = await times(id)
    expect(first).toBe(0)
    expect(more).toEqual(more.map((_, index) => second + 60 * (index + 1)))
    expect(more.length).toBeLessThanOrEqual(2)
  })

  test('returns when the next watch is due, and polls at least every second', async () => {
    const worker = watching.worker()
    expect(await worker.scheduler.poll()).toBe(1000)
    const { id } = await watching.monitor(acme.id)
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(0.4) } })
    expect(await worker.scheduler.poll()).toBe(400)
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(30) } })
    expect(await worker.scheduler.poll()).toBe(1000)
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(0) } })
    expect(await worker.scheduler.poll()).toBeLessThanOrEqual(100)
    await worker.scheduler.idle()
  })

  test('limits concurrent probes, and runs the most overdue first', async () => {
    const globex = await tenantsOf(prisma)('TEAM')
    const ids = await watching.monitors(acme.id, 60)
    await watching.monitors(globex.id, 60)
    await prisma.watch.update({ where: { id: ids[59] }, data: { dueAt: at(-1) } })
    const { run, running, end } = manualProbes()
    const worker = watching.worker({ run, concurrency: 50 })
    for (let look = 0; look < 30; look++) await worker.scheduler.poll()
    expect(running.length).toBeGreaterThanOrEqual(33)
    expect(running.length).toBeLessThanOrEqual(50)
    expect(watchId(running[0] ?? '', 'local')).toBe(ids[59])
    for (let look = 0; look < 20; look++) {
      end()
      await worker.scheduler.idle()
      await worker.scheduler.poll()
    }
    expect(await prisma.probeResult.count()).toBe(120)
    expect(await worker.metrics.text()).toMatch(/allclear_checks_in_flight 0/)
  })

  test('gives an organization with 500 slow probes at most half of them, and delays nobody', async () => {
    const globex = await tenantsOf(prisma)('TEAM')
    await watching.monitors(acme.id, 500)
    const { run, running, end } = manualProbes()
    const worker = watching.worker({ run, concurrency: 200 })
    for (let look = 0; look < 30; look++) await worker.scheduler.poll()
    expect(running.length).toBeGreaterThanOrEqual(66)
    expect(running.length).toBeLessThanOrEqual(100)
    const { id } = await watching.monitor(globex.id)
    await worker.scheduler.poll()
    expect(running.at(-1), 'although 400 have waited longer').toBe(id)
    end()
    await worker.scheduler.close()
  })

  test('claims only watches of its region and of the region *', async () => {
    const { id } = await watching.monitor(acme.id)
    const { id: listed } = await watching.monitor(acme.id, { kind: 'BLACKLIST', intervalSeconds: 900 })
    const elsewhere = { id: watchId(id, 'mars'), monitorId: id, region: 'mars', dueAt: at(0), stateSince: at(0) }
    await prisma.watch.create({ data: elsewhere })
    await watching.worker().tick()
    expect((await watchOf(id)).lastKnownAt).toEqual(at(0))
    expect((await watchOf(listed, ANYWHERE)).lastKnownAt).toEqual(at(0))
    expect(await watchOf(id, 'mars')).toMatchObject({ lastKnownAt: null, dueAt: at(0) })
  })

  test('creates watches of its region for existing monitors, but not for paused ones', async () => {
    const { id } = await watching.monitor(acme.id)
    const paused = await watching.monitor(acme.id, { pausedBy: 'OWNER' })
    await prisma.watch.deleteMany({ where: { monitorId: paused.id } })
    const mars = watching.worker({ region: 'mars' })
    await mars.tick()
    expect(await prisma.region.findUnique({ where: { name: 'mars' } })).toEqual({ name: 'mars', lastSeenAt: at(0) })
    await watching.pass(30, [mars])
    expect((await watchOf(id, 'mars')).lastKnownAt).not.toBeNull()
    expect(await prisma.watch.count({ where: { monitorId: paused.id } })).toBe(0)
  })

  test('finds a job DOWN if its heartbeat is late, and UNKNOWN if no worker was running', async () => {
    const { id } = await watching.monitor(acme.id, { kind: 'HEARTBEAT', options: { graceSeconds: 30 } })
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(90) } })
    const worker = watching.worker()
    await watching.pass(95, [worker])
    expect(await watchOf(id, ANYWHERE)).toMatchObject({ state: 'DOWN', stateSince: at(90), dueAt: at(180) })
    watching.time = 600
    await worker.tick()
    expect(await watchOf(id, ANYWHERE)).toMatchObject({ lastOutcome: 'UNKNOWN', dueAt: at(690) })
  })

  test('finds a job DOWN once if it started and did not end, and then follows its schedule', async () => {
    const options = { graceSeconds: 30, maxRunSeconds: 600, schedule: '0 * * * *', timeZone: 'Asia/Kolkata' }
    const { id } = await watching.monitor(acme.id, { kind: 'HEARTBEAT', options })
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { startedAt: at(0), dueAt: at(600) } })
    const worker = watching.worker()
    await watching.pass(605, [worker])
    // Full hours in India are half past the hour in UTC.
    expect(await watchOf(id, ANYWHERE)).toMatchObject({ state: 'DOWN', stateSince: at(600), dueAt: at(1830) })
    expect((await watchOf(id, ANYWHERE)).lastMessage).toContain('has not ended within 10 minutes')
    await watching.pass(1230, [worker])
    expect((await watchOf(id, ANYWHERE)).lastMessage).toBe('No heartbeat.')
    expect(await times(id)).toEqual([600, 1835])
  })

  test('finds a job DOWN for each of its runs that does not end', async () => {
    const options = { graceSeconds: 30, maxRunSeconds: 600 }
    const { id } = await watching.monitor(acme.id, { kind: 'HEARTBEAT', intervalSeconds: 86_400, options })
    const schedule = scheduleOf({ intervalSeconds: 86_400, timeoutMs: 0, options }, 'TEAM')
    const worker = watching.worker()
    for (const [time, rid] of [
      [0, 'a'],
      [60, 'b'],
      [120, 'c'],
    ] as const) {
      watching.time = time
      await startRun({ ...acme.later(time * SECOND) }, watchId(id, ANYWHERE), rid, schedule)
    }
    expect(await endRun(acme.later(130 * SECOND), watchId(id, ANYWHERE), 'b')).toEqual(at(60))
    expect(await watchOf(id, ANYWHERE)).toMatchObject({ startedAt: at(0), dueAt: at(600) })
    await watching.pass(1000, [worker])
    expect(await times(id)).toEqual([600, 720])
    const messages = await prisma.probeResult.findMany({ where: { monitorId: id }, orderBy: { at: 'asc' } })
    expect(messages.map(({ message }) => message)).toEqual([
      'The job started at 2026-11-20 12:00:00 UTC and has not ended within 10 minutes.',
      'The job started at 2026-11-20 12:02:00 UTC and has not ended within 10 minutes.',
    ])
  })

  test('computes when a scheduled job is late if the database made it due at once', async () => {
    const { id } = await watching.monitor(acme.id, {
      kind: 'HEARTBEAT',
      options: { schedule: '@daily', graceSeconds: 60 },
    })
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(0) } })
    await watching.worker().tick()
    expect(await watchOf(id, ANYWHERE)).toMatchObject({ state: 'PENDING', dueAt: at(12 * 3600 + 60) })
    expect(await times(id)).toEqual([])
  })

  test('finds everything UNKNOWN without a network', async () => {
    const ids = await watching.monitors(acme.id, 20)
    const worker = watching.worker()
    await worker.tick()
    const lost = { ...probeResult('DOWN', 'No route.'), suspect: null }
    for (const [index, id] of ids.entries()) {
      finds.set(id, { ...lost, suspect: `host-${index}.example` })
    }
    await watching.pass(600, [worker], 10)
    const states = await prisma.monitor.groupBy({ by: ['state'], _count: true })
    expect(states.filter(({ state }) => state === 'DOWN')).toEqual([])
    finds.clear()
    await watching.pass(60, [worker], 10)
    expect(await prisma.monitorGap.count()).toBeGreaterThanOrEqual(18)
  })
})

describe('a lease', () => {
  test('excludes other workers until the worker must be dead; then another takes over', async () => {
    const { id } = await watching.monitor(acme.id)
    const { run, running } = manualProbes()
    const [dead, other] = [watching.worker({ run }), watching.worker()]
    await dead.scheduler.poll()
    expect(running).toEqual([id])
    watching.time = LEASE_MS / SECOND - 1
    await other.tick()
    expect(await times(id)).toEqual([])
    watching.time += 1
    await other.tick()
    expect(await times(id)).toEqual([LEASE_MS / SECOND])
  })

  test('that has expired makes the worker discard its late result', async () => {
    const { id } = await watching.monitor(acme.id)
    const { run, end } = manualProbes()
    const [slow, other] = [watching.worker({ run }), watching.worker()]
    await slow.scheduler.poll()
    watching.time = 41
    await other.tick()
    end()
    await slow.scheduler.idle()
    expect(await times(id)).toEqual([41])
    expect(await prisma.probeResult.findMany()).toMatchObject([{ message: 'It is UP.' }])
  })

  test('is released when the worker stops, so that another worker probes at once', async () => {
    const { id } = await watching.monitor(acme.id)
    const { run } = manualProbes()
    const stopping = watching.worker({ run })
    await stopping.scheduler.poll()
    watching.time = 3
    await stopping.scheduler.close()
    await stopping.resultWriter.close()
    expect(await times(id)).toEqual([])
    await watching.worker().tick()
    expect(await times(id)).toEqual([3])
  })

  test('belongs to only one worker, even if many poll', async () => {
    const ids = await watching.monitors(acme.id, 60)
    const workers = Array.from({ length: 4 }, () => watching.worker())
    await Promise.all(workers.map((worker) => worker.tick()))
    await workers[0]?.tick()
    expect(await prisma.probeResult.count()).toBe(ids.length)
  })
})

describe('a clock', () => {
  test('that is set back delays no probe by more than a lease and a poll', async () => {
    const { id } = await watching.monitor(acme.id)
    const worker = watching.worker()
    watching.time = HOUR / SECOND
    await worker.tick()
    await watching.pass(60, [worker])
    watching.time = 0
    await watching.pass(60, [worker])
    const early = (await times(id)).filter((second) => second <= 60)
    expect(early.length).toBeGreaterThanOrEqual(1)
    expect((await watchOf(id)).state).toBe('UP')
  })

  test('that is set forward makes everything due once, and leaves a gap', async () => {
    const ids = await watching.monitors(acme.id, 10)
    const worker = watching.worker()
    await worker.tick()
    watching.time = HOUR / SECOND
    await worker.tick()
    expect(await prisma.probeResult.count()).toBe(2 * ids.length)
    const gaps = await prisma.monitorGap.findMany()
    expect(gaps).toHaveLength(ids.length)
    expect(gaps[0]).toMatchObject({ startedAt: at(60), endedAt: at(HOUR / SECOND) })
  })

  test('that is set back does not delay a heartbeat by more than its interval and grace period', async () => {
    const { id } = await watching.monitor(acme.id, { kind: 'HEARTBEAT', options: { graceSeconds: 30 } })
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: at(3690) } })
    await watching.worker().tick()
    const due = (await watchOf(id, ANYWHERE)).dueAt?.getTime() ?? 0
    expect(due).toBeLessThanOrEqual(at(90).getTime() + LEASE_MS + SECOND)
    expect(due).toBeGreaterThanOrEqual(at(90).getTime())
  })
})

test('a scheduler continues when the database is available again', async () => {
  const { id } = await watching.monitor(acme.id)
  let failures = 1
  const query = ((sql: never) => {
    if (failures-- > 0) return Promise.reject(new Error('Connection terminated'))
    return pool.query(sql)
  }) as typeof pool.query
  const worker = watching.worker({ pool: { query } })
  await expect(worker.scheduler.poll()).rejects.toThrow('Connection terminated')
  watching.time = 41
  await worker.tick()
  expect(await times(id)).toEqual([41])
})
