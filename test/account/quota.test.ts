import { describe, expect, test } from 'vitest'
import { allowanceOf, consumeCheck, createQuota, deleteOldUsage, organizationChecks } from '../../src/account/quota.ts'
import type { Actor } from '../../src/core/context.ts'
import { LimitExceeded } from '../../src/core/errors.ts'
import { DAY, utcDay } from '../../src/core/time.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma, pool } = await testDatabase()
const usage = createQuota(pool)

const visitor: Actor = { kind: 'visitor' }
const caller = (clientAddress: string, now = noon) => ({
  ...testContext(prisma, { actor: visitor, clientAddress, now: () => now }),
  usage,
})
const keyOf = (organizationId: string, checkPlan: 'FREE' | 'PRO', clientAddress = '203.0.113.77') => ({
  ...testContext(prisma, {
    actor: { kind: 'apiKey', keyId: 'key_1', organizationId, scope: 'READ', checkPlan },
    clientAddress,
  }),
  usage,
})

/** Runs `times` simultaneous checks. Returns the number granted, and the remaining checks that each was given. */
async function spend(ctx: ReturnType<typeof caller>, times: number) {
  const spent = await Promise.allSettled(Array.from({ length: times }, () => consumeCheck(ctx)))
  const refused = spent.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  for (const reason of refused) expect(reason).toBeInstanceOf(LimitExceeded)
  return spent.flatMap((each) => (each.status === 'fulfilled' ? [each.value.remaining] : []))
}

describe('the free plan', () => {
  test('grants exactly 100 of 250 concurrent checks, and returns to each how many are left', async () => {
    const remaining = await spend(caller('192.0.2.1'), 250)
    expect(remaining).toHaveLength(100)
    expect(new Set(remaining)).toEqual(new Set(Array.from({ length: 100 }, (_, index) => index)))
  })

  test('a rejection reports when the quota resets, and counts nothing', async () => {
    const ctx = caller('192.0.2.2')
    await spend(ctx, 100)
    const resetsAt = new Date('2026-11-21T00:00:00.000Z')
    await expect(consumeCheck(ctx)).rejects.toMatchObject({ limit: 100, resetsAt, code: 'DAILY_LIMIT_EXCEEDED' })
    expect(await allowanceOf(ctx)).toEqual({ plan: 'FREE', limit: 100, remaining: 0, resetsAt })
    const [counter] = await prisma.usageCounter.findMany({ where: { subject: 'ip:192.0.2.2' } })
    expect(counter?.count).toBe(100)
  })

  test('resets with the UTC day, and a clock that is set back keeps the day’s count', async () => {
    const [before, after] = [new Date('2026-11-20T23:59:59.999Z'), new Date('2026-11-21T00:00:00.000Z')]
    expect(await spend(caller('192.0.2.3', before), 101)).toHaveLength(100)
    expect(await spend(caller('192.0.2.3', after), 1)).toEqual([99])
    expect(await spend(caller('192.0.2.3', before), 1)).toEqual([])
  })

  test('is shared by an IPv6 /64 only', async () => {
    expect(await spend(caller('2001:db8:1:2::1'), 60)).toHaveLength(60)
    expect(await spend(caller('2001:db8:1:2:ffff:ffff:ffff:ffff'), 60)).toHaveLength(40)
    expect(await spend(caller('2001:db8:1:3::1'), 1)).toEqual([99])
  })

  test('applies to keys without the pro plan, per client address', async () => {
    expect(await spend(keyOf('org_free', 'FREE', '192.0.2.4'), 60)).toHaveLength(60)
    expect(await spend(caller('192.0.2.4'), 60)).toHaveLength(40)
    expect(await organizationChecks(caller('192.0.2.4'), 'org_free')).toBe(0)
  })

  test('is counted per address under concurrency', async () => {
    const clients = Array.from({ length: 5 }, (_, index) => caller(`192.0.2.${10 + index}`))
    // One set of counters, so that all requests share statements.
    const asks = Array.from({ length: 120 }).flatMap(() => clients)
    const spent = await Promise.allSettled(asks.map((ctx) => consumeCheck({ ...ctx, usage })))
    expect(spent.filter(({ status }) => status === 'fulfilled')).toHaveLength(500)
  })
})

describe('the pro plan', () => {
  test('grants exactly 1000 per organization, from any address', async () => {
    const remaining = await Promise.all(
      ['192.0.2.20', '192.0.2.21', '2001:db8::1'].map((address) => spend(keyOf('org_pro', 'PRO', address), 400)),
    )
    expect(remaining.flat()).toHaveLength(1000)
    expect(Math.min(...remaining.flat())).toBe(0)
    expect(await organizationChecks(caller('192.0.2.20'), 'org_pro')).toBe(1000)
    expect(await spend(caller('192.0.2.20'), 1)).toEqual([99])
  })
})

