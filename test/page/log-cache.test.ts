import { describe, expect, test } from 'vitest'
import { DatabaseUnavailable, NotFound } from '../../src/errors.ts'
import { createLogCache } from '../../src/page/log-cache.ts'
import { MINUTE } from '../../src/time.ts'

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

/** A value that is given when the test says so. */
function slow() {
  let give: (text: string) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const promise = new Promise<Value>((resolve, reject) => {
    give = (text) => resolve({ organizationId: 'acme', text })
    fail = reject
  })
  return { make: () => promise, give, fail }
}

describe('what is made of an organization’s state', () => {
  test('is made once while the log stands still', async () => {
    const { get, made } = givenCache()
    expect((await get('page')).text).toBe('page 1')
    expect((await get('page')).text).toBe('page 1')
    expect(made()).toBe(1)
  })

  test('is made anew when the log moves, and that of others is not', async () => {
    const { cache, get } = givenCache()
    await get('page')
    await get('other', 'other')
    cache.forget('acme')
    expect((await get('page')).text).toBe('page 3')
    expect((await get('other', 'other')).text).toBe('other 2')
  })

  test('is made anew when any log may have moved', async () => {
    const { cache, get } = givenCache()
    await get('page')
    cache.forget(null)
    expect((await get('page')).text).toBe('page 2')
  })

  test('is made anew after a minute, for it depends on the time of day', async () => {
    const { get, pass } = givenCache()
    await get('page')
    pass(MINUTE - 1)
    expect((await get('page')).text).toBe('page 1')
    pass(1)
    expect((await get('page')).text).toBe('page 2')
  })

  test('of no organization is made anew when any log moves: it may be somebody’s now', async () => {
    const { cache, get } = givenCache()
    await get('host', null)
    cache.forget('acme')
    expect((await get('host', null)).text).toBe('host 2')
  })

  test('is made once for all who ask meanwhile', async () => {
    const { cache } = givenCache()
    const first = slow()
    const never = () => Promise.reject(new Error('It was made twice.'))
    const asked = [cache.get('page', first.make), cache.get('page', never)]
    first.give('one')
    expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(['one', 'one'])
  })

  test('is not kept, nor given to who asks later, when the log moved while it was made', async () => {
    const { cache } = givenCache()
    const [before, after] = [slow(), slow()]
    const early = cache.get('page', before.make)
    cache.forget('acme')
    const late = cache.get('page', after.make)
    after.give('new')
    expect((await late).text).toBe('new')
    before.give('old')
    expect((await early).text).toBe('old')
    expect((await cache.get('page', slow().make)).text).toBe('new')
  })

  test('is kept when another log moved while it was made', async () => {
    const { cache } = givenCache()
    const making = slow()
    const asked = cache.get('page', making.make)
    cache.forget('other')
    making.give('one')
    await asked
    expect((await cache.get('page', slow().make)).text).toBe('one')
  })

  test('that could not be made is tried again', async () => {
    const { cache, get } = givenCache()
    const failing = slow()
    const asked = [cache.get('page', failing.make), cache.get('page', failing.make)]
    failing.fail(new Error('No such page.'))
    for (const each of asked) await expect(each).rejects.toThrow('No such page.')
    expect((await get('page')).text).toBe('page 1')
  })

  test('goes when there is more than fits, the longest unused first', async () => {
    const { get, cache } = givenCache({ maxSize: 2 })
    await get('a')
    await get('b')
    await get('a')
    await get('c')
    expect((await get('a')).text).toBe('a 1')
    expect((await get('b')).text).toBe('b 4')
    cache.forget('acme')
    expect((await get('b')).text).toBe('b 5')
  })
})

describe('what was last known', () => {
  const away = () => Promise.reject(new DatabaseUnavailable())
  const makes = (text: string) => async () => ({ organizationId: 'acme', text })

  test.each(['acme', null])('is given while the database is away, after the log of %s has moved', async (moved) => {
    const { cache, pass } = givenCache()
    await cache.getOrLast('page', makes('one'))
    pass(5000)
    cache.forget(moved)
    expect(await cache.getOrLast('page', away)).toMatchObject({ value: { text: 'one' }, asOf: new Date(0) })
    expect(await cache.getOrLast('page', makes('two'))).toMatchObject({ value: { text: 'two' }, asOf: null })
  })

  test('is also what was being made when its log moved, unless something newer is known', async () => {
    const { cache, pass } = givenCache()
    const { make, give } = slow()
    const making = cache.getOrLast('page', make)
    cache.forget('acme')
    give('old')
    await making
    expect(await cache.getOrLast('page', away)).toMatchObject({ value: { text: 'old' }, asOf: new Date(0) })
    const other = slow()
    const second = cache.getOrLast('page', other.make)
    cache.forget('acme')
    pass(1)
    await cache.getOrLast('page', makes('new'))
    other.give('older')
    await second
    expect((await cache.getOrLast('page', away)).value.text).toBe('new')
  })

  test('is not given for any other error, nor when nothing is known', async () => {
    const { cache } = givenCache()
    await expect(cache.getOrLast('page', away)).rejects.toThrow(DatabaseUnavailable)
    await cache.getOrLast('page', makes('one'))
    cache.forget('acme')
    await expect(cache.getOrLast('page', () => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug')
  })

  test('is forgotten once there is no such thing any more', async () => {
    const { cache } = givenCache()
    await cache.getOrLast('page', makes('one'))
    cache.forget('acme')
    await expect(cache.getOrLast('page', () => Promise.reject(new NotFound('Gone.')))).rejects.toThrow(NotFound)
    await expect(cache.getOrLast('page', away)).rejects.toThrow(DatabaseUnavailable)
  })
})
