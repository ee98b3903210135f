import { describe, expect, test, vi } from 'vitest'
import { createMetrics } from '../../src/metrics.ts'
import type { DueWatch } from '../../src/monitoring/due-watch.ts'
import { readWatches } from '../../src/monitoring/due-watch.ts'
import { found } from '../../src/monitoring/finding.ts'
import { mergeHistograms } from '../../src/monitoring/histogram.ts'
import { createRecorder } from '../../src/monitoring/recorder.ts'
import { CHECKS_CHANNEL } from '../../src/monitoring/result-store.ts'
import { closeWatches, watchId } from '../../src/monitoring/watch.ts'
import { tenantsOf } from '../status/setup.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { silent } from '../support/scratch.ts'
import { watchingIn } from './workers.ts'

const database = await testDatabase()
const { prisma, pool } = database
const tenant = tenantsOf(prisma)
const watching = watchingIn(database)
const { at, now } = watching
const acme = await tenant('TEAM')
await prisma.region.create({ data: { name: 'local', lastSeenAt: at(0) } })

const up = found('UP', 'Fine.', { latencyMs: 20, detail: { status: 200 } })
const down = found('DOWN', 'Refused.')
const unknown = found('UNKNOWN', 'No socket.')

/** A recorder through which everything goes to the database, but for what `query` does instead. */
function recorderWith(query: typeof pool.query = pool.query.bind(pool)) {
  const settled: string[] = []
  const metrics = createMetrics()
  const recorder = createRecorder({
    pool: { query },
    settle: async (_, ids) => void settled.push(...ids),
    metrics,
    now,
    log: silent,
    gatherMs: 0,
  })
  return { recorder, settled, metrics }
}

async function watched(given: Parameters<typeof watching.monitor>[1] = {}) {
  const { id } = await watching.monitor(acme.id, given)
  const read = async () => (await readWatches(pool, [watchId(id, 'local')]))[0] as DueWatch
  return { id, read, watch: () => prisma.watch.findUniqueOrThrow({ where: { id: watchId(id, 'local') } }) }
}

