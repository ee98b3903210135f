import { expect, test } from 'vitest'
import { createCache } from '../../../src/network/dns/cache.ts'
import type { DnsResult } from '../../../src/network/dns/message.ts'
import { createClock } from './setup.ts'

function startCache(size = 10) {
  const clock = createClock()
  return { cache: createCache(size, clock.now), clock }
}

const listed: DnsResult = { kind: 'answer', values: ['127.0.0.2'], ttl: 60 }
const absent: DnsResult = { kind: 'none', nxdomain: true, ttl: 15 }

test('an answer is cached for its TTL, and has the remaining TTL', () => {
  const { cache, clock } = startCache()
  cache.set('a', listed)
  expect(cache.get('a')).toEqual(listed)
  clock.advance(20_500)
  expect(cache.get('a')).toEqual({ ...listed, ttl: 40 })
  clock.advance(39_499)
  expect(cache.get('a')).toEqual({ ...listed, ttl: 1 })
  clock.advance(1)
  expect(cache.get('a')).toBeUndefined()
})

test('a negative answer is cached for its TTL', () => {
  const { cache, clock } = startCache()
  cache.set('a', absent)
  clock.advance(14_999)
  expect(cache.get('a')).toEqual({ ...absent, ttl: 1 })
  clock.advance(1)
  expect(cache.get('a')).toBeUndefined()
})

test.each([
  ['refused', 10],
  ['servfail', 10],
  ['timeout', 5],
  ['unreachable', 5],
  ['malformed', 5],
] as const)('The failure %s is cached for %i s.', (reason, seconds) => {
  const { cache, clock } = startCache()
  cache.set('a', { kind: 'failed', reason })
  clock.advance(seconds * 1000 - 1)
  expect(cache.get('a')).toEqual({ kind: 'failed', reason })
  clock.advance(1)
  expect(cache.get('a')).toBeUndefined()
})

test('aborted and uncacheable results are not cached', () => {
  const { cache } = startCache()
  cache.set('a', { kind: 'failed', reason: 'aborted' })
  cache.set('b', { kind: 'failed', reason: 'withheld' })
  cache.set('c', { ...listed, ttl: 0 })
  for (const key of ['a', 'b', 'c']) expect(cache.get(key)).toBeUndefined()
})

test('long answers count as several', () => {
  const { cache } = startCache(10)
  const long: DnsResult = { kind: 'answer', values: Array.from({ length: 4 }, () => 'x'.repeat(64)), ttl: 60 }
  for (const key of ['a', 'b', 'c']) cache.set(key, long)
  expect(['a', 'b', 'c'].filter((key) => cache.get(key) !== undefined)).toEqual(['b', 'c'])
  cache.set('d', { ...long, values: ['x'.repeat(65_536)] })
  expect(cache.get('d')).toBeUndefined()
  expect(cache.get('c')).toEqual(long)
})

test('a clock that is set back expires the cache', () => {
  const { cache, clock } = startCache()
  cache.set('a', listed)
  clock.advance(-1)
  expect(cache.get('a')).toBeUndefined()
  clock.advance(2)
  expect(cache.get('a')).toBeUndefined()
})

test('the least recently used entry is evicted first', () => {
  const { cache } = startCache(2)
  cache.set('a', listed)
  cache.set('b', listed)
  cache.get('a')
  cache.set('c', listed)
  expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
})
