import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import { budgetOf, isMet } from '../../../src/monitoring/objective/budget.ts'
import type { Counted, CountedStretch } from '../../../src/monitoring/objective/objective-tally.ts'
import { countedStretches, objectiveTally } from '../../../src/monitoring/objective/objective-tally.ts'
import { monthOf, windowAt } from '../../../src/monitoring/objective/window.ts'
import type { Condition } from '../../../src/monitoring/uptime/uptime.ts'
import { noon } from '../../support/context.ts'

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const past = (...parts: readonly (readonly [Counted, number])[]): CountedStretch[] => {
  let to = -parts.reduce((sum, [, length]) => sum + length, 0)
  return parts.map(([counted, length]) => {
    const from = to
    to += length
    return { from: at(from), to: at(to), counted, isCorrected: false }
  })
}
const rolling = { target: 99_900, window: windowAt({ windowDays: 30, timeZone: 'UTC' }, noon), now: noon }
const budget = (stretches: readonly CountedStretch[], begunAt = at(-90 * DAY)) =>
  budgetOf(stretches, { ...rolling, begunAt })

describe('the budget', () => {
  test('of 99.9 % over 30 days is 43 min 12 s, and the remaining budget can be negative', () => {
    const good = budget(past(['good', 30 * DAY]))
    expect(good).toMatchObject({ budgetMs: 2_592_000, remainingMs: 2_592_000, percent: 100, verdict: 'HEALTHY' })
    const overspent = budget(past(['good', 30 * DAY - HOUR], ['bad', HOUR]))
    expect(overspent).toMatchObject({ remainingMs: 2_592_000 - HOUR, verdict: 'EXHAUSTED', percent: 99.861 })
  })

  test('is at risk when a fifth remains, and exhausted when nothing remains', () => {
    const verdictOf = (bad: number) => budget(past(['good', 30 * DAY - bad], ['bad', bad])).verdict
    const share = 2_592_000 / 5
    expect(verdictOf(4 * share - 1)).toBe('HEALTHY')
    expect(verdictOf(4 * share)).toBe('AT_RISK')
    expect(verdictOf(5 * share - 1)).toBe('AT_RISK')
    expect(verdictOf(5 * share)).toBe('EXHAUSTED')
    expect(budget(past(['unknown', 30 * DAY])).verdict).toBe('NO_DATA')
  })

  test('shrinks in proportion to maintenance, excluded time and unknown time', () => {
    const half = budget(past(['good', 15 * DAY], ['maintenance', 5 * DAY], ['excluded', 5 * DAY], ['unknown', 5 * DAY]))
    expect(half).toMatchObject({ budgetMs: 2_592_000 / 2, percent: 100, coverage: 75 })
  })

  test('of a partly filled window includes the time before the service was monitored', () => {
    const young = budget(past(['unknown', 20 * DAY], ['good', 10 * DAY]), at(-10 * DAY))
    expect(young).toMatchObject({ budgetMs: 2_592_000, coverage: 100, isFull: false })
    expect(budget(past(['good', 30 * DAY]), at(-30 * DAY)).isFull).toBe(true)
  })

  test('of a calendar month is the budget of the whole month, even on its first day', () => {
    const window = windowAt({ windowDays: null, timeZone: 'Europe/Berlin' }, at(0))
    const november = monthOf('Europe/Berlin', 2026, 11)
    expect(november).toEqual({ from: new Date('2026-10-31T23:00:00Z'), to: new Date('2026-11-30T23:00:00Z') })
    expect(window).toEqual(november)
    const october = monthOf('Europe/Berlin', 2026, 10)
    expect(+october.to - +october.from).toBe(31 * DAY + HOUR)
    const found = budgetOf([], { target: 99_900, window: october, begunAt: at(-90 * DAY), now: october.from })
    expect(found.budgetMs).toBe(44 * MINUTE + 38 * SECOND + 400 + 3600)
  })
})

test('a target can be met exactly', () => {
  expect(isMet({ good: 999, bad: 1 }, 99_900)).toBe(true)
  expect(isMet({ good: 998, bad: 1 }, 99_900)).toBe(false)
  expect(isMet({ good: 0, bad: 0 }, 99_900)).toBeNull()
})

describe('a correction', () => {
  const measured = (...parts: readonly (readonly [Condition, number])[]) =>
    past(...parts.map(([, length]) => ['good', length] as const)).map(({ from, to }, index) => ({
      from,
      to,
      condition: parts[index]?.[0] ?? 'up',
    }))
  const span = { from: at(-4 * HOUR), to: noon }

  test('takes precedence over measurements, maintenance and earlier corrections', () => {
    const stretches = measured(['up', HOUR], ['down', HOUR], ['maintenance', HOUR], ['unknown', HOUR])
    const counted = countedStretches(stretches, [
      { from: at(-4 * HOUR), to: noon, kind: 'EXCLUDED' },
      { from: at(-3.5 * HOUR), to: at(-0.5 * HOUR), kind: 'BAD' },
      { from: at(-2 * HOUR), to: at(-HOUR), kind: 'GOOD' },
    ])
    expect(objectiveTally(counted, span)).toEqual({
      good: HOUR,
      bad: 2 * HOUR,
      partial: 0,
      unknown: 0,
      maintenance: 0,
      excluded: HOUR,
      corrected: 4 * HOUR,
    })
  })

  test('does not affect the time before and after it', () => {
    const stretches = measured(['up', 2 * HOUR], ['down', 2 * HOUR])
    const counted = countedStretches(stretches, [{ from: at(-HOUR), to: at(HOUR), kind: 'EXCLUDED' }])
    expect(objectiveTally(counted, span)).toMatchObject({ good: 2 * HOUR, bad: HOUR, excluded: HOUR, corrected: HOUR })
  })
})
