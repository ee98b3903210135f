import { setImmediate as nextLoop } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import {
  inTurn,
  isTimeSliceOver,
  nextTimeSlice,
  yieldAfterTimeSlice,
} from '../../../src/core/concurrency/time-slice.ts'

afterEach(() => void vi.useRealTimers())

/** Stops the clock where it is: a slice that the work of an earlier test has begun must not lie ahead. */
function stopClock(): void {
  const now = performance.now()
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(now)
}

/** Keeps the thread busy for longer than a time slice. */
function work(): void {
  while (!isTimeSliceOver());
}

test('long work yields to other owners', async () => {
  const owner = {}
  let others = 0
  const other = setInterval(() => (others += 1), 0)
  for (let part = 0; part < 20; part++) {
    await yieldAfterTimeSlice(owner)
    work()
  }
  clearInterval(other)
  expect(others).toBeGreaterThan(5)
})

test('short work continues at once', async () => {
  await nextLoop()
  let over = false
  setImmediate(() => (over = true))
  await yieldAfterTimeSlice({})
  expect(over).toBe(false)
})

test('an owner with much work delays another by a single slice', async () => {
  const [one, other] = [{}, {}]
  const done: string[] = []
  const part = (name: string) => () => {
    done.push(name)
    work()
  }
  const parts = Array.from({ length: 10 }, () => nextTimeSlice(one).then(part('one')))
  await nextTimeSlice(other).then(part('other'))
  expect(done.indexOf('other')).toBeLessThan(3)
  await Promise.all(parts)
  expect(done).toHaveLength(11)
})

test('microtasks of one owner run before the next owner’s slice', async () => {
  const owner = {}
  const done: number[] = []
  const parts = Array.from({ length: 5 }, async (_, index) => {
    await nextTimeSlice(owner)
    await Promise.resolve()
    await Promise.resolve()
    done.push(index, index)
  })
  await Promise.all(parts)
  expect(done).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
})

test('an owner continues with short pieces before the next long one of another', async () => {
  stopClock()
  const done: string[] = []
  const pieces = (name: string, ms: number) =>
    Array.from({ length: 3 }, async () => {
      await nextTimeSlice(name)
      done.push(name)
      vi.advanceTimersByTime(ms)
    })
  await Promise.all([...pieces('long', 20), ...pieces('short', 0)])
  expect(done).toEqual(['long', 'short', 'short', 'short', 'long', 'long'])
})

test('what arrives between slices has one of its own, although others wait', async () => {
  stopClock()
  const done: string[] = []
  const waits = Array.from({ length: 3 }, async () => {
    await nextTimeSlice('one')
    done.push('one')
    vi.advanceTimersByTime(20)
    // As a request that the event loop finds after the slice.
    if (done.length === 1)
      setTimeout(
        () =>
          inTurn(
            () => 'other',
            () => done.push('other'),
          ),
        0,
      )
  })
  await Promise.all(waits)
  expect(done.indexOf('other')).toBeLessThan(3)
})

test('work is done at once unless the slice is over or earlier work of its owner waits', async () => {
  await nextLoop()
  stopClock()
  const done: string[] = []
  const does = (owner: string, text: string) =>
    inTurn(
      () => owner,
      () => done.push(text),
    )
  does('a', 'first')
  expect(done).toEqual(['first'])
  vi.advanceTimersByTime(9)
  does('a', 'second')
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      // The next slice has begun, but not with the second piece yet.
      does('a', 'third')
      does('b', 'fourth')
      resolve()
    })
    does('a', 'late')
  })
  await vi.waitUntil(() => done.length === 5)
  expect(done.filter((text) => text !== 'fourth')).toEqual(['first', 'second', 'late', 'third'])
})

test('what an owner has begun comes before what it has not, and waits for nothing else while the slice lasts', async () => {
  await nextLoop()
  stopClock()
  const done: string[] = []
  const request = (name: string) =>
    inTurn(
      () => 'owner',
      () => {
        done.push(`${name} parses`)
        vi.advanceTimersByTime(5)
        void Promise.resolve().then(() =>
          inTurn(
            () => 'owner',
            () => {
              done.push(`${name} answers`)
              vi.advanceTimersByTime(5)
            },
          ),
        )
      },
      'new',
    )
  // The slice is over, so all of them wait.
  isTimeSliceOver()
  vi.advanceTimersByTime(9)
  for (const name of ['a', 'b', 'c']) request(name)
  await vi.waitUntil(() => done.length === 6)
  expect(done).toEqual(['a parses', 'a answers', 'b parses', 'b answers', 'c parses', 'c answers'])
})
