import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import type { BurnQuestion } from '../../../src/monitoring/objective/burn-rate.ts'
import { burnRates, burnSpeed } from '../../../src/monitoring/objective/burn-rate.ts'
import type { CountedStretch } from '../../../src/monitoring/objective/objective-tally.ts'
import { noon } from '../../support/context.ts'

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
/** 99.9 % over 30 days, as in the examples of the SRE workbook. */
const usual: BurnQuestion = { target: 99_900, windowMs: 30 * DAY, begunAt: at(-90 * DAY), now: noon }

/** Returns stretches that are good for a long time, then bad for some milliseconds of each period, up to `now`. */
function failing(since: number, badMs: number, everyMs: number, now = 0): CountedStretch[] {
  const found: CountedStretch[] = [{ from: at(-90 * DAY), to: at(since), counted: 'good', isCorrected: false }]
  for (let from = since; from < now; from += everyMs) {
    found.push({ from: at(from), to: at(from + badMs), counted: 'bad', isCorrected: false })
    found.push({ from: at(from + badMs), to: at(from + everyMs), counted: 'good', isCorrected: false })
  }
  return found
}

const outage = (from: number, to: number, now = to): CountedStretch[] => [
  { from: at(-90 * DAY), to: at(from), counted: 'good', isCorrected: false },
  { from: at(from), to: at(to), counted: 'bad', isCorrected: false },
  { from: at(to), to: at(now), counted: 'good', isCorrected: false },
]
const speedOf = (stretches: readonly CountedStretch[], question: Partial<BurnQuestion> = {}) =>
  burnSpeed(burnRates(stretches, { ...usual, ...question }), null)
const thresholds = (days: number, target = 99_900) =>
  burnRates([], { ...usual, target, windowMs: days * DAY }).map(({ threshold }) => Number(threshold.toFixed(6)))

describe('the figures of the SRE workbook', () => {
  test('equal our windows and thresholds for 99.9 % over 30 days', () => {
    expect(
      burnRates([], usual).map(({ speed, longMs, shortMs, threshold }) => [speed, longMs, shortMs, threshold]),
    ).toEqual([
      ['FAST', HOUR, 5 * MINUTE, 14.4],
      ['SLOW', 6 * HOUR, 30 * MINUTE, 6],
      ['STEADY', 72 * HOUR, 6 * HOUR, 1],
    ])
  })

  test('use up 2 %, 5 % and 10 % of the budget of 43 min 12 s in the long windows', () => {
    const budget = 0.001 * 30 * DAY
    expect(budget).toBe(43 * MINUTE + 12 * SECOND)
    const used = burnRates([], usual).map(({ longMs, threshold }) => (threshold * 0.001 * longMs) / budget)
    expect(used.map((share) => Number(share.toFixed(9)))).toEqual([0.02, 0.05, 0.1])
  })

  test('detect a complete outage after 51.84 s, and not a millisecond earlier', () => {
    expect(speedOf(outage(-51_839, 0))).toBeNull()
    expect(speedOf(outage(-51_840, 0))).toBe('FAST')
  })

  test('detect steady errors by their rate: 1.44 % within one hour, 0.6 % within six hours, 0.1 % within three days', () => {
    // Some bad milliseconds in every ten seconds.
    expect(speedOf(failing(-HOUR, 144, 10 * SECOND))).toBe('FAST')
    expect(speedOf(failing(-6 * HOUR, 143, 10 * SECOND))).toBe('SLOW')
    expect(speedOf(failing(-6 * HOUR, 60, 10 * SECOND))).toBe('SLOW')
    expect(speedOf(failing(-72 * HOUR, 59, 10 * SECOND))).toBe('STEADY')
    expect(speedOf(failing(-72 * HOUR, 10, 10 * SECOND))).toBe('STEADY')
    expect(speedOf(failing(-72 * HOUR, 9, 10 * SECOND))).toBeNull()
  })

  test('end within the short window: FAST ends five minutes after the outage', () => {
    const end = 10 * MINUTE
    const speedAt = (after: number) => {
      const now = end + after
      return burnSpeed(burnRates(outage(0, end, now), { ...usual, now: at(now) }).slice(0, 1), null)
    }
    // 4.32 s of the last five minutes were bad.
    expect(speedAt(5 * MINUTE - 4320)).toBe('FAST')
    expect(speedAt(5 * MINUTE - 4319)).toBeNull()
  })

  test('scale with the window', () => {
    expect(thresholds(7).slice(0, 2)).toEqual([3.36, 1.4])
    expect(thresholds(28).slice(0, 2)).toEqual([13.44, 5.6])
    expect(thresholds(90)).toEqual([43.2, 18, 3])
  })
})

test('no threshold is below the rate that uses up the budget, or above the rate of an outage', () => {
  expect(thresholds(7)).toEqual([3.36, 1.4, 1])
  expect(thresholds(1)).toEqual([1, 1])
  // With 95 %, an outage uses the budget at twenty times the allowed rate.
  expect(thresholds(90, 95_000)).toEqual([20, 18, 3])
  expect(speedOf(outage(-HOUR, 0), { target: 95_000, windowMs: 90 * DAY })).toBe('FAST')
})

test('there is no alert before the service has been monitored for the whole long window', () => {
  const young = outage(-30 * MINUTE, 0)
  expect(speedOf(young, { begunAt: at(-HOUR + 1) })).toBeNull()
  expect(speedOf(young, { begunAt: at(-HOUR) })).toBe('FAST')
  expect(burnRates(young, { ...usual, begunAt: at(-HOUR) }).map(({ isBurning }) => isBurning)).toEqual([
    true,
    null,
    null,
  ])
})

test('maintenance and missing data neither start nor end an alert', () => {
  const quiet = (counted: CountedStretch['counted']): CountedStretch[] => [
    { from: at(-90 * DAY), to: at(-7 * HOUR), counted: 'good', isCorrected: false },
    { from: at(-7 * HOUR), to: noon, counted, isCorrected: false },
  ]
  for (const counted of ['maintenance', 'unknown', 'excluded'] as const) {
    const rates = burnRates(quiet(counted), usual)
    expect(rates.map(({ isBurning }) => isBurning)).toEqual([null, null, null])
    expect(burnSpeed(rates, null)).toBeNull()
    expect(burnSpeed(rates, 'SLOW')).toBe('SLOW')
  }
})
