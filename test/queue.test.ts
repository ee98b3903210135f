import { describe, expect, test } from 'vitest'
import { createQueue } from '../src/queue.ts'

const done = { done: true, value: undefined }
const value = <T>(value: T) => ({ done: false, value })

describe('a queue', () => {
  test('gives what was pushed, in order, then its end', async () => {
    const queue = createQueue<number>()
    queue.push(1)
    queue.push(2)
    queue.end()
    const read: number[] = []
    for await (const each of queue) read.push(each)
    expect(read).toEqual([1, 2])
    expect(await queue.next()).toEqual(done)
  })

  test('gives readers that wait what comes, first come first served', async () => {
    const queue = createQueue<number>()
    const waiting = [queue.next(), queue.next(), queue.next()]
    queue.push(1)
    queue.push(2)
    queue.end()
    expect(await Promise.all(waiting)).toEqual([value(1), value(2), done])
  })

  test('gives undefined as a value like any other', async () => {
    const queue = createQueue<undefined>()
    const waiting = queue.next()
    queue.push(undefined)
    queue.push(undefined)
    expect(await waiting).toEqual(value(undefined))
    expect(await queue.next()).toEqual(value(undefined))
  })

  test('that is bounded drops the oldest of what waits', async () => {
    const queue = createQueue<number>(undefined, 2)
    const waiting = queue.next()
    for (const each of [1, 2, 3, 4]) queue.push(each)
    expect(await waiting).toEqual(value(1))
    expect([await queue.next(), await queue.next()]).toEqual([value(3), value(4)])
  })

  test('takes nothing after its end', async () => {
    const queue = createQueue<number>()
    queue.end()
    queue.push(1)
    queue.fail(new Error('too late'))
    expect(await queue.next()).toEqual(done)
  })
})

describe('a queue that fails', () => {
  test('gives what is in it, then the error, once', async () => {
    const queue = createQueue<number>()
    queue.push(1)
    queue.fail(new Error('broken'))
    queue.fail(new Error('again'))
    queue.end()
    expect(await queue.next()).toEqual(value(1))
    await expect(queue.next()).rejects.toThrow('broken')
    expect(await queue.next()).toEqual(done)
  })

  test('gives a reader that waits the error', async () => {
    const queue = createQueue<number>()
    const waiting = [queue.next(), queue.next()]
    queue.fail(new Error('broken'))
    await expect(waiting[0]).rejects.toThrow('broken')
    expect(await waiting[1]).toEqual(done)
    expect(await queue.next()).toEqual(done)
  })

  test('rejects nothing when nobody reads it', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown) => rejections.push(reason)
    process.on('unhandledRejection', note)
    createQueue<number>().fail(new Error('unread'))
    const left = createQueue<number>()
    left.fail(new Error('left'))
    await left.return()
    // Unhandled rejections are reported once the microtasks have run.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })
})

describe('leaving a queue', () => {
  test('releases a reader that waits, and tells so once', async () => {
    let told = 0
    const queue = createQueue<number>(() => told++)
    const waiting = queue.next()
    expect(await queue.return()).toEqual(done)
    expect(await waiting).toEqual(done)
    await queue.return()
    expect(told).toBe(1)
  })

  test('drops what is in it, and what comes', async () => {
    let told = 0
    const queue = createQueue<number>(() => told++)
    queue.push(1)
    for await (const each of queue) {
      expect(each).toBe(1)
      queue.push(2)
      break
    }
    queue.push(3)
    queue.fail(new Error('nobody is there'))
    expect(await queue.next()).toEqual(done)
    expect(told).toBe(1)
  })

  test('drops an error that was not read', async () => {
    const queue = createQueue<number>()
    queue.fail(new Error('broken'))
    await queue.return()
    expect(await queue.next()).toEqual(done)
  })

  test('after the end is nothing to tell', async () => {
    let told = 0
    const queue = createQueue<number>(() => told++)
    queue.end()
    await queue.return()
    expect(told).toBe(0)
  })
})
