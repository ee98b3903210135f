import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDailyBudget, type QueryBudget } from '../../src/blacklist/query-budget.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { createClock } from '../network/dns/setup.ts'

let owners = 0

/** Consumes all that is left for everybody. */
function consumeAll(budget: QueryBudget): number {
  let taken = 0
  while (budget.consume(`owner ${owners++}`)) taken++
  return taken
}

test('allows half of the daily queries at once', () => {
  const { now } = createClock()
  expect(consumeAll(createDailyBudget(1000, now))).toBe(500)
})

test('refills the other half over a day and never holds more than half', () => {
  const { now, advance } = createClock()
  const budget = createDailyBudget(1000, now)
  consumeAll(budget)
  advance(12 * HOUR)
  expect(consumeAll(budget)).toBe(250)
  advance(30 * DAY)
  expect(consumeAll(budget)).toBe(500)
})

test('frequent calls do not lose fractions of a slow refill', () => {
  const { now, advance } = createClock()
  const budget = createDailyBudget(24, now)
  consumeAll(budget)
  let taken = 0
  for (let minute = 0; minute < 24 * 60; minute++) {
    advance(MINUTE)
    taken += consumeAll(budget)
  }
  // There are twelve, or eleven because of rounding.
  expect(taken).toBeGreaterThanOrEqual(11)
  expect(taken).toBeLessThanOrEqual(12)
})

test('a clock that is set back neither adds nor removes queries', () => {
  const { now, advance } = createClock()
  const budget = createDailyBudget(1000, now)
  consumeAll(budget)
  advance(-DAY)
  expect(budget.consume('c')).toBe(false)
  advance(HOUR)
  expect(consumeAll(budget)).toBe(20)
})

test('never allows more than the daily queries in any 24 hours', () => {
  const steps = fc.array(fc.record({ wait: fc.integer({ min: 0, max: 8 * HOUR }), asks: fc.nat(40) }), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(steps, fc.integer({ min: 2, max: 60 }), (script, perDay) => {
      const { now, advance } = createClock()
      const budget = createDailyBudget(perDay, now)
      const taken: number[] = []
      for (const { wait, asks } of script) {
        advance(wait)
        for (let ask = 0; ask < asks; ask++) if (budget.consume(`owner ${owners++}`)) taken.push(now().getTime())
      }
      for (const from of taken) {
        expect(taken.filter((at) => at >= from && at < from + DAY).length).toBeLessThanOrEqual(perDay)
      }
    }),
  )
})

test('an owner gets half of it, at once and in a day, and the others get the rest', () => {
  const { now, advance } = createClock()
  const budget = createDailyBudget(1000, now)
  const consumeAs = (owner: string) => {
    let taken = 0
    while (budget.consume(owner)) taken++
    return taken
  }
  expect([consumeAs('greedy'), consumeAs('other'), consumeAs('third')]).toEqual([250, 250, 0])
  advance(12 * HOUR)
  expect([consumeAs('greedy'), consumeAs('other'), consumeAs('third')]).toEqual([125, 125, 0])
})

test('what one owner is refused uses up nothing of the others', () => {
  const budget = createDailyBudget(100, createClock().now)
  for (let attempt = 0; attempt < 1000; attempt++) budget.consume('greedy')
  let taken = 0
  while (budget.consume('other')) taken++
  expect(taken).toBe(25)
})
