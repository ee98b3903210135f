import { describe, expect, test } from 'vitest'
import { createAttemptWindow } from '../../../src/core/concurrency/attempt-window.ts'

const at = (ms: number) => new Date(1_000_000 + ms)

describe('an attempt window', () => {
  test('admits a number of attempts per key until it ends', () => {
    const window = createAttemptWindow({ max: 2, windowMs: 100 })
    expect(window.left('a', at(0))).toBe(2)
    window.count('a', at(0))
    window.count('a', at(60))
    expect(window.left('a', at(99))).toBe(0)
    expect(window.endsAt('a', at(99))).toEqual(at(100))
    expect(window.left('b', at(99))).toBe(2)
    expect(window.left('a', at(100))).toBe(2)
    expect(window.endsAt('a', at(100))).toEqual(at(100))
  })

  test('ends early when the clock is set back', () => {
    const window = createAttemptWindow({ max: 1, windowMs: 100 })
    window.count('a', at(1000))
    expect(window.left('a', at(0))).toBe(1)
  })
})
