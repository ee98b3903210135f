import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { BUSY_AFTER_MS, STOPPED_AFTER_MS, startPollLoop, worseState } from '../../../src/core/concurrency/poll-loop.ts'

/** Longer than a test may take. */
const FOREVER = 1_000_000

/** Collects log messages. */
function messages() {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line).msg) })
  return { lines, log, failureMessage: 'the work failed' }
}

/** Work that returns these waits one by one, then one that never ends. */
const workFor = (...waits: (number | Error)[]) =>
  vi.fn(async () => {
    const wait = waits.shift() ?? FOREVER
    if (typeof wait === 'number') return wait
    throw wait
  })

test('runs at once, then after each delay the work returns', async () => {
  const work = workFor(0, 1, 0)
  const { stop } = startPollLoop(work, { retryMs: FOREVER, ...messages() })
  await vi.waitUntil(() => work.mock.calls.length === 4)
  await stop()
})

test('logs a failed run and retries', async () => {
  const { lines, log, failureMessage } = messages()
  const work = workFor(new Error('no database'), new Error('no database'))
  const { stop } = startPollLoop(work, { retryMs: 1, log, failureMessage })
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await stop()
  expect(lines).toEqual(['the work failed', 'the work failed'])
})

test('runs at once when woken, also during a run', async () => {
  const work = workFor(FOREVER, FOREVER)
  const repetition = startPollLoop(work, { retryMs: FOREVER, ...messages() })
  repetition.wake()
  await vi.waitUntil(() => work.mock.calls.length === 2)
  repetition.wake()
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await repetition.stop()
})

test('keeps the minimum pause between runs when woken', async () => {
  const work = workFor()
  const repetition = startPollLoop(work, { retryMs: FOREVER, minPauseMs: FOREVER, ...messages() })
  repetition.wake()
  await new Promise((resolve) => setImmediate(resolve))
  repetition.wake()
  await new Promise((resolve) => setImmediate(resolve))
  expect(work).toHaveBeenCalledOnce()
  await repetition.stop()
})

test('stop waits for the current run and starts no other', async () => {
  let finish = (_wait: number) => {}
  const work = vi.fn(
    () =>
      new Promise<number>((resolve) => {
        finish = resolve
      }),
  )
  const { stop } = startPollLoop(work, { retryMs: 0, ...messages() })
  const stopped = vi.fn()
  const stopping = stop().then(stopped)
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).not.toHaveBeenCalled()
  finish(0)
  await stopping
  expect(work).toHaveBeenCalledOnce()
})

test('abandons, logs and retries a run that hangs', async () => {
  const { lines, log, failureMessage } = messages()
  const hanging = () => new Promise<number>(() => {})
  const work = vi.fn(() => (work.mock.calls.length < 3 ? hanging() : Promise.resolve(FOREVER)))
  const repetition = startPollLoop(work, { retryMs: 1, timeoutMs: 5, log, failureMessage })
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await repetition.stop()
  expect(lines).toEqual(['the work failed', 'the work failed'])
})

test('reports stopped while a run hangs, failing after it failed, ok after success', async () => {
  let time = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
  let answer = (_wait: number | Promise<never>) => {}
  const work = vi.fn(
    () =>
      new Promise<number>((resolve) => {
        answer = resolve
      }),
  )
  const { state, stop } = startPollLoop(work, { retryMs: 0, ...messages() })
  expect(state()).toBe('ok')
  time += BUSY_AFTER_MS + 1
  expect(state()).toBe('busy')
  time += STOPPED_AFTER_MS - BUSY_AFTER_MS
  expect(state()).toBe('stopped')
  answer(Promise.reject(new Error('no database')))
  // Only the next run can succeed.
  await vi.waitUntil(() => work.mock.calls.length === 2)
  expect(state()).toBe('failing')
  answer(FOREVER)
  await vi.waitUntil(() => state() === 'ok')
  await stop()
  clock.mockRestore()
})

test('worseState orders the states by severity', () => {
  expect(worseState('ok', 'busy')).toBe('busy')
  expect(worseState('stopped', 'failing')).toBe('stopped')
  expect(worseState('busy', 'failing')).toBe('failing')
})

test('a health check runs the loop at once, and not again within a second', async () => {
  const work = workFor(FOREVER)
  const loop = startPollLoop(work, { retryMs: FOREVER, ...messages() })
  await loop.check()
  await loop.check()
  expect(work).toHaveBeenCalledOnce()
  const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000)
  await loop.check()
  expect(work).toHaveBeenCalledTimes(2)
  later.mockRestore()
  await loop.stop()
})

test('a health check reports busy if the run does not end', async () => {
  let finish = (_wait: number) => {}
  const work = () =>
    new Promise<number>((resolve) => {
      finish = resolve
    })
  const loop = startPollLoop(work, { retryMs: FOREVER, ...messages() })
  await loop.check()
  expect(loop.state()).toBe('busy')
  finish(FOREVER)
  await loop.stop()
})
