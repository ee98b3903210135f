import { describe, expect, test } from 'vitest'
import { nextAttempt } from '../../src/notification/backoff.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/time.ts'
import { noon } from '../support/context.ts'

const inSeconds = (at: Date | null) => (at === null ? null : (at.getTime() - noon.getTime()) / SECOND)
const fresh = { createdAt: noon, failed: 1, retryAfterMs: null }

describe('what has failed for now', () => {
  test.each([
    [1, 10],
    [2, 20],
    [3, 40],
    [7, 640],
    [10, 5120],
    [11, 7200],
    [40, 7200],
  ])('%i times is tried again %i s later', (failed, seconds) => {
    expect(inSeconds(nextAttempt({ ...fresh, failed }, noon, 0.5))).toBe(seconds)
  })

  test('comes back a quarter sooner or later by chance', () => {
    expect([0, 0.5, 1].map((random) => inSeconds(nextAttempt(fresh, noon, random)))).toEqual([7.5, 10, 12.5])
  })

  test('waits for as long as the receiver asks, when that is longer', () => {
    expect(inSeconds(nextAttempt({ ...fresh, retryAfterMs: 5 * SECOND }, noon, 0.5))).toBe(10)
    expect(inSeconds(nextAttempt({ ...fresh, retryAfterMs: 3 * HOUR }, noon, 0.5))).toBe(10_800)
  })

  test('is given up when the next attempt would come more than a day after it was made', () => {
    const now = new Date(noon.getTime() + 23 * HOUR)
    expect(nextAttempt({ ...fresh, failed: 20 }, now, 0.5)).toBe(null)
    expect(nextAttempt({ ...fresh, failed: 9 }, now, 0.5)).toEqual(new Date(now.getTime() + 2560 * SECOND))
    expect(nextAttempt({ ...fresh, retryAfterMs: DAY + MINUTE }, noon, 0.5)).toBe(null)
  })
})
