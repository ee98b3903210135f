import { describe, expect, test } from 'vitest'
import {
  allowanceOf,
  createUsageCounters,
  forgetOldUsage,
  organizationChecks,
  spendCheck,
} from '../../src/account/usage.ts'
import type { Actor } from '../../src/context.ts'
import { LimitExceeded } from '../../src/errors.ts'
import { DAY, utcDay } from '../../src/time.ts'
import { noon, testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'

const { prisma, pool } = await testDatabase()
const usage = createUsageCounters(pool)

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

/** How many of `times` checks at once were granted, and what each was told is left. */
async function spend(ctx: ReturnType<typeof caller>, times: number) {
  const spent = await Promise.allSettled(Array.from({ length: times }, () => spendCheck(ctx)))
  const refused = spent.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  for (const reason of refused) expect(reason).toBeInstanceOf(LimitExceeded)
  return spent.flatMap((each) => (each.status === 'fulfilled' ? [each.value.remaining] : []))
}

describe('the free plan', () => {
  test('grants exactly 100 of 250 checks that come at once, and tells each what is left', async () => {
    const remaining = await spend(caller('192.0.2.1'), 250)
    expect(remaining).toHaveLength(100)
    expect(new Set(remaining)).toEqual(new Set(Array.from({ length: 100 }, (_, index) => index)))
  })

  test('a refusal says when there are checks again, and counts nothing', async () => {
    const ctx = caller('192.0.2.2')
    await spend(ctx, 100)
    const resetsAt = new Date('2026-11-21T00:00:00.000Z')
    await expect(spendCheck(ctx)).rejects.toMatchObject({ limit: 100, resetsAt, code: 'DAILY_LIMIT_EXCEEDED' })
    expect(await allowanceOf(ctx)).toEqual({ plan: 'FREE', limit: 100, remaining: 0, resetsAt })
    const [counter] = await prisma.usageCounter.findMany({ where: { subject: 'ip:192.0.2.2' } })
    expect(counter?.count).toBe(100)
  })

  test('starts anew with the UTC day, and a clock that goes back finds the day as it was', async () => {
    const [before, after] = [new Date('2026-11-20T23:59:59.999Z'), new Date('2026-11-21T00:00:00.000Z')]
    expect(await spend(caller('192.0.2.3', before), 101)).toHaveLength(100)
    expect(await spend(caller('192.0.2.3', after), 1)).toEqual([99])
    expect(await spend(caller('192.0.2.3', before), 1)).toEqual([])
  })

  test('is shared by a whole IPv6 /64 and by nobody else', async () => {
    expect(await spend(caller('2001:db8:1:2::1'), 60)).toHaveLength(60)
    expect(await spend(caller('2001:db8:1:2:ffff:ffff:ffff:ffff'), 60)).toHaveLength(40)
    expect(await spend(caller('2001:db8:1:3::1'), 1)).toEqual([99])
  })

  test('is what a key without the pro plan has, by its client’s address', async () => {
    expect(await spend(keyOf('org_free', 'FREE', '192.0.2.4'), 60)).toHaveLength(60)
    expect(await spend(caller('192.0.2.4'), 60)).toHaveLength(40)
    expect(await organizationChecks(caller('192.0.2.4'), 'org_free')).toBe(0)
  })

  test('is counted for each address apart when many ask at once', async () => {
    const clients = Array.from({ length: 5 }, (_, index) => caller(`192.0.2.${10 + index}`))
    // One set of counters: the asks of all of them share statements.
    const asks = Array.from({ length: 120 }).flatMap(() => clients)
    const spent = await Promise.allSettled(asks.map((ctx) => spendCheck({ ...ctx, usage })))
    expect(spent.filter(({ status }) => status === 'fulfilled')).toHaveLength(500)
  })
})

describe('the pro plan', () => {
  test('grants exactly 1000 to an organization, wherever its keys are used from', async () => {
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
  test('that count on one database at once grant exactly the limit together', async () => {
    const granted = await Promise.all(Array.from({ length: 4 }, () => spend(caller('192.0.2.30'), 60)))
    expect(granted.flat()).toHaveLength(100)
  })
})

/** Counters that tell how many statements they have sent. */
function watched() {
  const sent = { statements: 0 }
  const query = (...given: Parameters<typeof pool.query>) => {
    sent.statements += 1
    return pool.query(...given)
  }
  return { sent, counters: createUsageCounters({ query } as Pick<typeof pool, 'query'>) }
}

describe('statements', () => {
  test('are one for asks that come at once, and one more for all that come meanwhile', async () => {
    const { sent, counters } = watched()
    const askAll = () => ['x', 'y', 'x'].map((name) => counters.take(`shared ${name}`, utcDay(noon), 100))
    const first = Promise.all(askAll())
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(sent.statements).toBe(1)
    const second = Promise.all([...askAll(), ...askAll()])
    expect((await first).map(({ count }) => count)).toEqual([1, 1, 2])
    expect((await second).map(({ count }) => count)).toEqual([3, 2, 4, 5, 3, 6])
    expect(sent.statements).toBe(2)
  })

  test('are apart for other days and limits, of which none fails another', async () => {
    const { sent, counters } = watched()
    const tomorrow = new Date(utcDay(noon).getTime() + DAY)
    const taken = await Promise.allSettled([
      counters.take('apart', utcDay(noon), 100),
      counters.take('\u0000', utcDay(noon), 1000),
      counters.take('apart', tomorrow, 100),
      counters.take('apart', utcDay(noon), 2),
      counters.take('apart', utcDay(noon), 2),
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

describe('a day that is used up', () => {
  test('is asked of the database no more', async () => {
    const { sent, counters } = watched()
    const take = (day = noon, limit = 3) => counters.take('spent', utcDay(day), limit)
    const isUsedUp = () => counters.isUsedUp('spent', utcDay(noon), 3)
    for (let time = 0; time < 3; time++) {
      expect(isUsedUp()).toBe(false)
      expect(await take()).toMatchObject({ granted: true })
    }
    expect([isUsedUp(), await take(), sent.statements]).toEqual([true, { granted: false, count: 3 }, 3])

    const [tomorrow, larger] = [await take(new Date(noon.getTime() + DAY)), await take(noon, 4)]
    expect([tomorrow, larger, sent.statements]).toEqual([{ granted: true, count: 1 }, { granted: true, count: 4 }, 5])
  })

  test('is found out when another process has used it up', async () => {
    const [here, there] = [watched(), watched()]
    const take = ({ counters }: typeof here) => counters.take('spent elsewhere', utcDay(noon), 1)
    await take(here)
    expect(there.counters.isUsedUp('spent elsewhere', utcDay(noon), 1)).toBe(false)
    expect([await take(there), await take(there)]).toEqual(Array(2).fill({ granted: false, count: 1 }))
    expect(there.sent.statements).toBe(1)
  })

  test('of one plan says nothing of another', async () => {
    const [visitorThere, keyHolder] = [caller('192.0.2.50'), keyOf('org_upgraded', 'PRO', '192.0.2.50')]
    await spend(visitorThere, 101)
    expect(await allowanceOf(visitorThere)).toMatchObject({ remaining: 0 })
    expect(await allowanceOf(keyHolder)).toMatchObject({ remaining: 1000 })
    expect(await spend(keyHolder, 1)).toEqual([999])
  })
})

test('a count that the database refuses rejects, and the next one counts', async () => {
  await expect(usage.take('\u0000', utcDay(noon), 100)).rejects.toThrow()
  expect(await usage.take('after', utcDay(noon), 100)).toEqual({ granted: true, count: 1 })
})

test('counters of days before yesterday are forgotten', async () => {
  const days = [0, 1, 2].map((age) => utcDay(new Date(noon.getTime() - age * DAY)))
  for (const day of days) await createUsageCounters(pool).take('forgetful', day, 100)
  await forgetOldUsage(caller('192.0.2.40'))
  const left = await prisma.usageCounter.findMany({ where: { subject: 'forgetful' }, orderBy: { day: 'desc' } })
  expect(left.map(({ day }) => day)).toEqual(days.slice(0, 2))
})
