import { describe, expect, test } from 'vitest'
import { createAsyncQueue } from '../../../src/core/concurrency/async-queue.ts'

const done = { done: true, value: undefined }
const value = <T>(value: T) => ({ done: false, value })

describe('a queue', () => {
  test('returns the pushed values in order, then ends', async () => {
    const queue = createAsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    queue.end()
    const read: number[] = []
    for await (const each of queue) read.push(each)
    expect(read).toEqual([1, 2])
    expect(await queue.next()).toEqual(done)
  })

  test('serves waiting readers in order', async () => {
    const queue = createAsyncQueue<number>()
    const waiting = [queue.next(), queue.next(), queue.next()]
    queue.push(1)
    queue.push(2)
    queue.end()
    expect(await Promise.all(waiting)).toEqual([value(1), value(2), done])
  })

  test('passes undefined as a value', async () => {
    const queue = createAsyncQueue<undefined>()
    const waiting = queue.next()
    queue.push(undefined)
    queue.push(undefined)
    expect(await waiting).toEqual(value(undefined))
    expect(await queue.next()).toEqual(value(undefined))
  })

  test('drops the oldest values above its maximum size', async () => {
    const queue = createAsyncQueue<number>(undefined, 2)
    const waiting = queue.next()
    for (const each of [1, 2, 3, 4]) queue.push(each)
    expect(await waiting).toEqual(value(1))
    expect([await queue.next(), await queue.next()]).toEqual([value(3), value(4)])
  })

  test('ignores values after its end', async () => {
    const queue = createAsyncQueue<number>()
    queue.end()
    queue.push(1)
    queue.fail(new Error('too late'))
    expect(await queue.next()).toEqual(done)
  })
})

describe('a failed queue', () => {
  test('returns the remaining values, then rejects once', async () => {
    const queue = createAsyncQueue<number>()
    queue.push(1)
    queue.fail(new Error('broken'))
    queue.fail(new Error('again'))
    queue.end()
    expect(await queue.next()).toEqual(value(1))
    await expect(queue.next()).rejects.toThrow('broken')
    expect(await queue.next()).toEqual(done)
  })

  test('rejects a waiting reader', async () => {
    const queue = createAsyncQueue<number>()
    const waiting = [queue.next(), queue.next()]
    queue.fail(new Error('broken'))
    await expect(waiting[0]).rejects.toThrow('broken')
    expect(await waiting[1]).toEqual(done)
    expect(await queue.next()).toEqual(done)
  })

  test('causes no unhandled rejection without a reader', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    createAsyncQueue<number>().fail(new Error('unread'))
    const left = createAsyncQueue<number>()
    left.fail(new Error('left'))
    await left.return()
    // Unhandled rejections are reported once the microtasks have run.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })
})

describe('returning from a queue', () => {
  test('releases a waiting reader and calls back once', async () => {
    let calls = 0
    const queue = createAsyncQueue<number>(() => calls++)
    const waiting = queue.next()
    expect(await queue.return()).toEqual(done)
    expect(await waiting).toEqual(done)
    await queue.return()
    expect(calls).toBe(1)
  })

  test('drops queued and later values', async () => {
    let calls = 0
    const queue = createAsyncQueue<number>(() => calls++)
    queue.push(1)
    for await (const each of queue) {
      expect(each).toBe(1)
      queue.push(2)
      break
    }
    queue.push(3)
    queue.fail(new Error('no one is there'))
    expect(await queue.next()).toEqual(done)
    expect(calls).toBe(1)
  })

  test('drops an unread error', async () => {
    const queue = createAsyncQueue<number>()
    queue.fail(new Error('broken'))
    await queue.return()
    expect(await queue.next()).toEqual(done)
  })

  test('does not call back after the end', async () => {
    let calls = 0
    const queue = createAsyncQueue<number>(() => calls++)
    queue.end()
    await queue.return()
    expect(calls).toBe(0)
  })
})
