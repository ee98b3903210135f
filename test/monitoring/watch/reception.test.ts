import type pg from 'pg'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import { watchId } from '../../../src/monitoring/monitor/watches.ts'
import { ANYWHERE } from '../../../src/monitoring/watch/live-region.ts'
import type { Reception } from '../../../src/monitoring/watch/reception.ts'
import { createReception, deleteOldReceptions, receivedWithin } from '../../../src/monitoring/watch/reception.ts'
import { tenantsOf } from '../../status/setup.ts'
import { noon } from '../../support/context.ts'
import { testDatabase } from '../../support/database.ts'
import { silent } from '../../support/scratch.ts'
import { watchingIn } from '../workers.ts'

const database = await testDatabase()
const { prisma, pool } = database
let seconds = 0
const at = (time: number) => new Date(noon.getTime() + time * SECOND)
const now = () => at(seconds)

beforeEach(async () => {
  seconds = 0
  await prisma.heartbeatReceiver.deleteMany()
  await prisma.heartbeatGap.deleteMany()
})

/** Creates an instance whose clock the test sets. A killed one just signs no more. */
function newInstance(through: Pick<pg.Pool, 'query'> = pool): Reception {
  const reception = createReception({ pool: through, now, log: silent })
  onTestFinished(() => reception.stop())
  return reception
}

/** Lets instances sign every five seconds until a time. */
async function runUntil(end: number, ...instances: readonly Reception[]): Promise<void> {
  while (seconds < end) {
    seconds = Math.min(end, seconds + 5)
    for (const each of instances) await each.sign()
  }
}

const gaps = async () => {
  const found = await prisma.heartbeatGap.findMany({ orderBy: { startedAt: 'asc' } })
  return found.map(({ startedAt, endedAt }) =>
    [startedAt, endedAt].map((each) => (Number(each) - Number(noon)) / SECOND),
  )
}
const received = (from: number, to: number) => receivedWithin({ db: prisma, now }, { from: at(from), to: at(to) })

describe('the reception of heartbeats', () => {
  test('has no gap while an instance runs', async () => {
    const one = newInstance()
    await one.sign()
    await runUntil(600, one)
    expect(await gaps()).toEqual([])
    expect(await received(0, 600)).toBe('all')
  })

  test('has a gap from the last sign of a killed instance until the next one starts, however soon', async () => {
    const killed = newInstance()
    await killed.sign()
    await runUntil(50, killed)
    seconds = 53
    await newInstance().sign()
    expect(await gaps()).toEqual([[50, 53]])
    expect(await received(0, 49)).toBe('all')
    expect(await received(51, 52)).toBe('perhaps not all')
    expect(await received(0, 50)).toBe('perhaps not all')
    expect(await received(53.001, 60)).toBe('all')
  })

  test('has no gap if another instance was there all the time', async () => {
    const [killed, other] = [newInstance(), newInstance()]
    await killed.sign()
    await other.sign()
    await runUntil(50, killed, other)
    seconds = 53
    const restarted = newInstance()
    await restarted.sign()
    await runUntil(60, other, restarted)
    expect(await gaps()).toEqual([])
  })

  test('has a gap if both instances were away at once', async () => {
    const [one, other] = [newInstance(), newInstance()]
    await one.sign()
    await other.sign()
    await runUntil(50, one, other)
    seconds = 52
    const [first, second] = [newInstance(), newInstance()]
    await first.sign()
    seconds = 53
    await second.sign()
    await runUntil(80, first, second)
    expect(await gaps()).toEqual([[50, 52]])
  })

  test('has a gap while a machine slept or the database did not answer, but not for a late sign', async () => {
    const one = newInstance()
    await one.sign()
    await runUntil(50, one)
    seconds = 80
    await one.sign()
    expect(await gaps()).toEqual([])
    seconds = 7265
    await one.sign()
    await runUntil(7300, one)
    expect(await gaps()).toEqual([[80, 7265]])
  })

  test('is in doubt as long as nobody signs', async () => {
    expect(await received(0, 600)).toBe('unrecorded')
    const one = newInstance()
    await one.sign()
    await runUntil(60, one)
    seconds = 110
    expect(await received(0, 70)).toBe('all')
    seconds = 110.001
    expect(await received(0, 70)).toBe('perhaps not all')
    expect(await received(0, 59)).toBe('all')
  })

  test('has a gap for refusals, even if another instance ran', async () => {
    const [one, other] = [newInstance(), newInstance()]
    await one.sign()
    await other.sign()
    await runUntil(50, one, other)
    seconds = 51
    one.noteRefusal()
    seconds = 52
    one.noteRefusal()
    await one.flush()
    await runUntil(80, one, other)
    expect(await gaps()).toEqual([[51, 52]])
    await one.flush()
    expect(await gaps()).toEqual([[51, 52]])
  })

  test('keeps a refusal that could not be stored', async () => {
    let isDown = false
    const query = ((...given: Parameters<typeof pool.query>) =>
      isDown ? Promise.reject(new Error('The database is down.')) : pool.query(...given)) as typeof pool.query
    const one = newInstance({ query })
    await one.sign()
    seconds = 5
    isDown = true
    one.noteRefusal()
    await expect(one.flush()).rejects.toThrow('The database is down.')
    seconds = 9
    isDown = false
    await one.flush()
    expect(await gaps()).toEqual([[5, 9]])
  })

  test('ignores signs of a time that is still to come, as after the clock was set back', async () => {
    seconds = 3600
    await newInstance().sign()
    seconds = 0
    const one = newInstance()
    await one.sign()
    await runUntil(20, one)
    seconds = 60
    await newInstance().sign()
    expect(await gaps()).toEqual([[20, 60]])
  })

  test('is forgotten after 40 days', async () => {
    await prisma.heartbeatGap.createMany({
      data: [-41, -39].map((days) => ({ startedAt: at(days * 86_400 - 60), endedAt: at(days * 86_400) })),
    })
    await prisma.heartbeatReceiver.createMany({
      data: [-10, -2].map((days) => ({ id: `${days}`, since: at(days * 86_400), lastAt: at(days * 86_400) })),
    })
    await deleteOldReceptions({ db: prisma, now })
    expect(await gaps()).toEqual([[-39 * 86_400 - 60, -39 * 86_400]])
    expect((await prisma.heartbeatReceiver.findMany()).map(({ id }) => id)).toEqual(['-2'])
  })
})

