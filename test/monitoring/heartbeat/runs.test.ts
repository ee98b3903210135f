import { beforeEach, describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import { endRun, MAX_OPEN_RUNS, openRuns, parseRunId, startRun } from '../../../src/monitoring/heartbeat/runs.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { ANYWHERE } from '../../../src/monitoring/watch/live-region.ts'
import { scheduleOf } from '../../../src/monitoring/watch/staleness.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma } = database
const watching = watchingIn(database)
const acme = await tenantsOf(prisma)('TEAM')
const unlimited = scheduleOf({ intervalSeconds: 300, timeoutMs: 0, options: {} }, 'TEAM')
const limited = scheduleOf({ intervalSeconds: 300, timeoutMs: 0, options: { maxRunSeconds: 600 } }, 'TEAM')
const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
let id = ''

beforeEach(async () => {
  const monitor = await watching.monitor(acme.id, { kind: 'HEARTBEAT' })
  id = watchId(monitor.id, ANYWHERE)
})

const start = (seconds: number, run: string | null, schedule = limited) =>
  startRun(acme.later(seconds * SECOND), id, run, schedule)
const end = (seconds: number, run: string | null) => endRun(acme.later(seconds * SECOND), id, run)
const watch = () => prisma.watch.findUniqueOrThrow({ where: { id } })
/** Returns the ids and starts of the open runs. */
const open = async () => {
  const runs = await openRuns(prisma, id, (await watch()).startedAt)
  return runs.map((run) => [run.id, (run.startedAt.getTime() - noon.getTime()) / SECOND])
}

describe('the open runs of a job', () => {
  test('end alone, and the oldest one says since when the job runs, and when it is late', async () => {
    await start(0, 'a')
    await start(10, null)
    await start(20, 'b')
    expect(await open()).toEqual([
      ['a', 0],
      ['', 10],
      ['b', 20],
    ])
    expect(await watch()).toMatchObject({ startedAt: at(0), dueAt: at(600) })
    expect(await end(30, 'a')).toEqual(at(0))
    expect(await watch()).toMatchObject({ startedAt: at(10) })
    expect(await end(30, 'a')).toEqual(at(10))
    expect(await end(30, null)).toBeNull()
    expect(await end(30, 'b')).toEqual(at(20))
    expect(await watch()).toMatchObject({ startedAt: null })
    expect(await prisma.heartbeatRun.count({ where: { watchId: id } })).toBe(0)
  })

  test('start once within a second, and start again later', async () => {
    await start(0, 'a')
    await start(0.5, 'a')
    expect(await open()).toEqual([['a', 0]])
    await start(5, 'a')
    expect(await open()).toEqual([['a', 5]])
    expect(await watch()).toMatchObject({ startedAt: at(5), dueAt: at(605) })
  })

  test('are limited in number: the oldest is forgotten', async () => {
    for (let run = 0; run < MAX_OPEN_RUNS + 20; run += 1) await start(run, `run ${run}`, unlimited)
    const runs = await open()
    expect(runs).toHaveLength(MAX_OPEN_RUNS)
    expect([runs[0], runs.at(-1)]).toEqual([
      ['run 20', 20],
      [`run ${MAX_OPEN_RUNS + 19}`, MAX_OPEN_RUNS + 19],
    ])
    expect(await prisma.heartbeatRun.count({ where: { watchId: id } })).toBe(MAX_OPEN_RUNS)
  })

  test('are limited in number per second: further ones are ignored', async () => {
    for (let run = 0; run < MAX_OPEN_RUNS + 20; run += 1) await start(0, `run ${run}`, unlimited)
    expect(new Set((await open()).map(([name]) => name))).toEqual(
      new Set(Array.from({ length: MAX_OPEN_RUNS }, (_, run) => `run ${run}`)),
    )
  })

  test('that exceeded their limit stay until another one starts, once this was reported', async () => {
    await start(0, 'a')
    await start(700, 'b')
    // Nobody has reported it: it must still be found late.
    expect(await watch()).toMatchObject({ startedAt: at(0), dueAt: at(600) })
    await prisma.watch.update({ where: { id }, data: { lastProbedAt: at(701) } })
    await start(710, 'c')
    expect(await open()).toEqual([
      ['b', 700],
      ['c', 710],
    ])
    expect(await watch()).toMatchObject({ startedAt: at(700), dueAt: at(1300) })
  })

  test('include one that an earlier version started, and not those that it ended', async () => {
    await prisma.watch.update({ where: { id }, data: { startedAt: at(0) } })
    await start(10, 'a')
    expect(await open()).toEqual([
      ['', 0],
      ['a', 10],
    ])
    expect(await end(20, null)).toEqual(at(0))
    expect(await open()).toEqual([['a', 10]])
    await prisma.watch.update({ where: { id }, data: { startedAt: null } })
    expect(await open()).toEqual([])
    await start(30, 'b')
    expect(await open()).toEqual([['b', 30]])
    await prisma.watch.update({ where: { id }, data: { startedAt: at(40) } })
    expect(await open()).toEqual([['', 40]])
    expect(await end(50, 'b')).toEqual(at(40))
    expect(await open()).toEqual([])
  })
})

test('a run id is a UUID in any case', () => {
  expect(parseRunId('123E4567-E89B-42D3-A456-426614174000')).toBe('123e4567-e89b-42d3-a456-426614174000')
  for (const text of ['', '1', '{123e4567-e89b-42d3-a456-426614174000}', '123e4567e89b42d3a456426614174000\n']) {
    expect(() => parseRunId(text)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
  }
})
