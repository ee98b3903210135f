import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import { bucketOf } from '../../../src/monitoring/uptime/histogram.ts'
import type { LatencyRange, LatencyResolution } from '../../../src/monitoring/uptime/latency.ts'
import { latencyRanges, latencyResolutions, readLatencies } from '../../../src/monitoring/uptime/latency.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { writeMonitor } from '../histories.ts'

const { prisma } = await testDatabase()
const tenant = tenantsOf(prisma)
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const now = at(20 * MINUTE)
const utc = { timeZone: 'UTC', tier: 'PRO' } as const

const monitorOf = (organizationId: string, serviceId: string | null = null) =>
  writeMonitor(prisma, { organizationId, serviceId, states: [['UP', at(-90 * DAY)]], lastKnownAt: noon })
const read = (id: string, range: LatencyRange, resolution: LatencyResolution, of: typeof utc = utc) =>
  readLatencies(prisma, of, [id], { range, resolution }, now).then((points) => points.get(id) ?? [])

async function writeHour(monitorId: string, hour: Date, ...latencies: number[]) {
  const histogram = new Array<number>(64).fill(0)
  for (const latency of latencies) histogram[bucketOf(latency)] = (histogram[bucketOf(latency)] ?? 0) + 1
  const counts = { up: latencies.length, degraded: 0, down: 0, unknown: 0 }
  await prisma.monitorHour.create({ data: { monitorId, hour, ...counts, latencies: histogram } })
}