describe('a job that is late', async () => {
  const watching = watchingIn(database)
  const acme = await tenantsOf(prisma)('TEAM')
  const span = (from: number, to: number) =>
    prisma.heartbeatGap.create({ data: { startedAt: watching.at(from), endedAt: watching.at(to) } })

  /** Returns the outcome of a job that is due at 3600 s, found `late` seconds later by a worker. */
  async function outcomeOf(
    options: object,
    late: number,
    { intervalSeconds = 3600, startedAt = null as number | null } = {},
  ) {
    await prisma.heartbeatReceiver.deleteMany()
    const { id } = await watching.monitor(acme.id, { kind: 'HEARTBEAT', intervalSeconds, options })
    const started = startedAt === null ? null : watching.at(startedAt)
    await prisma.watch.updateMany({ where: { monitorId: id }, data: { dueAt: watching.at(3600), startedAt: started } })
    watching.time = 3600 + late
    await prisma.heartbeatReceiver.create({
      data: { id: 'web', since: watching.at(0), lastAt: watching.at(3600 + late) },
    })
    await watching.worker().tick()
    return (await prisma.watch.findUniqueOrThrow({ where: { id: watchId(id, ANYWHERE) } })).lastOutcome
  }

  beforeEach(async () => {
    await prisma.monitor.deleteMany()
  })

  test.each([0, 59, 61, 3600])('is DOWN if heartbeats were received, even if the worker is %i s late', async (late) => {
    expect(await outcomeOf({ graceSeconds: 60 }, late)).toBe('DOWN')
  })

  test.each([
    ['just before it was due', 3599, 3599.5, 'UNKNOWN'],
    ['in its grace period', 3545, 3550, 'UNKNOWN'],
    ['in the second half of its interval', 1800, 1801, 'UNKNOWN'],
    ['before that', 1700, 1739, 'DOWN'],
    ['after it was due', 3601, 3605, 'DOWN'],
  ])('is judged by a gap %s', async (_, from, to, outcome) => {
    await span(from, to)
    expect(await outcomeOf({ graceSeconds: 60 }, 10)).toBe(outcome)
  })

  test.each([
    [3480, 3510, 'UNKNOWN'],
    [3400, 3479, 'DOWN'],
  ])('by a schedule is judged by a gap from its scheduled time on: %i to %i', async (from, to, outcome) => {
    await span(from, to)
    // Due a minute after a full hour: noon and an hour, less 60 s of grace.
    expect(await outcomeOf({ schedule: '59 12 * * *', graceSeconds: 60 }, 5)).toBe(outcome)
  })

  test.each([
    [3000, 3001, 'UNKNOWN'],
    [2000, 2999, 'DOWN'],
  ])('with a run that takes too long is judged by a gap since its start: %i to %i', async (from, to, outcome) => {
    await span(from, to)
    expect(await outcomeOf({ maxRunSeconds: 600 }, 5, { startedAt: 3000 })).toBe(outcome)
  })
})
