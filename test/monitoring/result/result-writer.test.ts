import { describe, expect, test, vi } from 'vitest'
import type { Database } from '../../../src/core/context.ts'
import { createMetrics } from '../../../src/core/telemetry/metrics.ts'
import { plainRows } from '../../../src/database/transaction.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { deleteWatches, watchId } from '../../../src/monitoring/monitor/watches.ts'
import { noteFollowed } from '../../../src/monitoring/result/followed-monitors.ts'
import { probeResult } from '../../../src/monitoring/result/probe-result.ts'
import { RESULTS_NOTIFICATION } from '../../../src/monitoring/result/result-store.ts'
import { createResultWriter } from '../../../src/monitoring/result/result-writer.ts'
import { mergeHistograms } from '../../../src/monitoring/uptime/histogram.ts'
import type { DueWatch } from '../../../src/monitoring/watch/due-watch.ts'
import { readWatches } from '../../../src/monitoring/watch/due-watch.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma, pool } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)
const { at, now } = watching
const acme = await tenant('TEAM')
await prisma.region.create({ data: { name: 'local', lastSeenAt: at(0) } })

const up = probeResult('UP', 'Fine.', { latencyMs: 20, detail: { status: 200 } })
const down = probeResult('DOWN', 'Refused.')
const unknown = probeResult('UNKNOWN', 'No socket.')

type Run = (statement: Prisma.Sql) => Promise<object[]>
const run: Run = (statement) => plainRows(prisma, statement)

/** Creates a result writer. @param through runs its statements. */
function recorderWith(through?: Run) {
  const reconciled: string[] = []
  const metrics = createMetrics()
  const resultWriter = createResultWriter({
    db: through ? ({ $queryRaw: through } as unknown as Database) : prisma,
    reconcile: async (_, ids) => void reconciled.push(...ids),
    metrics,
    now,
    log: silent,
    gatherMs: 0,
  })
  return { resultWriter, reconciled, metrics }
}

async function watched(given: Parameters<typeof watching.monitor>[1] = {}) {
  const { id } = await watching.monitor(acme.id, given)
  const read = async () => (await readWatches(pool, [watchId(id, 'local')]))[0] as DueWatch
  return { id, read, watch: () => prisma.watch.findUniqueOrThrow({ where: { id: watchId(id, 'local') } }) }
}

