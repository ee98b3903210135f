import { expect, test } from 'vitest'
import { part } from '../../../src/blacklist/geo/part.ts'

function unexpected(error: unknown): void {
  throw error
}

test('a part loads once, and only when it is asked to', async () => {
  let opened = 0
  const letters = part(async () => {
    opened++
    return (address: string) => address.length
  }, unexpected)

  await letters.idle()
  expect([letters.loaded, letters.settled, letters.find('abc'), opened]).toEqual([false, false, null, 0])
  await Promise.all([letters.load(), letters.load(), letters.loadWithin(1000), letters.idle()])
  expect([letters.loaded, letters.settled, letters.find('abc'), opened]).toEqual([true, true, 3, 1])
})

test('a part that cannot be loaded says so once, and knows nothing', async () => {
  const failures: unknown[] = []
  const missing = part<string>(
    () => Promise.reject(new Error('not there')),
    (error) => failures.push(error),
  )

  await missing.load()
  await missing.load()
  expect([missing.loaded, missing.settled, missing.find('1.2.3.4')]).toEqual([false, true, null])
  expect(failures).toEqual([new Error('not there')])
})

test('a part that turns out to be damaged says so once, and knows nothing from then on', async () => {
  const failures: unknown[] = []
  const damaged = part<string>(
    async () => () => {
      throw new Error('damaged')
    },
    (error) => failures.push(error),
  )

  await damaged.load()
  expect([damaged.find('1.2.3.4'), damaged.find('1.2.3.4')]).toEqual([null, null])
  expect(failures).toEqual([new Error('damaged')])
})

test('waiting for a part ends before its loading does', async () => {
  const { promise, resolve } = withResolvers<(address: string) => string>()
  const slow = part(() => promise, unexpected)

  await slow.loadWithin(1)
  expect([slow.settled, slow.find('1.2.3.4')]).toEqual([false, null])
  resolve(() => 'here')
  await slow.load()
  expect(slow.find('1.2.3.4')).toBe('here')
})

function withResolvers<T>() {
  let resolve: (value: T) => void = unexpected
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