describe('a result', () => {
  test('is stored with what its watch then is, counted in its hour, and the watch is next due in its slot', async () => {
    const { recorder } = recorderWith()
    const { id, read, watch } = await watched()
    expect(await recorder.record(await read(), { at: at(1), finding: up })).toBe(true)
    expect(await watch()).toMatchObject({
      state: 'UP',
      stateSince: at(1),
      recent: [['UP', at(1).getTime()]],
      lastCheckedAt: at(1),
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
    await recorder.record(await read(), { at: at(61), finding: { ...up, latencyMs: 5000 } })
    await recorder.record(await read(), { at: at(121), finding: { ...up, latencyMs: 0.4 } })
    await recorder.record(await read(), { at: at(181), finding: { ...up, latencyMs: 1e9 } })
    await recorder.record(await read(), { at: at(241), finding: down })
    await recorder.record(await read(), { at: at(301), finding: unknown })
    await recorder.record(await read(), { at: at(361), finding: { ...up, outcome: 'DEGRADED', latencyMs: 20 } })
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

  test('that is unknown leaves what is known, and one that contradicts it is checked again soon', async () => {
    const { recorder } = recorderWith()
    const { read, watch } = await watched()
    await recorder.record(await read(), { at: at(1), finding: up })
    await recorder.record(await read(), { at: at(61), finding: unknown })
    expect(await watch()).toMatchObject({
      state: 'UP',
      lastCheckedAt: at(61),
      lastKnownAt: at(1),
      lastOutcome: 'UNKNOWN',
    })
    await recorder.record(await read(), { at: at(121), finding: down })
    const soon = await watch()
    expect(soon).toMatchObject({
      state: 'UP',
      recent: [
        ['UP', at(1).getTime()],
        ['DOWN', at(121).getTime()],
      ],
    })
    expect(soon.dueAt?.getTime()).toBeLessThanOrEqual(at(141).getTime())
    await recorder.record(await read(), { at: at(141), finding: down })
    expect(await watch()).toMatchObject({ state: 'DOWN', stateSince: at(121) })
  })

  test('does not count once its watch was taken, paused, deleted or recorded by another', async () => {
    const { recorder } = recorderWith()
    const { id, read, watch } = await watched()
    const taken = await read()
    await prisma.watch.update({ where: { id: taken.id }, data: { dueAt: at(99) } })
    expect(await recorder.record(taken, { at: at(1), finding: down })).toBe(false)
    expect(await watch()).toMatchObject({ lastCheckedAt: null, dueAt: at(99) })
    const twice = await read()
    const both = [
      recorder.record(twice, { at: at(2), finding: up }),
      recorder.record(twice, { at: at(3), finding: up }),
    ]
    expect(await Promise.all(both)).toEqual([true, false])
    const last = await read()
    await closeWatches(testContext(prisma, { now }), { id })
    expect(await recorder.record(last, { at: at(4), finding: up })).toBe(false)
    expect(await prisma.probeResult.count({ where: { monitorId: id } })).toBe(1)
    expect(await prisma.monitorHour.findMany({ where: { monitorId: id } })).toMatchObject([{ up: 1, down: 0 }])
  })

  test('that comes too late leaves a gap from where the check before stopped vouching', async () => {
    const { recorder } = recorderWith()
    const { id, read } = await watched()
    const gaps = () => prisma.monitorGap.findMany({ where: { monitorId: id }, orderBy: { startedAt: 'asc' } })
    await recorder.record(await read(), { at: at(0), finding: up })
    await recorder.record(await read(), { at: at(130), finding: up })
    expect(await gaps()).toEqual([])
    await recorder.record(await read(), { at: at(200), finding: unknown })
    await recorder.record(await read(), { at: at(261), finding: down })
    expect(await gaps()).toEqual([{ monitorId: id, startedAt: at(190), endedAt: at(261) }])
  })

  test('from one region leaves no gap while another region watched', async () => {
    const { recorder } = recorderWith()
    const { id, read } = await watched()
    await recorder.record(await read(), { at: at(0), finding: up })
    const other = { id: watchId(id, 'mars'), monitorId: id, region: 'mars', stateSince: at(0), lastKnownAt: at(300) }
    await prisma.watch.create({ data: other })
    await recorder.record(await read(), { at: at(400), finding: up })
    expect(await prisma.monitorGap.count({ where: { monitorId: id } })).toBe(0)
    await recorder.record(await read(), { at: at(1000), finding: up })
    expect(await prisma.monitorGap.findMany({ where: { monitorId: id } })).toMatchObject([
      { startedAt: at(460), endedAt: at(1000) },
    ])
  })

  test('may hold text that no database takes', async () => {
    const { recorder } = recorderWith()
    const { id, read } = await watched()
    const finding = { ...up, message: 'a\0b\ud800c', detail: { answers: ['\0', '\udfff', '\\u0000', 'é💥'] } }
    expect(await recorder.record(await read(), { at: at(1), finding })).toBe(true)
    expect(await prisma.probeResult.findFirst({ where: { monitorId: id } })).toMatchObject({
      message: 'ab\ufffdc',
      detail: { answers: ['', '\ufffd', '\\u0000', 'é💥'] },
    })
  })

  test('is told to whoever listens, by its monitor', async () => {
    const { recorder } = recorderWith()
    const { id, read } = await watched()
    const heard: (string | null)[] = []
    const stop = await database.listen(CHECKS_CHANNEL, (payload) => heard.push(payload))
    await recorder.record(await read(), { at: at(1), finding: up })
    await vi.waitUntil(() => heard.length > 0)
    expect(heard).toEqual([id])
    await stop()
  })
})

describe('many results', () => {
  test('are written together, and told in notices that are not too long', async () => {
    let statements = 0
    const counting = ((query: never) => {
      statements += 1
      return pool.query(query)
    }) as typeof pool.query
    const { recorder, metrics } = recorderWith(counting)
    const heard: string[] = []
    const stop = await database.listen(CHECKS_CHANNEL, (payload) => heard.push(payload ?? ''))
    const watches = await readWatches(pool, await watching.monitors(acme.id, 650))
    const counted = await Promise.all(watches.map((watch) => recorder.record(watch, { at: at(1), finding: up })))
    expect(counted).toEqual(Array(650).fill(true))
    expect(statements).toBe(2)
    await pool.query('SELECT 1')
    expect(heard.flatMap((payload) => payload.split(' '))).toHaveLength(650)
    expect(new Set(heard.flatMap((payload) => payload.split(' ')))).toEqual(
      new Set(watches.map(({ monitor }) => monitor.id)),
    )
    expect(Math.max(...heard.map((payload) => payload.length))).toBeLessThan(8000)
    await stop()
    expect(await metrics.text()).toMatch(/allclear_results_written_sum 650/)
  })

  test('survive a database that is away for a moment', async () => {
    let failures = 2
    const { recorder, metrics } = recorderWith(((query: never) => {
      if (failures-- > 0) return Promise.reject(Object.assign(new Error('gone'), { code: '57P01' }))
      return pool.query(query)
    }) as typeof pool.query)
    const { read } = await watched()
    expect(await recorder.record(await read(), { at: at(1), finding: up })).toBe(true)
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 0/)
  })

  test('are lost when the database is still away as the service stops', async () => {
    const gone = (() => Promise.reject(new Error('Connection terminated'))) as unknown as typeof pool.query
    const { recorder, metrics } = recorderWith(gone)
    const { read } = await watched()
    const recorded = recorder.record(await read(), { at: at(1), finding: up })
    await recorder.close()
    expect(await recorded).toBe(false)
    expect(await recorder.record(await read(), { at: at(2), finding: up })).toBe(false)
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 1/)
  })

  test('are not held up by one that the database refuses', async () => {
    const { recorder, metrics } = recorderWith()
    const monitors = await Promise.all(Array.from({ length: 7 }, () => watched()))
    const watches = await Promise.all(monitors.map(({ read }) => read()))
    const results = watches.map((watch, index) =>
      recorder.record(watch, { at: at(1), finding: { ...up, latencyMs: index === 4 ? 1e12 : 20 } }),
    )
    expect(await Promise.all(results)).toEqual([true, true, true, true, false, true, true])
    expect(await metrics.text()).toMatch(/allclear_results_lost_total 1/)
  })

  test('are settled where the state of the monitor is not what the watch says, and nowhere else', async () => {
    const { recorder, settled } = recorderWith()
    const fresh = await watched()
    await recorder.record(await fresh.read(), { at: at(1), finding: unknown })
    expect(settled).toEqual([])
    await recorder.record(await fresh.read(), { at: at(2), finding: up })
    await recorder.idle()
    expect(settled).toEqual([fresh.id])
    await prisma.monitor.update({ where: { id: fresh.id }, data: { state: 'UP' } })
    await recorder.record(await fresh.read(), { at: at(3), finding: up })
    await recorder.record(await fresh.read(), { at: at(4), finding: down })
    await recorder.idle()
    expect(settled).toEqual([fresh.id])
  })
})