describe('a result', () => {
  test('is stored with the new state of its watch, counted in its hour, and schedules the next probe', async () => {
    const { resultWriter } = recorderWith()
    const { id, read, watch } = await watched()
    expect(await resultWriter.record(await read(), { at: at(1), result: up })).toBe(true)
    expect(await watch()).toMatchObject({
      state: 'UP',
      stateSince: at(1),
      recent: [['UP', at(1).getTime()]],
      lastProbedAt: at(1),
      lastKnownAt: at(1),
      lastOutcome: 'UP',
      lastMessage: 'Fine.',
      lastLatencyMs: 20,
    })
    const due = (await watch()).dueAt?.getTime() ?? 0
    expect(due).toBeGreaterThan(at(1).getTime())
    expect(due).toBeLessThanOrEqual(at(61).getTime())
    expect(await prisma.probeResult.findMany({ where: { monitorId: id } })).toEqual([
      {
        monitorId: id,
        at: at(1),
        region: 'local',
        outcome: 'UP',
        latencyMs: 20,
        message: 'Fine.',
        detail: { status: 200 },
      },
    ])
    await resultWriter.record(await read(), { at: at(61), result: { ...up, latencyMs: 5000 } })
    await resultWriter.record(await read(), { at: at(121), result: { ...up, latencyMs: 0.4 } })
    await resultWriter.record(await read(), { at: at(181), result: { ...up, latencyMs: 1e9 } })
    await resultWriter.record(await read(), { at: at(241), result: down })
    await resultWriter.record(await read(), { at: at(301), result: unknown })
    await resultWriter.record(await read(), { at: at(361), result: { ...up, outcome: 'DEGRADED', latencyMs: 20 } })
    const [hour, ...more] = await prisma.monitorHour.findMany({ where: { monitorId: id } })
    expect(more).toEqual([])
    expect(hour).toMatchObject({ hour: at(0), up: 4, degraded: 1, down: 1, unknown: 1 })
    expect(hour?.latencies).toHaveLength(64)
    expect(Object.entries(hour?.latencies ?? []).filter(([, count]) => count > 0)).toEqual([
      ['0', 1],
      ['17', 2],
      ['47', 1],
      ['63', 1],
    ])
    expect(mergeHistograms([hour?.latencies ?? []])).toEqual(hour?.latencies)
  })

  test('that is UNKNOWN keeps the known state, and one that contradicts the state causes an early retry', async () => {
    const { resultWriter } = recorderWith()
    const { read, watch } = await watched()
    await resultWriter.record(await read(), { at: at(1), result: up })
    await resultWriter.record(await read(), { at: at(61), result: unknown })
    expect(await watch()).toMatchObject({
      state: 'UP',
      lastProbedAt: at(61),
      lastKnownAt: at(1),
      lastOutcome: 'UNKNOWN',
    })
    await resultWriter.record(await read(), { at: at(121), result: down })
    const soon = await watch()
    expect(soon).toMatchObject({
      state: 'UP',
      recent: [
        ['UP', at(1).getTime()],
        ['DOWN', at(121).getTime()],
      ],
    })
    expect(soon.dueAt?.getTime()).toBeLessThanOrEqual(at(141).getTime())
    await resultWriter.record(await read(), { at: at(141), result: down })
    expect(await watch()).toMatchObject({ state: 'DOWN', stateSince: at(121) })
  })

  test('is ignored after another worker claimed or recorded its watch, or the watch was deleted', async () => {
    const { resultWriter } = recorderWith()
    const { id, read, watch } = await watched()
    const taken = await read()
    await prisma.watch.update({ where: { id: taken.id }, data: { dueAt: at(99) } })
    expect(await resultWriter.record(taken, { at: at(1), result: down })).toBe(false)
    expect(await watch()).toMatchObject({ lastProbedAt: null, dueAt: at(99) })
    const twice = await read()
    const both = [
      resultWriter.record(twice, { at: at(2), result: up }),
      resultWriter.record(twice, { at: at(3), result: up }),
    ]
    expect(await Promise.all(both)).toEqual([true, false])
    const last = await read()
    await deleteWatches(testContext(prisma, { now }), { id })
    expect(await resultWriter.record(last, { at: at(4), result: up })).toBe(false)
    expect(await prisma.probeResult.count({ where: { monitorId: id } })).toBe(1)
    expect(await prisma.monitorHour.findMany({ where: { monitorId: id } })).toMatchObject([{ up: 1, down: 0 }])
  })

  test('that is too late leaves a gap, which starts when the previous result became stale', async () => {
    const { resultWriter } = recorderWith()
    const { id, read } = await watched()
    const gaps = () => prisma.monitorGap.findMany({ where: { monitorId: id }, orderBy: { startedAt: 'asc' } })
    await resultWriter.record(await read(), { at: at(0), result: up })
    await resultWriter.record(await read(), { at: at(130), result: up })
    expect(await gaps()).toEqual([])
    await resultWriter.record(await read(), { at: at(200), result: unknown })
    await resultWriter.record(await read(), { at: at(261), result: down })
    expect(await gaps()).toEqual([{ monitorId: id, startedAt: at(190), endedAt: at(261) }])
  })

  test('from one region leaves no gap if another region had results meanwhile', async () => {
    const { resultWriter } = recorderWith()
    const { id, read } = await watched()
    await resultWriter.record(await read(), { at: at(0), result: up })
    const other = { id: watchId(id, 'mars'), monitorId: id, region: 'mars', stateSince: at(0), lastKnownAt: at(300) }
    await prisma.watch.create({ data: other })
    await resultWriter.record(await read(), { at: at(400), result: up })
    expect(await prisma.monitorGap.count({ where: { monitorId: id } })).toBe(0)
    await resultWriter.record(await read(), { at: at(1000), result: up })
    expect(await prisma.monitorGap.findMany({ where: { monitorId: id } })).toMatchObject([
      { startedAt: at(460), endedAt: at(1000) },
    ])
  })

  test('leaves one gap if the regions that must agree report at the same time after an outage', async () => {
    const { id } = await watching.monitor(acme.id, { agreement: 2 })
    const [known, regions] = [{ stateSince: at(0), dueAt: at(0), lastKnownAt: at(0) }, ['local', 'mars']]
    await prisma.watch.deleteMany({ where: { monitorId: id } })
    const watches = regions.map((region) => ({ id: watchId(id, region), monitorId: id, region, ...known }))
    await prisma.watch.createMany({ data: watches })
    const due = await readWatches(
      pool,
      watches.map((watch) => watch.id),
    )
    const late = due.toSorted((one, other) => one.region.localeCompare(other.region))
    await Promise.all(
      late.map((watch, index) => recorderWith().resultWriter.record(watch, { at: at(500 + index), result: up })),
    )
    const [gap, ...others] = await prisma.monitorGap.findMany({ where: { monitorId: id } })
    expect(others).toEqual([])
    expect(gap?.startedAt).toEqual(at(60))
    expect([at(500), at(501)]).toContainEqual(gap?.endedAt)
  })

  test('may contain text that PostgreSQL cannot store', async () => {
    const { resultWriter } = recorderWith()
    const { id, read } = await watched()
    const finding = { ...up, message: 'a\0b\ud800c', detail: { answers: ['\0', '\udfff', '\\u0000', 'é💥'] } }
    expect(await resultWriter.record(await read(), { at: at(1), result: finding })).toBe(true)
    expect(await prisma.probeResult.findFirst({ where: { monitorId: id } })).toMatchObject({
      message: 'ab\ufffdc',
      detail: { answers: ['', '\ufffd', '\\u0000', 'é💥'] },
    })
  })

  test('is announced to listeners with its monitor while somebody follows that', async () => {
    const { resultWriter } = recorderWith()
    const { id, read } = await watched()
    const other = await watched()
    const heard: (string | null)[] = []
    const stop = await database.listen(RESULTS_NOTIFICATION, (payload) => heard.push(payload))
    await resultWriter.record(await read(), { at: at(1), result: up })
    await noteFollowed({ db: prisma }, [id])
    await resultWriter.record(await other.read(), { at: at(1), result: up })
    await resultWriter.record(await read(), { at: at(2), result: up })
    await vi.waitUntil(() => heard.length > 0)
    await prisma.followedMonitor.updateMany({ data: { until: new Date(0) } })
    await resultWriter.record(await read(), { at: at(3), result: up })
    await prisma.$executeRaw`SELECT pg_notify(${RESULTS_NOTIFICATION}, 'last')`
    await vi.waitUntil(() => heard.includes('last'))
    expect(heard).toEqual([id, 'last'])
    await noteFollowed({ db: prisma }, [other.id])
    expect(await prisma.followedMonitor.findMany()).toMatchObject([{ monitorId: other.id }])
    await stop()
  })
})

