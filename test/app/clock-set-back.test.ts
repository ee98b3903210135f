import { readFileSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { movedDueTimes, watchClock } from '../../src/app/clock-set-back.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { startDatabaseClock } from '../../src/database/database-clock.ts'
import { claimDue, releaseClaims } from '../../src/database/lease/lease.ts'
import { hasLiveRegion } from '../../src/monitoring/watch/live-region.ts'
import { fillTables } from '../database/upgrades/sample-rows.ts'
import { testContext } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { silent } from '../support/scratch.ts'

const { prisma: db, pool } = await testDatabase()
const right = new Date('2026-11-20T12:00:00Z')
const rightPlus = (ms: number) => new Date(right.getTime() + ms)
const contextAt = (at: Date) => testContext(db, { now: () => at })

/** Every column of the schema that a worker’s claim moves ahead. */
const leased = [
  ...readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8').matchAll(
    /^model (\w+) \{(?:(?!^\})[\s\S])*?^\}/gm,
  ),
].flatMap(([model, table = '']) =>
  [...model.matchAll(/\(lease\)\.\n\s+(\w+)/g)].map(([, dueColumn = '']) => ({ table, dueColumn })),
)

beforeAll(async () => {
  const client = await pool.connect()
  try {
    await fillTables(client)
  } finally {
    client.release()
  }
})

beforeEach(async () => {
  await pool.query(`UPDATE "Monitor" SET kind = 'HTTP', "intervalSeconds" = 60`)
  await pool.query(`UPDATE "Organization" SET "deletedAt" = $1`, [rightPlus(-30 * DAY)])
  await pool.query('DELETE FROM "ClockReading"')
  for (const { table, dueColumn } of [...leased, ...movedDueTimes]) {
    await pool.query(`UPDATE "${table}" SET "${dueColumn}" = $1`, [right])
  }
})

async function dueTimesOf({ table, dueColumn }: { table: string; dueColumn: string }): Promise<Date[]> {
  const { rows } = await pool.query<{ at: Date }>(`SELECT "${dueColumn}" AS at FROM "${table}" ORDER BY 1`)
  expect(rows.length).toBeGreaterThan(0)
  return rows.map(({ at }) => at)
}

test('every leased column is corrected, and the schema has no others', () => {
  const corrected = [
    ...movedDueTimes.map(({ table, dueColumn }) => `${table}.${dueColumn}`),
    'Organization.erasureDueAt',
  ]
  const known = leased.map(({ table, dueColumn }) => `${table}.${dueColumn}`)
  expect(known.length).toBeGreaterThan(10)
  expect(known.filter((name) => !corrected.includes(name))).toEqual([])
})

describe.each(leased)('$table.$dueColumn', ({ table, dueColumn }) => {
  test.each([HOUR, -HOUR])('is leased by the clock of the database if a machine’s is %i ms off', async (offMs) => {
    const clock = await startDatabaseClock({ pool, log: silent, system: () => new Date(Date.now() + offMs) })
    const before = Date.now()
    try {
      const ctx = { db, now: clock.now }
      const due = new Date(before - SECOND)
      await pool.query(`UPDATE "${table}" SET "${dueColumn}" = $1`, [due])
      const { taken, until } = await claimDue(ctx, { table, dueColumn, limit: 10, leaseMs: MINUTE })
      expect(taken.length).toBeGreaterThan(0)
      // An hour would show, but no busy machine takes half of it.
      expect(Math.abs(until.getTime() - before - MINUTE)).toBeLessThan(HOUR / 2)
      // Nobody else takes it now.
      const other = { db, now: () => new Date() }
      expect((await claimDue(other, { table, dueColumn, limit: 10, leaseMs: MINUTE })).taken).toEqual([])
      const left = taken.map(({ id }) => ({ id, until }))
      await releaseClaims(ctx, { table, dueColumn }, left)
      const [released] = await dueTimesOf({ table, dueColumn })
      expect(Math.abs((released?.getTime() ?? 0) - before)).toBeLessThan(HOUR / 2)
    } finally {
      await clock.stop()
    }
  })

  test('does not wait for the time of a clock that was an hour ahead', async () => {
    const ahead = contextAt(rightPlus(HOUR))
    await watchClock(ahead)
    await claimDue(ahead, { table, dueColumn, limit: 10, leaseMs: 10 * MINUTE })
    expect((await dueTimesOf({ table, dueColumn }))[0]).toEqual(rightPlus(HOUR + 10 * MINUTE))
    const now = contextAt(rightPlus(20 * SECOND))
    await watchClock(now)
    const [corrected] = await dueTimesOf({ table, dueColumn })
    // As far ahead as the lease, or as the lease of an erasure.
    expect(corrected?.getTime()).toBeLessThanOrEqual(rightPlus(16 * MINUTE).getTime())
    const later = contextAt(rightPlus(16 * MINUTE))
    const { taken } = await claimDue(later, { table, dueColumn, limit: 10, leaseMs: MINUTE })
    expect(taken.length).toBeGreaterThan(0)
  })

  test('keeps its due time while the clock goes on, also from an hour behind', async () => {
    await watchClock(contextAt(rightPlus(-HOUR)))
    const due = rightPlus(3 * HOUR)
    await pool.query(`UPDATE "${table}" SET "${dueColumn}" = $1`, [due])
    for (const ms of [0, 10 * SECOND, 9 * SECOND, MINUTE]) await watchClock(contextAt(rightPlus(ms)))
    expect((await dueTimesOf({ table, dueColumn })).every((at) => at.getTime() === due.getTime())).toBe(true)
  })
})

