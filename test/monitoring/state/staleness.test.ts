import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { WatchFreshness } from '../../../src/monitoring/state/staleness.ts'
import { freshUntil, staleSince } from '../../../src/monitoring/state/staleness.ts'
import { noon } from '../../support/context.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
/** A result is fresh for 60 s, and stale after 130 s. */
const schedule = { intervalSeconds: 60, timeoutMs: 10_000, graceSeconds: 0, cron: null, maxRunSeconds: null }
const known = (seconds: number | null, unknown: number | null = null): WatchFreshness => ({
  lastKnownAt: seconds === null ? null : at(seconds),
  unknownSince: unknown === null ? null : at(unknown),
})
const seconds = (time: Date | null) => time && (time.getTime() - noon.getTime()) / SECOND

type Case = [
  agreement: number | null,
  watches: WatchFreshness[],
  now: number,
  freshEnd: number | null,
  stale: number | null,
]

describe('the staleness of a monitor', () => {
  test.each<[what: string, ...Case]>([
    ['a check that is just made', null, [known(100)], 100, null, null],
    ['a check while the next may still come', null, [known(100)], 230, null, null],
    ['a check after which none came', null, [known(100)], 231, 160, 160],
    ['a check by a clock that was set back', null, [known(100)], 50, null, null],
    ['a check that found nothing out, a short while ago', null, [known(100, 160)], 170, 160, null],
    ['unknown results for long', null, [known(100, 160)], 231, 160, 160],
    ['a check that came too late and found nothing out', null, [known(100, 300)], 310, 160, 160],
    ['one region of two', null, [known(0), known(100)], 200, null, null],
    ['neither region of two', null, [known(0), known(100)], 300, 160, 160],
    ['no check yet, a short while after it was made', null, [known(null)], 20, -50, null],
    ['no check for long after it was made', null, [], 81, -50, -50],
    ['two regions that must agree', 2, [known(100), known(110)], 200, null, null],
    ['one of two that must agree, the other being stale', 2, [known(100), known(400)], 410, 160, 160],
    [
      'one of two that must agree, the other having found nothing out',
      2,
      [known(100, 160), known(200)],
      210,
      160,
      null,
    ],
    ['one of two that must agree, and no other', 2, [known(400)], 410, -50, -50],
    ['two of three of which two must agree', 2, [known(0), known(400), known(390)], 410, null, null],
  ])('is %s', (_what, agreement, watches, now, freshEnd, stale) => {
    const monitor = { schedule, agreement, stateSince: at(-50) }
    expect(seconds(freshUntil(watches, monitor, at(now)))).toBe(freshEnd)
    expect(seconds(staleSince(watches, monitor, at(now), true))).toBe(stale)
  })

  test('begins when the last result is no longer fresh and no worker is running', () => {
    const monitor = { schedule, agreement: null, stateSince: at(0) }
    const stale = (now: number) => seconds(staleSince([known(100)], monitor, at(now), false))
    expect([stale(160), stale(161)]).toEqual([null, 160])
  })
})
