import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTurns } from '../../src/network/turns.ts'
import { MINUTE, SECOND } from '../../src/time.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const patient = () => ({ waitMs: MINUTE, signal: new AbortController().signal })

describe('turns', () => {
  test('are so many at once, and go on in order', async () => {
    const turns = createTurns({ atOnce: 2 })
    const order: number[] = []
    const ends: (() => void)[] = []
    const work = (each: number) => () =>
      new Promise<number>((resolve) => {
        order.push(each)
        ends.push(() => resolve(each))
      })
    const all = [0, 1, 2, 3].map((each) => turns.use('a', patient(), work(each)))
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

  test('of one key keep no other waiting', () => {
    const turns = createTurns({ atOnce: 1 })
    expect(turns.take('a')).not.toBe(null)
    expect(turns.take('a')).toBe(null)
    expect(turns.take('b')).not.toBe(null)
  })

  test('that fail are over, and one is ended once', async () => {
    const turns = createTurns({ atOnce: 1 })
    await expect(turns.use('a', patient(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const end = turns.take('a')
    end?.()
    end?.()
    expect(turns.take('a')).not.toBe(null)
    expect(turns.take('a')).toBe(null)
  })

  test('are given up in time, or when the signal comes, and take nothing then', async () => {
    const turns = createTurns({ atOnce: 1 })
    const end = turns.take('a')
    const never = vi.fn()
    const { signal, abort } = (() => {
      const controller = new AbortController()
      return { signal: controller.signal, abort: () => controller.abort() }
    })()
    const late = turns.use('a', { waitMs: 100, signal: new AbortController().signal }, never)
    const left = turns.use('a', { waitMs: MINUTE, signal }, never)
    await vi.advanceTimersByTimeAsync(100)
    abort()
    expect([await late, await left]).toEqual([null, null])
    expect(await turns.use('a', { waitMs: MINUTE, signal }, never)).toBe(null)
    end?.()
    expect(never).not.toHaveBeenCalled()
    expect(turns.take('a')).not.toBe(null)
  })

  test('begin so often within any minute, and evenly once some have', async () => {
    const turns = createTurns({ atOnce: 1000, perMinute: 60 })
    const begun: number[] = []
    const work = async () => void begun.push(performance.now())
    for (let each = 0; each < 200; each += 1) void turns.use('a', { ...patient(), waitMs: 10 * MINUTE }, work)
    await vi.advanceTimersByTimeAsync(5 * MINUTE)
    expect(begun.length).toBe(200)
    for (const start of begun) {
      expect(begun.filter((at) => at >= start && at < start + MINUTE).length).toBeLessThanOrEqual(60)
    }
    const pauses = begun.map((at, index) => at - (begun[index - 1] ?? at)).slice(10)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1300)
  })

  test('say how long the minute holds them up', async () => {
    const turns = createTurns({ atOnce: 10, perMinute: 6 })
    expect(turns.pausedFor('a')).toBe(0)
    turns.take('a')?.()
    expect(turns.take('a')).toBe(null)
    const pause = turns.pausedFor('a')
    expect(pause).toBeGreaterThan(0)
    await vi.advanceTimersByTimeAsync(pause)
    expect(turns.take('a')).not.toBe(null)
  })
})
