import { expect, test } from 'vitest'
import { createKeyLimiter } from '../../../src/core/concurrency/key-limiter.ts'

test('a key has a limit of its own, and all keys together another', () => {
  const limiter = createKeyLimiter({ atOnce: 2, inTotal: 4 })
  const end = limiter.tryAcquire('a')
  expect(end).not.toBeNull()
  expect(limiter.tryAcquire('a')).not.toBeNull()
  expect(limiter.tryAcquire('a')).toBeNull()
  expect(limiter.tryAcquire('b')).not.toBeNull()
  expect(limiter.tryAcquire('c')).not.toBeNull()
  expect(limiter.tryAcquire('b')).toBeNull()
  end?.()
  expect(limiter.tryAcquire('b')).not.toBeNull()
  expect([...limiter.running]).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 1],
  ])
})

test.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [8, 4],
])('of %d pieces in total, a key has at most %d', (inTotal, share) => {
  for (const atOnce of [undefined, 100]) {
    const limiter = createKeyLimiter(atOnce === undefined ? { inTotal } : { inTotal, atOnce })
    const admitted = Array.from({ length: inTotal }, () => limiter.tryAcquire('a')).filter((end) => end !== null)
    expect(admitted).toHaveLength(share)
  }
})

test('a piece that counts to several keys needs room in each, and leaves all of them', () => {
  const limiter = createKeyLimiter({ inTotal: 4 })
  const ends = [limiter.tryAcquire('org 1', 'ip 1'), limiter.tryAcquire('org 1', 'ip 2')]
  expect(ends).not.toContain(null)
  expect(limiter.tryAcquire('org 1', 'ip 3')).toBeNull()
  expect(limiter.tryAcquire('org 2', 'ip 1')).not.toBeNull()
  expect(limiter.tryAcquire('org 3', 'ip 1')).toBeNull()
  expect([...limiter.running.keys()]).not.toContain('ip 3')
  ends[0]?.()
  expect(limiter.tryAcquire('org 3', 'ip 1')).not.toBeNull()
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
