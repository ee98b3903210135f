import { describe, expect, test } from 'vitest'
import { DatabaseUnavailable, NotFound } from '../../src/core/errors.ts'
import { MINUTE } from '../../src/core/time.ts'
import { createLogCache } from '../../src/event-log/log-cache.ts'

interface Value {
  readonly organizationId: string | null
  readonly text: string
}

function givenCache({ maxSize = 100 } = {}) {
  let time = 0
  let made = 0
  const cache = createLogCache<Value>({ maxSize, sizeOf: () => 1, now: () => new Date(time) })
  return {
    cache,
    made: () => made,
    pass: (milliseconds: number) => {
      time += milliseconds
    },
    get: (key: string, organizationId: string | null = 'acme') =>
      cache.get(key, async () => ({ organizationId, text: `${key} ${++made}` })),
  }
}

/** A value that the test resolves. */
function slow() {
  let give: (text: string) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const promise = new Promise<Value>((resolve, reject) => {
    give = (text) => resolve({ organizationId: 'acme', text })
    fail = reject
  })
  return { make: () => promise, give, fail }
}

describe('a cached value', () => {
  test('is loaded once while the log does not grow', async () => {
    const { get, made } = givenCache()
    expect((await get('page')).text).toBe('page 1')
    expect((await get('page')).text).toBe('page 1')
    expect(made()).toBe(1)
  })

  test('is reloaded when its log grows, but not when other logs grow', async () => {
    const { cache, get } = givenCache()
    await get('page')
    await get('other', 'other')
    cache.invalidate('acme')
    expect((await get('page')).text).toBe('page 3')
    expect((await get('other', 'other')).text).toBe('other 2')
  })

  test('is reloaded after an invalidation of all logs', async () => {
    const { cache, get } = givenCache()
    await get('page')
    cache.invalidate(null)
    expect((await get('page')).text).toBe('page 2')
  })

  test('is reloaded after a minute', async () => {
    const { get, pass } = givenCache()
    await get('page')
    pass(MINUTE - 1)
    expect((await get('page')).text).toBe('page 1')
    pass(1)
    expect((await get('page')).text).toBe('page 2')
  })

  test('is reloaded after the clock was set back', async () => {
    const { get, pass } = givenCache()
    await get('page')
    pass(-60 * MINUTE)
    expect((await get('page')).text).toBe('page 2')
    expect((await get('page')).text).toBe('page 2')
  })

  test('without an organization is reloaded when any log grows, because the organization may exist now', async () => {
    const { cache, get } = givenCache()
    await get('host', null)
    cache.invalidate('acme')
    expect((await get('host', null)).text).toBe('host 2')
  })

  test('is loaded once for concurrent callers', async () => {
    const { cache } = givenCache()
    const first = slow()
    const never = () => Promise.reject(new Error('The value was loaded twice.'))
    const asked = [cache.get('page', first.make), cache.get('page', never)]
    first.give('one')
    expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(['one', 'one'])
  })

  test('is neither cached nor shared with later callers when its log grew during the load', async () => {
    const { cache } = givenCache()
    const [before, after] = [slow(), slow()]
    const early = cache.get('page', before.make)
    cache.invalidate('acme')
    const late = cache.get('page', after.make)
    after.give('new')
    expect((await late).text).toBe('new')
    before.give('old')
    expect((await early).text).toBe('old')
    expect((await cache.get('page', slow().make)).text).toBe('new')
  })

  test('is cached when another log grew during the load', async () => {
    const { cache } = givenCache()
    const making = slow()
    const asked = cache.get('page', making.make)
    cache.invalidate('other')
    making.give('one')
    await asked
    expect((await cache.get('page', slow().make)).text).toBe('one')
  })

  test('is loaded again after an error', async () => {
    const { cache, get } = givenCache()
    const failing = slow()
    const asked = [cache.get('page', failing.make), cache.get('page', failing.make)]
    failing.fail(new Error('No such page.'))
    for (const each of asked) await expect(each).rejects.toThrow('No such page.')
    expect((await get('page')).text).toBe('page 1')
  })

  test('is evicted when the cache is full, least recently used first', async () => {
    const { get, cache } = givenCache({ maxSize: 2 })
    await get('a')
    await get('b')
    await get('a')
    await get('c')
    expect((await get('a')).text).toBe('a 1')
    expect((await get('b')).text).toBe('b 4')
    cache.invalidate('acme')
    expect((await get('b')).text).toBe('b 5')
  })
})

describe('a stale value', () => {
  const away = () => Promise.reject(new DatabaseUnavailable())
  const makes = (text: string) => async () => ({ organizationId: 'acme', text })

  test.each(['acme', null])(
    'is returned while the database is unavailable, after the log of %s has grown',
    async (moved) => {
      const { cache, pass } = givenCache()
      await cache.getOrStale('page', makes('one'))
      pass(5000)
      cache.invalidate(moved)
      expect(await cache.getOrStale('page', away)).toMatchObject({ value: { text: 'one' }, asOf: new Date(0) })
      expect(await cache.getOrStale('page', makes('two'))).toMatchObject({ value: { text: 'two' }, asOf: null })
    },
  )

  test('may come from a load during which the log grew, unless a newer value exists', async () => {
    const { cache, pass } = givenCache()
    const { make, give } = slow()
    const making = cache.getOrStale('page', make)
    cache.invalidate('acme')
    give('old')
    await making
    expect(await cache.getOrStale('page', away)).toMatchObject({ value: { text: 'old' }, asOf: new Date(0) })
    const other = slow()
    const second = cache.getOrStale('page', other.make)
    cache.invalidate('acme')
    pass(1)
    await cache.getOrStale('page', makes('new'))
    other.give('older')
    await second
    expect((await cache.getOrStale('page', away)).value.text).toBe('new')
  })

  test('is not returned for other errors', async () => {
    const { cache } = givenCache()
    await expect(cache.getOrStale('page', away)).rejects.toThrow(DatabaseUnavailable)
    await cache.getOrStale('page', makes('one'))
    cache.invalidate('acme')
    await expect(cache.getOrStale('page', () => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug')
  })

  test('is deleted after NotFound', async () => {
    const { cache } = givenCache()
    await cache.getOrStale('page', makes('one'))
    cache.invalidate('acme')
    await expect(cache.getOrStale('page', () => Promise.reject(new NotFound('Gone.')))).rejects.toThrow(NotFound)
    await expect(cache.getOrStale('page', away)).rejects.toThrow(DatabaseUnavailable)
  })
})
