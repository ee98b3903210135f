import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import { nextAttempt, postponedUntil } from '../../../src/notification/queue/backoff.ts'
import { noon } from '../../support/context.ts'

const inSeconds = (at: Date | null) => (at === null ? null : (at.getTime() - noon.getTime()) / SECOND)
const fresh = { createdAt: noon, failed: 1, retryAfterMs: null }

test('a postponed delivery waits 2 s and up to as long again', () => {
  expect([0, 0.5, 1].map((random) => inSeconds(postponedUntil(noon, random)))).toEqual([2, 3, 4])
})

describe('a temporary failure', () => {
  test.each([
    [1, 10],
    [2, 20],
    [3, 40],
    [7, 640],
    [10, 5120],
    [11, 7200],
    [40, 7200],
  ])('after %i attempts is retried %i s later', (failed, seconds) => {
    expect(inSeconds(nextAttempt({ ...fresh, failed }, noon, 0.5))).toBe(seconds)
  })

  test('has a random jitter of a quarter', () => {
    expect([0, 0.5, 1].map((random) => inSeconds(nextAttempt(fresh, noon, random)))).toEqual([7.5, 10, 12.5])
  })

  test('waits for Retry-After if that is longer', () => {
    expect(inSeconds(nextAttempt({ ...fresh, retryAfterMs: 5 * SECOND }, noon, 0.5))).toBe(10)
    expect(inSeconds(nextAttempt({ ...fresh, retryAfterMs: 3 * HOUR }, noon, 0.5))).toBe(10_800)
  })

  test('is given up when the next attempt would be more than a day after its creation, or after the last one', () => {
    const now = new Date(noon.getTime() + 23 * HOUR)
    expect(nextAttempt({ ...fresh, failed: 20 }, now, 0.5)).toBe(null)
    expect(nextAttempt({ ...fresh, failed: 9 }, now, 0.5)).toEqual(new Date(now.getTime() + 2560 * SECOND))
    for (const retryAfterMs of [DAY + MINUTE, 1e16, 1e300, Number.POSITIVE_INFINITY])
      expect(nextAttempt({ ...fresh, retryAfterMs }, noon, 0.5)).toBe(null)
  })

  test('is not given up before ten attempts, although this service was down for a day', () => {
    const now = new Date(noon.getTime() + 8 * DAY)
    expect(nextAttempt(fresh, now, 0.5)).toEqual(new Date(now.getTime() + 10 * SECOND))
    expect(nextAttempt({ ...fresh, failed: 9 }, now, 0.5)).toEqual(new Date(now.getTime() + 2560 * SECOND))
    expect(nextAttempt({ ...fresh, failed: 10 }, now, 0.5)).toBe(null)
    expect(nextAttempt({ ...fresh, retryAfterMs: DAY + MINUTE }, now, 0.5)).toBe(null)
  })
})
