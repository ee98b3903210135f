import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTokenBucket } from '../../../src/core/concurrency/token-bucket.ts'

test('grants its burst at once, and the rest over the window', () => {
  let time = 0
  const bucket = createTokenBucket({ limit: 60, windowMs: 1000, burst: 10 }, () => time)
  const takeAll = () => {
    let taken = 0
    while (bucket.take()) taken += 1
    return taken
  }
  expect(bucket.isFull()).toBe(true)
  expect(takeAll()).toBe(10)
  expect(bucket.isFull()).toBe(false)
  expect(bucket.msUntilToken()).toBe(20)
  time = 19
  expect(bucket.take()).toBe(false)
  time = 20
  expect(bucket.msUntilToken()).toBe(0)
  expect(takeAll()).toBe(1)
  time = 100_000
  expect(bucket.isFull()).toBe(true)
  expect(takeAll()).toBe(10)
})

test('never grants more than its limit within a window, whatever the clock does', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: -50, max: 400 }), fc.integer({ min: 0, max: 20 })), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(steps, (waits) => {
      let time = 0
      let now = 0
      const bucket = createTokenBucket({ limit: 12, windowMs: 1000, burst: 4 }, () => time)
      const taken: number[] = []
      for (const [wait, tries] of waits) {
        // Setting a clock back does not let time pass.
        time += wait
        now += Math.max(0, wait)
        for (let index = 0; index < tries; index += 1) if (bucket.take()) taken.push(now)
        expect(taken.filter((at) => at > now - 1000).length).toBeLessThanOrEqual(12)
      }
    }),
  )
})
