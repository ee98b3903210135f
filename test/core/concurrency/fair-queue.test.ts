import { expect, test } from 'vitest'
import { createFairQueue } from '../../../src/core/concurrency/fair-queue.ts'

function queueOf(...items: readonly string[]) {
  const queue = createFairQueue<string, string>()
  for (const item of items) queue.add(item.charAt(0), item)
  return queue
}

test('owners take turns, each with its items in order', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'b2')
  expect(Array.from({ length: 7 }, () => queue.next())).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined])
})

test('an owner that comes back waits behind the others', () => {
  const queue = queueOf('a1', 'b1', 'c1')
  expect(queue.next()).toBe('a1')
  queue.add('a', 'a2')
  expect([queue.next(), queue.next(), queue.next()]).toEqual(['b1', 'c1', 'a2'])
})

test('items are counted, in total and per owner', () => {
  const queue = queueOf('a1', 'a2', 'b1')
  queue.next()
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b'), queue.sizeOf('c')]).toEqual([2, 1, 1, 0])
  expect(queue.clear().sort()).toEqual(['a2', 'b1'])
  expect([queue.size, queue.sizeOf('a'), queue.next()]).toEqual([0, 0, undefined])
})

test('an owner that may not have a turn keeps its place', () => {
  const queue = queueOf('a1', 'b1', 'a2', 'b2')
  expect(queue.next((owner) => owner !== 'a')).toBe('b1')
  expect(queue.next(() => false)).toBeUndefined()
  expect([queue.next(), queue.next(), queue.next()]).toEqual(['a1', 'b2', 'a2'])
})

test('an owner may go on, after which all others have their turn', () => {
  const queue = queueOf('a1', 'a2', 'a3', 'b1')
  expect([queue.next(), queue.nextOf('a'), queue.nextOf('c'), queue.next(), queue.next()]).toEqual([
    ...['a1', 'a2', undefined],
    ...['b1', 'a3'],
  ])
  expect([queue.size, queue.nextOf('a')]).toEqual([0, undefined])
})

test('an owner’s first items come before its others, but not before those of other owners', () => {
  const queue = queueOf('a1', 'b1', 'a2')
  queue.add('a', 'a3', true)
  queue.add('a', 'a4', true)
  expect([queue.firstOf('a'), queue.sizeOf('a'), queue.firstOf('b'), queue.size]).toEqual([2, 4, 0, 5])
  expect(Array.from({ length: 4 }, () => queue.next())).toEqual(['a3', 'b1', 'a4', 'a1'])
  queue.add('a', 'a5', true)
  expect(queue.clear()).toEqual(['a5', 'a2'])
})