describe('many results', () => {
  test('are written together, and announced in payloads of limited length', async () => {
    let statements = 0
    const counting: Run = (statement) => {
      if (statement.text.includes('INSERT')) statements += 1
      return run(statement)
    }
    const { resultWriter, metrics } = recorderWith(counting)
    const heard: string[] = []
    const stop = await database.listen(RESULTS_NOTIFICATION, (payload) => heard.push(payload ?? ''))
    const watches = await readWatches(pool, await watching.monitors(acme.id, 650))
    await noteFollowed(
      { db: prisma },
      watches.map(({ monitor }) => monitor.id),
    )
    const counted = await Promise.all(watches.map((watch) => resultWriter.record(watch, { at: at(1), result: up })))
    expect(counted).toEqual(Array(650).fill(true))
    expect(statements).toBe(2)
    const ids = () => heard.flatMap((payload) => payload.split(' '))
    await vi.waitUntil(() => ids().length >= 650)
    expect(ids().toSorted()).toEqual(watches.map(({ monitor }) => monitor.id).toSorted())
    expect(Math.max(...heard.map((payload) => payload.length))).toBeLessThan(8000)
    await stop()
    expect(await metrics.text()).toMatch(/allclear_results_written_sum 650/)
  })

  test('survive a short outage of the database', async () => {
    let failures = 2
    const { resultWriter, metrics } = recorderWith((statement) =>
      failures-- > 0 ? Promise.reject(Object.assign(new Error('gone'), { code: '57P01' })) : run(statement),
    )
    const { read } = await watched()
    expect(await resultWriter.record(await read(), { at: at(1), result: up })).toBe(true)
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 0/)
  })

  test('are lost when the database is still unavailable while the service stops', async () => {
    const { resultWriter, metrics } = recorderWith(() => Promise.reject(new Error('Connection terminated')))
    const { read } = await watched()
    const recorded = resultWriter.record(await read(), { at: at(1), result: up })
    await resultWriter.close()
    expect(await recorded).toBe(false)
    expect(await resultWriter.record(await read(), { at: at(2), result: up })).toBe(false)
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 1/)
  })

  test('are stored even if the database rejects one of them', async () => {
    const { resultWriter, metrics } = recorderWith()
    const monitors = await Promise.all(Array.from({ length: 7 }, () => watched()))
    const watches = await Promise.all(monitors.map(({ read }) => read()))
    const results = watches.map((watch, index) =>
      resultWriter.record(watch, { at: at(1), result: { ...up, latencyMs: index === 4 ? 1e12 : 20 } }),
    )
    expect(await Promise.all(results)).toEqual([true, true, true, true, false, true, true])
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 1/)
  })

  test('cause reconciling only for monitors whose state differs from the state of the watch', async () => {
    const { resultWriter, reconciled } = recorderWith()
    const fresh = await watched()
    await resultWriter.record(await fresh.read(), { at: at(1), result: unknown })
    expect(reconciled).toEqual([])
    await resultWriter.record(await fresh.read(), { at: at(2), result: up })
    await resultWriter.idle()
    expect(reconciled).toEqual([fresh.id])
    await prisma.monitor.update({ where: { id: fresh.id }, data: { state: 'UP' } })
    await resultWriter.record(await fresh.read(), { at: at(3), result: up })
    await resultWriter.record(await fresh.read(), { at: at(4), result: down })
    await resultWriter.idle()
    expect(reconciled).toEqual([fresh.id])
  })
})