describe('latencies', () => {
  test('have a point for every hour of a day, including the current one', async () => {
    const { id: organizationId } = await tenant()
    const id = await monitorOf(organizationId)
    await writeHour(id, noon, 100, 100, 100, 900)
    await writeHour(id, at(-23 * HOUR), 50)
    await writeHour(id, at(-24 * HOUR), 5000)
    const points = await read(id, 'HOURS_24', 'HOUR')
    expect(points).toHaveLength(24)
    expect(points[0]).toMatchObject({ at: at(-23 * HOUR), count: 1 })
    expect(points[1]).toEqual({ at: at(-22 * HOUR), count: 0, p50: null, p95: null, p99: null })
    const last = points[23]
    expect(last).toMatchObject({ at: noon, count: 4 })
    // These are accurate to ten percent.
    expect(Math.abs(Number(last?.p50) / 100 - 1)).toBeLessThan(0.1)
    expect(Math.abs(Number(last?.p95) / 900 - 1)).toBeLessThan(0.1)
  })

  test('by day use the organization’s time zone', async () => {
    const { id: organizationId } = await tenant()
    const id = await monitorOf(organizationId)
    await writeHour(id, new Date('2026-11-19T22:00:00Z'), 10)
    await writeHour(id, new Date('2026-11-19T23:00:00Z'), 10, 10)
    const of = (timeZone: string) =>
      readLatencies(prisma, { ...utc, timeZone }, [id], { range: 'DAYS_7', resolution: 'DAY' }, now)
    const berlin = (await of('Europe/Berlin')).get(id)
    expect(berlin?.map(({ count }) => count)).toEqual([0, 0, 0, 0, 0, 1, 2])
    expect(berlin?.[6]?.at).toEqual(new Date('2026-11-19T23:00:00Z'))
    expect((await of('UTC')).get(id)?.map(({ count }) => count)).toEqual([0, 0, 0, 0, 0, 3, 0])
  })

  test('in points of five minutes are exact, because they come from the results', async () => {
    const { id: organizationId } = await tenant()
    const id = await monitorOf(organizationId)
    const result = { monitorId: id, region: 'local', outcome: 'UP', message: '' } as const
    const latencies = Array.from({ length: 100 }, (_, index) => index + 1)
    await prisma.probeResult.createMany({
      data: [
        ...latencies.map((latencyMs) => ({ ...result, at: at(latencyMs * SECOND), latencyMs })),
        { ...result, at: at(200 * SECOND), latencyMs: null },
        { ...result, at: at(5 * MINUTE), latencyMs: 7 },
        { ...result, at: at(-DAY), latencyMs: 7 },
      ],
    })
    const points = await read(id, 'HOURS_24', 'MINUTES_5')
    expect(points).toHaveLength(288)
    expect(points.slice(-5)).toEqual([
      { at: noon, count: 100, p50: 50, p95: 95, p99: 99 },
      { at: at(5 * MINUTE), count: 1, p50: 7, p95: 7, p99: 7 },
      ...[10, 15, 20].map((minute) => ({ at: at(minute * MINUTE), count: 0, p50: null, p95: null, p99: null })),
    ])
    expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(101)
  })

  test('of a service cover all its monitors', async () => {
    const acme = await tenant()
    const [api = '', shop = ''] = await acme.services('API', 'Shop')
    const [one, other] = [await monitorOf(acme.id, api), await monitorOf(acme.id, api)]
    await writeHour(one, noon, 10, 10)
    await writeHour(other, noon, 1000, 1000)
    const found = await readLatencies(prisma, utc, [api, shop, one], { range: 'HOURS_24', resolution: 'HOUR' }, now)
    expect(found.get(api)?.[23]).toMatchObject({ count: 4 })
    expect(found.get(api)?.[23]?.p95).toBeGreaterThan(900)
    expect(found.get(one)?.[23]).toMatchObject({ count: 2 })
    expect(found.get(shop)?.every(({ count }) => count === 0)).toBe(true)
  })

  test('of a service do not include the durations of its jobs', async () => {
    const acme = await tenant()
    const [api = ''] = await acme.services('API')
    const [site, job] = [await monitorOf(acme.id, api), await monitorOf(acme.id, api)]
    await prisma.monitor.update({ where: { id: job }, data: { kind: 'HEARTBEAT' } })
    for (const [monitorId, latencyMs] of [
      [site, 20],
      [job, 3_600_000],
    ] as const) {
      await writeHour(monitorId, noon, latencyMs)
      const result = { monitorId, region: 'local', outcome: 'UP', message: '', latencyMs } as const
      await prisma.probeResult.create({ data: { ...result, at: noon } })
    }
    for (const resolution of ['HOUR', 'MINUTES_5'] as const) {
      const found = await readLatencies(prisma, utc, [api, job], { range: 'HOURS_24', resolution }, now)
      const reported = (id: string) => found.get(id)?.filter(({ count }) => count > 0)
      expect(reported(api)).toMatchObject([{ count: 1 }])
      expect(reported(api)?.[0]?.p95).toBeLessThan(25)
      expect(reported(job)).toMatchObject([{ count: 1 }])
    }
  })

  test('do not go back further than the tier shows', async () => {
    const { id: organizationId } = await tenant()
    const id = await monitorOf(organizationId)
    const points = await readLatencies(
      prisma,
      { ...utc, tier: 'FREE' },
      [id],
      { range: 'DAYS_90', resolution: 'DAY' },
      now,
    )
    expect(points.get(id)).toHaveLength(30)
  })

  test('have at most 800 points, or are refused', async () => {
    const { id: organizationId } = await tenant()
    const id = await monitorOf(organizationId)
    const sizes: string[] = []
    for (const range of latencyRanges) {
      for (const resolution of latencyResolutions) {
        const reported = await read(id, range, resolution).then(
          ({ length }) => `${length}`,
          (error: Error) => error.message,
        )
        sizes.push(`${range} ${resolution}: ${reported}`)
      }
    }
    const refusal = (range: string, points: number) =>
      `The input is invalid. resolution: is too high for ${range}: it returns ${points} points, and at most 800 are allowed.`
    expect(sizes).toEqual([
      'HOURS_24 MINUTES_5: 288',
      'HOURS_24 HOUR: 24',
      'HOURS_24 DAY: 1',
      `DAYS_7 MINUTES_5: ${refusal('DAYS_7', 2016)}`,
      'DAYS_7 HOUR: 168',
      'DAYS_7 DAY: 7',
      `DAYS_30 MINUTES_5: ${refusal('DAYS_30', 8640)}`,
      'DAYS_30 HOUR: 720',
      'DAYS_30 DAY: 30',
      `DAYS_90 MINUTES_5: ${refusal('DAYS_90', 25_920)}`,
      `DAYS_90 HOUR: ${refusal('DAYS_90', 2160)}`,
      'DAYS_90 DAY: 90',
    ])
  })
})
