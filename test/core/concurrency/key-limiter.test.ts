import { expect, test } from 'vitest'
import { createKeyLimiter } from '../../../src/core/concurrency/key-limiter.ts'

test('a key has a limit of its own, and all keys together another', () => {
  const limiter = createKeyLimiter({ atOnce: 2, inTotal: 3 })
  const end = limiter.tryAcquire('a')
  expect(end).not.toBeNull()
  expect(limiter.tryAcquire('a')).not.toBeNull()
  expect(limiter.tryAcquire('a')).toBeNull()
  expect(limiter.tryAcquire('b')).not.toBeNull()
  expect(limiter.tryAcquire('b')).toBeNull()
  end?.()
  expect(limiter.tryAcquire('b')).not.toBeNull()
  expect([...limiter.running]).toEqual([
    ['a', 1],
    ['b', 2],
  ])
})

test('the end of a piece counts once, and a key without work is forgotten', () => {
  const limiter = createKeyLimiter({ atOnce: 1 })
  const end = limiter.tryAcquire('a')
  end?.()
  expect(limiter.running.size).toBe(0)
  expect(limiter.tryAcquire('a')).not.toBeNull()
  end?.()
  expect(limiter.tryAcquire('a')).toBeNull()
})

test('a key can have a limit that depends on it', () => {
  const limiter = createKeyLimiter({ atOnce: (key) => key.length })
  for (const [key, isAdmitted] of [
    ['a', true],
    ['a', false],
    ['bb', true],
    ['bb', true],
    ['bb', false],
  ] as const) {
    expect([key, limiter.tryAcquire(key) !== null]).toEqual([key, isAdmitted])
  }
})
