import { expect, test } from 'vitest'
import { createLazySource } from '../../../src/blacklist/geo/lazy-source.ts'

function unexpected(error: unknown): void {
  throw error
}

test('a source loads once, on request', async () => {
  let opened = 0
  const letters = createLazySource(async () => {
    opened++
    return (address: string) => address.length
  }, unexpected)

  await letters.idle()
  expect([letters.loaded, letters.settled, letters.lookUp('abc'), opened]).toEqual([false, false, null, 0])
  await Promise.all([letters.load(), letters.load(), letters.loadWithin(1000), letters.idle()])
  expect([letters.loaded, letters.settled, letters.lookUp('abc'), opened]).toEqual([true, true, 3, 1])
})

test('a source that cannot be loaded reports it once and returns null', async () => {
  const failures: unknown[] = []
  const missing = createLazySource<string>(
    () => Promise.reject(new Error('not there')),
    (error) => failures.push(error),
  )

  await missing.load()
  await missing.load()
  expect([missing.loaded, missing.settled, missing.lookUp('1.2.3.4')]).toEqual([false, true, null])
  expect(failures).toEqual([new Error('not there')])
})

test('a damaged source reports it once and returns null from then on', async () => {
  const failures: unknown[] = []
  const damaged = createLazySource<string>(
    async () => () => {
      throw new Error('damaged')
    },
    (error) => failures.push(error),
  )

  await damaged.load()
  expect([damaged.lookUp('1.2.3.4'), damaged.lookUp('1.2.3.4')]).toEqual([null, null])
  expect(failures).toEqual([new Error('damaged')])
})

test('loadWithin() returns before loading ends', async () => {
  const { promise, resolve } = withResolvers<(address: string) => string>()
  const slow = createLazySource(() => promise, unexpected)

  await slow.loadWithin(1)
  expect([slow.settled, slow.lookUp('1.2.3.4')]).toEqual([false, null])
  resolve(() => 'here')
  await slow.load()
  expect(slow.lookUp('1.2.3.4')).toBe('here')
})

function withResolvers<T>() {
  let resolve: (value: T) => void = unexpected
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}
