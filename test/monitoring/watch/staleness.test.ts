import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { WatchFreshness } from '../../../src/monitoring/watch/staleness.ts'
import { freshUntil, staleSince } from '../../../src/monitoring/watch/staleness.ts'
import { noon } from '../../support/context.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
/** The schedule of a monitor whose results are fresh for 60 s and stale after 130 s. */
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
    ['a new result', null, [known(100)], 100, null, null],
    ['a result while the next one may still arrive', null, [known(100)], 230, null, null],
    ['a result without a next one', null, [known(100)], 231, 160, 160],
    ['a result before the clock was set back', null, [known(100)], 50, null, null],
    ['a recent UNKNOWN result', null, [known(100, 160)], 170, 160, null],
    ['UNKNOWN results for a long time', null, [known(100, 160)], 231, 160, 160],
    ['an UNKNOWN result that was too late', null, [known(100, 300)], 310, 160, 160],
    ['one fresh region of two', null, [known(0), known(100)], 200, null, null],
    ['no fresh region of two', null, [known(0), known(100)], 300, 160, 160],
    ['no result yet, soon after the monitor was created', null, [known(null)], 20, -50, null],
    ['no result long after the monitor was created', null, [], 81, -50, -50],
    ['two regions that must agree', 2, [known(100), known(110)], 200, null, null],
    ['one of two regions that must agree; the other is stale', 2, [known(100), known(400)], 410, 160, 160],
    ['one of two regions that must agree; the other is UNKNOWN', 2, [known(100, 160), known(200)], 210, 160, null],
    ['one of two regions that must agree; there is no other', 2, [known(400)], 410, -50, -50],
    ['two of three regions, of which two must agree', 2, [known(0), known(400), known(390)], 410, null, null],
  ])('with %s', (_what, agreement, watches, now, freshEnd, stale) => {
    const monitor = { schedule, agreement, stateSince: at(-50) }
    expect(seconds(freshUntil(watches, monitor, at(now)))).toBe(freshEnd)
    expect(seconds(staleSince(watches, monitor, at(now), true))).toBe(stale)
  })

  test('starts when the last result is no longer fresh and no worker is running', () => {
    const monitor = { schedule, agreement: null, stateSince: at(0) }
    const stale = (now: number) => seconds(staleSince([known(100)], monitor, at(now), false))
    expect([stale(160), stale(161)]).toEqual([null, 160])
  })
})
