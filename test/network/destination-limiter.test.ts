import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { createDestinationLimiter } from '../../src/network/destination-limiter.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const patient = () => ({ waitMs: MINUTE, signal: new AbortController().signal })

describe('the destination limiter', () => {
  test('limits concurrency, and admits in order', async () => {
    const turns = createDestinationLimiter({ atOnce: 2 })
    const order: number[] = []
    const ends: (() => void)[] = []
    const work = (each: number) => () =>
      new Promise<number>((resolve) => {
        order.push(each)
        ends.push(() => resolve(each))
      })
    const all = [0, 1, 2, 3].map((each) => turns.run('a', patient(), work(each)))
    await vi.advanceTimersByTimeAsync(SECOND)
    expect(order).toEqual([0, 1])
    ends[1]?.()
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual([0, 1, 2])
    for (let end = 0; end < 4; end += 1) {
      ends[end]?.()
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3])
  })

  test('lets other keys pass', () => {
    const turns = createDestinationLimiter({ atOnce: 1 })
    expect(turns.tryAcquire('a')).not.toBe(null)
    expect(turns.tryAcquire('a')).toBe(null)
    expect(turns.tryAcquire('b')).not.toBe(null)
  })

  test('releases failed work, and releases it only once', async () => {
    const turns = createDestinationLimiter({ atOnce: 1 })
    await expect(turns.run('a', patient(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const end = turns.tryAcquire('a')
    end?.()
    end?.()
    expect(turns.tryAcquire('a')).not.toBe(null)
    expect(turns.tryAcquire('a')).toBe(null)
  })

  test('stops waiting at the timeout or on abort, and does not run the work', async () => {
    const turns = createDestinationLimiter({ atOnce: 1 })
    const end = turns.tryAcquire('a')
    const never = vi.fn()
    const { signal, abort } = (() => {
      const controller = new AbortController()
      return { signal: controller.signal, abort: () => controller.abort() }
    })()
    const late = turns.run('a', { waitMs: 100, signal: new AbortController().signal }, never)
    const left = turns.run('a', { waitMs: MINUTE, signal }, never)
    await vi.advanceTimersByTimeAsync(100)
    abort()
    expect([await late, await left]).toEqual([null, null])
    expect(await turns.run('a', { waitMs: MINUTE, signal }, never)).toBe(null)
    end?.()
    expect(never).not.toHaveBeenCalled()
    expect(turns.tryAcquire('a')).not.toBe(null)
  })

  test('limits starts within any minute, evenly after a burst', async () => {
    const turns = createDestinationLimiter({ atOnce: 1000, perMinute: 60 })
    const begun: number[] = []
    const work = async () => void begun.push(performance.now())
    for (let each = 0; each < 200; each += 1) void turns.run('a', { ...patient(), waitMs: 10 * MINUTE }, work)
    await vi.advanceTimersByTimeAsync(5 * MINUTE)
    expect(begun.length).toBe(200)
    for (const start of begun) {
      expect(begun.filter((at) => at >= start && at < start + MINUTE).length).toBeLessThanOrEqual(60)
    }
    const pauses = begun.map((at, index) => at - (begun[index - 1] ?? at)).slice(10)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1300)
  })

  test('reports when the limit per minute admits work again', async () => {
    const turns = createDestinationLimiter({ atOnce: 10, perMinute: 6 })
    expect(turns.msUntilFree('a')).toBe(0)
    turns.tryAcquire('a')?.()
    expect(turns.tryAcquire('a')).toBe(null)
    const pause = turns.msUntilFree('a')
    expect(pause).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(pause)
    expect(turns.tryAcquire('a')).not.toBe(null)
  })

  test('gives an owner whose work hangs half, and lets others pass those who wait for him', async () => {
    const turns = createDestinationLimiter({ atOnce: 4 })
    const begun: string[] = []
    const hang = (name: string) => () => new Promise<void>(() => void begun.push(name))
    for (let each = 0; each < 5; each += 1) void turns.run('a', { ...patient(), owner: 'greedy' }, hang('greedy'))
    void turns.run('a', { ...patient(), owner: 'other' }, hang('other'))
    expect(turns.tryAcquire('a', 'third')).not.toBe(null)
    expect(turns.tryAcquire('a', 'fourth'), 'all are taken').toBe(null)
    await vi.advanceTimersByTimeAsync(SECOND)
    expect(begun).toEqual(['greedy', 'greedy', 'other'])
  })

  test('gives an owner half of the starts of a minute, and the others the rest', async () => {
    const turns = createDestinationLimiter({ atOnce: 1000, perMinute: 60 })
    const begun: string[] = []
    const start = (owner: string) =>
      turns.run('a', { ...patient(), waitMs: 10 * MINUTE, owner }, async () => void begun.push(owner))
    for (let each = 0; each < 200; each += 1) void start('greedy')
    for (let each = 0; each < 20; each += 1) void start('other')
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(begun.filter((owner) => owner === 'greedy').length).toBeLessThanOrEqual(30)
    expect(begun.filter((owner) => owner === 'other').length).toBe(20)
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(begun.length).toBe(220)
    expect(turns.msUntilFree('a', 'third')).toBe(0)
  })

  test('work that an owner is refused uses up nothing of the others', () => {
    const turns = createDestinationLimiter({ atOnce: 1000, perMinute: 60 })
    for (let each = 0; each < 100; each += 1) turns.tryAcquire('a', 'greedy')?.()
    const admitted = Array.from({ length: 100 }, () => turns.tryAcquire('a', 'other')).filter((end) => end !== null)
    expect(admitted.length).toBe(5)
  })
})
