import { setImmediate as nextLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isTimeSliceOver, nextTimeSlice, yieldAfterTimeSlice } from '../../../src/core/concurrency/time-slice.ts'

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
