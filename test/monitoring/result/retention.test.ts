import { describe, expect, test } from 'vitest'
import { DAY, HOUR, SECOND } from '../../../src/core/time.ts'
import type { Tier } from '../../../src/generated/prisma/enums.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { deleteExpired } from '../../../src/monitoring/result/retention.ts'
import { tenantsOf, together } from '../../status/setup.ts'
import { noon, testContext } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const ctx = testContext(prisma)

async function monitorOf(tier: Tier, states: Parameters<typeof writeMonitor>[1]['states'] = [['UP', at(-900 * DAY)]]) {
  const { id: organizationId } = await tenant(tier)
  return writeMonitor(prisma, { organizationId, states, lastKnownAt: noon })
}

const result = (monitorId: string, time: Date) => ({
  monitorId,
  at: time,
  region: 'local',
  outcome: 'UP' as const,
  message: '',
})

describe('retention', () => {
  test('keeps results and hours for the retention time of the tier', async () => {
    const days = [1, 6, 8, 29, 31, 364, 366, 729, 731]
    const kept: Record<string, { results: number[]; hours: number[] }> = {}
    const monitors = new Map<Tier, string>()
    const counts = { up: 1, degraded: 0, down: 0, unknown: 0, latencies: [] }
    for (const tier of ['FREE', 'PRO', 'TEAM'] as const) {
      const monitorId = await monitorOf(tier)
      monitors.set(tier, monitorId)
      await prisma.probeResult.createMany({ data: days.map((day) => result(monitorId, at(-day * DAY))) })
      await prisma.monitorHour.createMany({ data: days.map((day) => ({ monitorId, hour: at(-day * DAY), ...counts })) })
    }
    expect(await deleteExpired(ctx)).toBe(false)
    const age = (time: Date) => (noon.getTime() - time.getTime()) / DAY
    for (const [tier, monitorId] of monitors) {
      const results = await prisma.probeResult.findMany({ where: { monitorId }, orderBy: { at: 'desc' } })
      const hours = await prisma.monitorHour.findMany({ where: { monitorId }, orderBy: { hour: 'desc' } })
      kept[tier] = { results: results.map((row) => age(row.at)), hours: hours.map((row) => age(row.hour)) }
    }
    expect(kept).toEqual({
      FREE: { results: [1, 6], hours: [1, 6, 8, 29] },
      PRO: { results: [1, 6, 8, 29], hours: [1, 6, 8, 29, 31, 364] },
      TEAM: { results: [1, 6, 8, 29], hours: [1, 6, 8, 29, 31, 364, 366, 729] },
    })
  })

  test('keeps intervals, gaps and days for as long as any tier shows them, and the open interval forever', async () => {
    const monitorId = await monitorOf('FREE', [
      ['UP', at(-900 * DAY)],
      ['DOWN', at(-800 * DAY)],
      ['UP', at(-700 * DAY)],
    ])
    const lasting = await monitorOf('FREE', [['UP', at(-900 * DAY)]])
    const { organizationId } = await prisma.monitor.findUniqueOrThrow({ where: { id: monitorId } })
    const spans = [-800, -700].map((day) => ({ monitorId, startedAt: at(day * DAY), endedAt: at(day * DAY + HOUR) }))
    await prisma.monitorGap.createMany({ data: spans })
    const day = { subjectId: monitorId, organizationId, up: 0, degraded: 0, down: 0, unknown: 0, maintenance: 0 }
    const days = ['2024-11-19', '2024-11-21'].map((date) => ({ ...day, day: new Date(date) }))
    await prisma.uptimeDay.createMany({ data: days })
    await deleteExpired(ctx)
    const intervals = await prisma.monitorInterval.findMany({ where: { monitorId }, orderBy: { startedAt: 'asc' } })
    expect(intervals.map(({ state }) => state)).toEqual(['DOWN', 'UP'])
    expect(await prisma.monitorInterval.count({ where: { monitorId: lasting } })).toBe(1)
    expect(await prisma.monitorGap.findMany({ where: { monitorId } })).toEqual([spans[1]])
    const left = await prisma.uptimeDay.findMany({ where: { subjectId: monitorId } })
    expect(left.map((row) => row.day)).toEqual([new Date('2024-11-21')])
  })

  test('deletes the results of deleted monitors only', async () => {
    const [gone, kept] = [await monitorOf('FREE'), await monitorOf('FREE')]
    for (const id of [gone, kept]) {
      await prisma.probeResult.createMany({ data: [1, 2, 3].map((hour) => result(id, at(-hour * HOUR))) })
    }
    await prisma.monitor.delete({ where: { id: gone } })
    await deleteExpired(ctx)
    expect(await prisma.probeResult.count({ where: { monitorId: gone } })).toBe(0)
    expect(await prisma.probeResult.count({ where: { monitorId: kept } })).toBe(3)
  })

  test('works in batches until nothing is left, even in two processes at once', async () => {
    const id = await monitorOf('FREE')
    await prisma.$executeRaw`
      INSERT INTO "ProbeResult" ("monitorId", at, region, outcome, message)
      SELECT ${id}, ${at(-8 * DAY)}::timestamptz - n * interval '1 second', 'local', 'UP', '' FROM generate_series(1, 2400) n`
    expect(await deleteExpired(ctx)).toBe(true)
    expect(await prisma.probeResult.count({ where: { monitorId: id } })).toBe(1400)
    const { refused } = await together([deleteExpired(ctx), deleteExpired(ctx)])
    expect(refused).toEqual([])
    while (await deleteExpired(ctx));
    expect(await prisma.probeResult.count({ where: { monitorId: id } })).toBe(0)
  })

  test('deletes regions without workers, unless no other region probes their monitors', async () => {
    const [left, shared] = [await monitorOf('FREE'), await monitorOf('FREE')]
    await prisma.region.createMany({
      data: [
        { name: 'local', lastSeenAt: noon },
        { name: 'mars', lastSeenAt: at(-8 * DAY) },
        { name: 'venus', lastSeenAt: at(-8 * DAY) },
        { name: 'moon', lastSeenAt: at(-6 * DAY) },
      ],
    })
    const watch = (monitorId: string, region: string, lastKnownAt: Date) =>
      prisma.watch.create({
        data: { id: watchId(monitorId, region), monitorId, region, stateSince: noon, lastKnownAt },
      })
    await prisma.watch.updateMany({ where: { monitorId: left }, data: { region: 'venus', lastKnownAt: at(-8 * DAY) } })
    await watch(shared, 'mars', at(-8 * DAY))
    await watch(shared, 'moon', at(-6 * DAY - SECOND))
    await deleteExpired(ctx)
    const regions = await prisma.region.findMany({ orderBy: { name: 'asc' } })
    expect(regions.map(({ name }) => name)).toEqual(['local', 'moon', 'venus'])
    const watches = await prisma.watch.findMany({ where: { monitorId: { in: [left, shared] } } })
    expect(watches.map(({ region }) => region).sort()).toEqual(['local', 'moon', 'venus'])
  })
})