describe('instances', () => {
  test('that share a database together grant exactly the limit', async () => {
    const granted = await Promise.all(Array.from({ length: 4 }, () => spend(caller('192.0.2.30'), 60)))
    expect(granted.flat()).toHaveLength(100)
  })
})

/** Counters that report the number of their statements. */
function watched() {
  const sent = { statements: 0 }
  const query = (...given: Parameters<typeof pool.query>) => {
    sent.statements += 1
    return pool.query(...given)
  }
  return { sent, counters: createQuota({ query } as Pick<typeof pool, 'query'>) }
}

describe('statements', () => {
  test('number one for concurrent requests, and one more for all that arrive in the meantime', async () => {
    const { sent, counters } = watched()
    const askAll = () => ['x', 'y', 'x'].map((name) => counters.consume(`shared ${name}`, utcDay(noon), 100))
    const first = Promise.all(askAll())
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(sent.statements).toBe(1)
    const second = Promise.all([...askAll(), ...askAll()])
    expect((await first).map(({ count }) => count)).toEqual([1, 1, 2])
    expect((await second).map(({ count }) => count)).toEqual([3, 2, 4, 5, 3, 6])
    expect(sent.statements).toBe(2)
  })

  test('are separate for other days and limits, and fail separately', async () => {
    const { sent, counters } = watched()
    const tomorrow = new Date(utcDay(noon).getTime() + DAY)
    const taken = await Promise.allSettled([
      counters.consume('apart', utcDay(noon), 100),
      counters.consume('\u0000', utcDay(noon), 1000),
      counters.consume('apart', tomorrow, 100),
      counters.consume('apart', utcDay(noon), 2),
      counters.consume('apart', utcDay(noon), 2),
    ])
    expect(sent.statements).toBe(4)
    const granted = (count: number) => ({ status: 'fulfilled', value: { granted: true, count } })
    expect(taken).toMatchObject([
      granted(1),
      { status: 'rejected' },
      granted(1),
      granted(2),
      { status: 'fulfilled', value: { granted: false, count: 2 } },
    ])
  })
})

describe('a used-up day', () => {
  test('causes no more queries', async () => {
    const { sent, counters } = watched()
    const take = (day = noon, limit = 3) => counters.consume('spent', utcDay(day), limit)
    const isUsedUp = () => counters.isUsedUp('spent', utcDay(noon), 3)
    for (let time = 0; time < 3; time++) {
      expect(isUsedUp()).toBe(false)
      expect(await take()).toMatchObject({ granted: true })
    }
    expect([isUsedUp(), await take(), sent.statements]).toEqual([true, { granted: false, count: 3 }, 3])

    const [tomorrow, larger] = [await take(new Date(noon.getTime() + DAY)), await take(noon, 4)]
    expect([tomorrow, larger, sent.statements]).toEqual([{ granted: true, count: 1 }, { granted: true, count: 4 }, 5])
  })

  test('is detected even if another process has used it up', async () => {
    const [here, there] = [watched(), watched()]
    const take = ({ counters }: typeof here) => counters.consume('spent elsewhere', utcDay(noon), 1)
    await take(here)
    expect(there.counters.isUsedUp('spent elsewhere', utcDay(noon), 1)).toBe(false)
    expect([await take(there), await take(there)]).toEqual(Array(2).fill({ granted: false, count: 1 }))
    expect(there.sent.statements).toBe(1)
  })

  test('of one plan does not affect another', async () => {
    const [visitorThere, keyHolder] = [caller('192.0.2.50'), keyOf('org_upgraded', 'PRO', '192.0.2.50')]
    await spend(visitorThere, 101)
    expect(await allowanceOf(visitorThere)).toMatchObject({ remaining: 0 })
    expect(await allowanceOf(keyHolder)).toMatchObject({ remaining: 1000 })
    expect(await spend(keyHolder, 1)).toEqual([999])
  })
})

test('a failed statement rejects, and the next one counts', async () => {
  await expect(usage.consume('\u0000', utcDay(noon), 100)).rejects.toThrow()
  expect(await usage.consume('after', utcDay(noon), 100)).toEqual({ granted: true, count: 1 })
})

test('counters older than yesterday are deleted', async () => {
  const days = [0, 1, 2].map((age) => utcDay(new Date(noon.getTime() - age * DAY)))
  for (const day of days) await createQuota(pool).consume('forgetful', day, 100)
  await deleteOldUsage(caller('192.0.2.40'))
  const left = await prisma.usageCounter.findMany({ where: { subject: 'forgetful' }, orderBy: { day: 'desc' } })
  expect(left.map(({ day }) => day)).toEqual(days.slice(0, 2))
})
