import { expect, test, vi } from 'vitest'
import type { ProbeResult } from '../../../src/generated/prisma/client.ts'
import { openResultFeed } from '../../../src/monitoring/result/result-feed.ts'
import { tenantsOf } from '../../status/setup.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma } = database
const watching = watchingIn(database)
const acme = await tenantsOf(prisma)('TEAM')
const worker = watching.worker()
await worker.scheduler.poll()

const readings: Promise<unknown>[] = []
const observed = prisma.$extends({
  query: {
    probeResult: {
      findMany({ args, query }) {
        const reading = query(args)
        readings.push(reading)
        return reading
      },
    },
  },
}) as unknown as typeof prisma

const open = () => {
  readings.length = 0
  return openResultFeed({ database: { prisma: observed, listen: database.listen }, log: silent })
}
/** Waits until the readers have started. They receive only results that are stored later. */
const started = async () => {
  await vi.waitUntil(() => readings.length > 0)
  await Promise.all(readings.splice(0))
}
const result = (monitorId: string, second: number): ProbeResult => ({
  monitorId,
  at: watching.at(second),
  region: 'local',
  outcome: 'UP',
  latencyMs: 20,
  message: 'It is UP.',
  detail: null,
})
const store = async (...results: ProbeResult[]) => {
  await prisma.probeResult.createMany({ data: results.map(({ detail: _, ...each }) => each) })
  await database.pool.query(`SELECT pg_notify('monitor_checks', $1)`, [results.map((each) => each.monitorId).join(' ')])
}
const seconds = async (follower: AsyncIterator<ProbeResult, undefined>, count: number) => {
  const given: number[] = []
  while (given.length < count) {
    const { value } = await follower.next()
    given.push(((value?.at.getTime() ?? 0) - watching.at(0).getTime()) / 1000)
  }
  return given
}

test('a reader gets only the results of its monitor', async () => {
  const checks = await open()
  const [website, api] = [await watching.monitor(acme.id), await watching.monitor(acme.id)]
  const follower = checks.follow(website.id)
  await started()
  await worker.tick()
  expect((await follower.next()).value).toEqual(result(website.id, 0))
  await store(result(api.id, 5))
  await store(result(website.id, 6))
  expect(await seconds(follower, 1)).toEqual([6])
  await checks.close()
  expect(await follower.next()).toEqual({ done: true, value: undefined })
})

test('a reader gets only results that are stored later, even if their probes started earlier', async () => {
  const checks = await open()
  await store(result('mon_a', 10), result('mon_a', 20))
  const follower = checks.follow('mon_a')
  await started()
  await store(result('mon_a', 40))
  expect(await seconds(follower, 1)).toEqual([40])
  await store(result('mon_a', 35), result('mon_a', 50))
  expect(await seconds(follower, 2)).toEqual([35, 50])
  await checks.close()
})

test('a slow reader loses the oldest results, and no results are kept for a reader that has left', async () => {
  const checks = await open()
  const [slow, prompt, gone] = [checks.follow('mon_b'), checks.follow('mon_b'), checks.follow('mon_b')]
  expect(await gone.return?.()).toEqual({ done: true, value: undefined })
  expect(await gone.next()).toEqual({ done: true, value: undefined })
  await started()
  for (const batch of [0, 60, 120]) {
    await store(...Array.from({ length: 60 }, (_, index) => result('mon_b', batch + index)))
    // All readers of a monitor receive a result at the same time.
    expect(await seconds(prompt, 60)).toHaveLength(60)
  }
  const given = await seconds(slow, 100)
  expect(given[0]).toBe(80)
  expect(given.at(-1)).toBe(179)
  await checks.close()
})