test('leases of running work stay, and the clock is corrected once', async () => {
  await watchClock(contextAt(rightPlus(HOUR)))
  const lease = rightPlus(MINUTE)
  await pool.query(`UPDATE "Delivery" SET "dueAt" = $1`, [lease])
  await watchClock(contextAt(right))
  expect((await dueTimesOf({ table: 'Delivery', dueColumn: 'dueAt' }))[0]).toEqual(lease)
  const retry = rightPlus(2 * HOUR)
  await pool.query(`UPDATE "Delivery" SET "dueAt" = $1`, [retry])
  await watchClock(contextAt(right))
  expect((await dueTimesOf({ table: 'Delivery', dueColumn: 'dueAt' }))[0]).toEqual(retry)
})

test('a restore period does not end sooner when a clock was a year ahead', async () => {
  await watchClock(contextAt(rightPlus(365 * DAY)))
  const deletedAt = rightPlus(-DAY)
  const erasureDueAt = rightPlus(6 * DAY)
  await pool.query(`UPDATE "Organization" SET "deletedAt" = $1, "erasureDueAt" = $2`, [deletedAt, erasureDueAt])
  await watchClock(contextAt(right))
  expect((await dueTimesOf({ table: 'Organization', dueColumn: 'erasureDueAt' }))[0]).toEqual(erasureDueAt)
})

test('a heartbeat does not count as missed because the clock was set back', async () => {
  await pool.query(`UPDATE "Monitor" SET kind = 'HEARTBEAT'`)
  await watchClock(contextAt(rightPlus(HOUR)))
  const due = rightPlus(2 * HOUR)
  await pool.query('UPDATE "Watch" SET "dueAt" = $1', [due])
  await watchClock(contextAt(right))
  expect((await dueTimesOf({ table: 'Watch', dueColumn: 'dueAt' }))[0]).toEqual(due)
})

test.each(['remindAt', 'escalateAt'])('%s is no later than its channel waits', async (column) => {
  await pool.query('UPDATE "AlertChannel" SET "remindAfterMinutes" = 15, "escalateAfterMinutes" = 15')
  await watchClock(contextAt(rightPlus(DAY)))
  await pool.query(`UPDATE "AlertRecipient" SET "${column}" = $1`, [rightPlus(DAY + 15 * MINUTE)])
  await watchClock(contextAt(right))
  const times = await dueTimesOf({ table: 'AlertRecipient', dueColumn: column })
  expect(times.every((at) => at.getTime() === rightPlus(15 * MINUTE).getTime())).toBe(true)
})

test('a region whose worker has ended does not count as watched for longer because the clock was set back', async () => {
  await watchClock(contextAt(rightPlus(HOUR)))
  await pool.query('UPDATE "Region" SET "lastSeenAt" = $1', [rightPlus(HOUR)])
  await watchClock(contextAt(right))
  expect(await hasLiveRegion(db, right)).toBe(true)
  expect(await hasLiveRegion(db, rightPlus(2 * MINUTE))).toBe(false)
})
