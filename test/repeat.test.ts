import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { repeat, SLOW_TURN } from '../src/repeat.ts'

/** Longer than a test may take. */
const FOREVER = 1_000_000

/** Log lines, as their messages. */
function messages() {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line).msg) })
  return { lines, log, failed: 'the work failed' }
}

/** What answers each time with the next of some waits, and then with one that does not end. */
const workFor = (...waits: (number | Error)[]) =>
  vi.fn(async () => {
    const wait = waits.shift() ?? FOREVER
    if (typeof wait === 'number') return wait
    throw wait
  })

test('work is done at once, and again after each time it asks for', async () => {
  const work = workFor(0, 1, 0)
  const { stop } = repeat(work, { retry: FOREVER, ...messages() })
  await vi.waitUntil(() => work.mock.calls.length === 4)
  await stop()
})

test('work that fails is logged, and done again', async () => {
  const { lines, log, failed } = messages()
  const work = workFor(new Error('no database'), new Error('no database'))
  const { stop } = repeat(work, { retry: 1, log, failed })
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await stop()
  expect(lines).toEqual(['the work failed', 'the work failed'])
})

test('work is done at once when it is woken, also when that was while it ran', async () => {
  const work = workFor(FOREVER, FOREVER)
  const repetition = repeat(work, { retry: FOREVER, ...messages() })
  repetition.wake()
  await vi.waitUntil(() => work.mock.calls.length === 2)
  repetition.wake()
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await repetition.stop()
})

test('work that was just done is not woken before the least pause is over', async () => {
  const work = workFor()
  const repetition = repeat(work, { retry: FOREVER, leastPause: FOREVER, ...messages() })
  repetition.wake()
  await new Promise((resolve) => setImmediate(resolve))
  repetition.wake()
  await new Promise((resolve) => setImmediate(resolve))
  expect(work).toHaveBeenCalledOnce()
  await repetition.stop()
})

test('stopping waits for work under way, after which none is begun', async () => {
  let finish = (_wait: number) => {}
  const work = vi.fn(
    () =>
      new Promise<number>((resolve) => {
        finish = resolve
      }),
  )
  const { stop } = repeat(work, { retry: 0, ...messages() })
  const stopped = vi.fn()
  const stopping = stop().then(stopped)
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).not.toHaveBeenCalled()
  finish(0)
  await stopping
  expect(work).toHaveBeenCalledOnce()
})

test('work that hangs is given up, which the log says, and is done again', async () => {
  const { lines, log, failed } = messages()
  const hanging = () => new Promise<number>(() => {})
  const work = vi.fn(() => (work.mock.calls.length < 3 ? hanging() : Promise.resolve(FOREVER)))
  const repetition = repeat(work, { retry: 1, patience: 5, log, failed })
  await vi.waitUntil(() => work.mock.calls.length === 3)
  await repetition.stop()
  expect(lines).toEqual(['the work failed', 'the work failed'])
})

test('a loop is stopped while its work hangs, failing when that failed, and well when it is done', async () => {
  let time = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
  let answer = (_wait: number | Promise<never>) => {}
  const work = () =>
    new Promise<number>((resolve) => {
      answer = resolve
    })
  const { state, stop } = repeat(work, { retry: 0, ...messages() })
  expect(state()).toBe('ok')
  time += SLOW_TURN + 1
  expect(state()).toBe('stopped')
  answer(Promise.reject(new Error('no database')))
  await vi.waitUntil(() => state() === 'failing')
  answer(FOREVER)
  await vi.waitUntil(() => state() === 'ok')
  await stop()
  clock.mockRestore()
})
