import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dailyBudget } from '../../src/blacklist/budget.ts'
import { DAY, HOUR, MINUTE } from '../../src/time.ts'
import { createClock } from '../network/dns/setup.ts'

function takeAll(budget: { take(): boolean }): number {
  let taken = 0
  while (budget.take()) taken++
  return taken
}

test('half of a day’s queries may go at once', () => {
  const { now } = createClock()
  expect(takeAll(dailyBudget(1000, now))).toBe(500)
})

test('the other half comes back over the day, and never more than half is held', () => {
  const { now, advance } = createClock()
  const budget = dailyBudget(1000, now)
  takeAll(budget)
  advance(12 * HOUR)
  expect(takeAll(budget)).toBe(250)
  advance(30 * DAY)
  expect(takeAll(budget)).toBe(500)
})

test('what comes back slowly is not lost by asking often', () => {
  const { now, advance } = createClock()
  const budget = dailyBudget(24, now)
  takeAll(budget)
  let taken = 0
  for (let minute = 0; minute < 24 * 60; minute++) {
    advance(MINUTE)
    taken += takeAll(budget)
  }
  // Twelve, or eleven and a fraction that rounding has kept back.
  expect(taken).toBeGreaterThanOrEqual(11)
  expect(taken).toBeLessThanOrEqual(12)
})

test('a clock that is set back gives nothing, and takes nothing away', () => {
  const { now, advance } = createClock()
  const budget = dailyBudget(1000, now)
  takeAll(budget)
  advance(-DAY)
  expect(budget.take()).toBe(false)
  advance(HOUR)
  expect(takeAll(budget)).toBe(20)
})

test('in no 24 hours more goes than the day’s queries, however they are asked for', () => {
  const steps = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 8 * HOUR }), asks: fc.nat(40) }), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(steps, fc.integer({ min: 2, max: 60 }), (script, perDay) => {
      const { now, advance } = createClock()
      const budget = dailyBudget(perDay, now)
      const taken: number[] = []
      for (const { wait, asks } of script) {
        advance(wait)
        for (let ask = 0; ask < asks; ask++) if (budget.take()) taken.push(now().getTime())
      }
      for (const from of taken) {
        expect(taken.filter((at) => at >= from && at < from + DAY).length).toBeLessThanOrEqual(perDay)
      }
    }),
  )
})
