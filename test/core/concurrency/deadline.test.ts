import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DeadlineExceeded, waitAtMost, withDeadline } from '../../../src/core/concurrency/deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})

test('withDeadline returns the result, or the error, of work that ends in time', async () => {
  await expect(withDeadline(1000, 'The run', Promise.resolve(1))).resolves.toBe(1)
  await expect(withDeadline(1000, 'The run', Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  expect(vi.getTimerCount()).toBe(0)
})

test('withDeadline rejects after the deadline, and ignores a later result', async () => {
  let fail = (_: Error) => {}
  const work = new Promise<never>((_, reject) => {
    fail = reject
  })
  const result = expect(withDeadline(2000, 'The run', work)).rejects.toThrow(
    new DeadlineExceeded('The run did not end within 2 s'),
  )
  await vi.advanceTimersByTimeAsync(2000)
  await result
  fail(new Error('too late'))
})

test('waitAtMost returns when the work has ended, even with an error', async () => {
  await waitAtMost(1000, Promise.resolve())
  await waitAtMost(1000, Promise.reject(new Error('refused')))
  expect(vi.getTimerCount()).toBe(0)
})

test('waitAtMost returns after the time limit', async () => {
  let waited = false
  const wait = waitAtMost(1000, never()).then(() => {
    waited = true
  })
  await vi.advanceTimersByTimeAsync(999)
  expect(waited).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await wait
})
