import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { startDatabaseClock } from '../../src/database/database-clock.ts'
import { silent } from '../support/scratch.ts'

/** A server, a machine and its monotonic clock; each answer of the server takes 20 ms. */
function world({ systemAheadMs = 0 } = {}) {
  const start = Date.parse('2026-11-20T12:00:00Z')
  const state = { elapsedMs: 0, serverAheadMs: 0, systemAheadMs, sleptMs: 0, isDown: false, answerMs: 20 }
  const said: string[] = []
  const say = (text: unknown) => void said.push(String(text))
  const pool = {
    async query() {
      if (state.isDown) throw new Error('unreachable')
      state.elapsedMs += state.answerMs / 2
      const at = new Date(start + state.elapsedMs + state.sleptMs + state.serverAheadMs)
      state.elapsedMs += state.answerMs / 2
      return { rows: [{ at }] }
    },
  }
  const clock = async () => {
    const started = await startDatabaseClock({
      pool: pool as never,
      log: { ...silent, warn: say, info: say, debug: () => {} } as never,
      system: () => new Date(start + state.elapsedMs + state.sleptMs + state.systemAheadMs),
      monotonic: () => state.elapsedMs,
    })
    // The first periodic reading.
    await started.sync()
    return started
  }
  const right = () => new Date(start + state.elapsedMs + state.sleptMs + state.serverAheadMs)
  return { state, said, clock, right }
}

test.each([
  ['an hour ahead of', HOUR],
  ['an hour behind', -HOUR],
  ['400 days ahead of', 400 * 24 * HOUR],
])('a machine whose clock is %s the server’s uses the server’s', async (_, systemAheadMs) => {
  const { state, said, clock, right } = world({ systemAheadMs })
  const { now, stop } = await clock()
  expect(now()).toEqual(right())
  state.elapsedMs += 3 * SECOND
  expect(now()).toEqual(right())
  const seconds = Math.abs(systemAheadMs) / SECOND
  const direction = systemAheadMs > 0 ? 'ahead of' : 'behind'
  expect(said).toEqual([`database: this machine’s clock is ${seconds} s ${direction} the server’s, which counts`])
  await stop()
})

test.each([HOUR, -HOUR])('a machine’s clock that is set by %i ms and back changes nothing', async (ms) => {
  const { state, said, clock, right } = world()
  const { now, sync, stop } = await clock()
  for (const aheadMs of [ms, 0]) {
    state.systemAheadMs = aheadMs
    // The call notices it and asks the server, which takes its time.
    const expected = right()
    expect(now()).toEqual(expected)
    await sync()
    expect(now()).toEqual(right())
  }
  expect(said.at(-1)).toBe('database: this machine’s clock agrees with the server’s again')
  await stop()
})

test('a machine that slept asks the server as soon as it notices', async () => {
  const { state, clock, right } = world()
  const { now, sync, stop } = await clock()
  state.sleptMs = 10 * MINUTE
  now()
  // The call above has begun to ask.
  await sync()
  expect(now()).toEqual(right())
  await stop()
})

test.each([HOUR, -HOUR])('a server’s clock that is set by %i ms is followed', async (ms) => {
  const { state, clock, right } = world()
  const { now, sync, stop } = await clock()
  state.serverAheadMs = ms
  await sync()
  expect(now()).toEqual(right())
  await stop()
})

test('a slow answer does not move the clock, and a failed one is reported to who asked', async () => {
  const { state, clock, right } = world()
  const { now, sync, stop } = await clock()
  state.answerMs = 8 * SECOND
  state.serverAheadMs = SECOND
  await sync()
  expect(now().getTime()).toBe(right().getTime() - SECOND)
  state.isDown = true
  await expect(sync()).rejects.toThrow('unreachable')
  expect(now().getTime()).toBe(right().getTime() - SECOND)
  await stop()
})
