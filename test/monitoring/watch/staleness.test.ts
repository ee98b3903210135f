import { describe, expect, test } from 'vitest'
import { SECOND } from '../../../src/core/time.ts'
import type { WatchFreshness } from '../../../src/monitoring/watch/staleness.ts'
import { freshUntil, isFresh, staleSince, unknownTimeBefore } from '../../../src/monitoring/watch/staleness.ts'
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

describe('the unknown time before a known result', () => {
  test.each<
    [
      what: string,
      agreement: number | null,
      own: WatchFreshness,
      others: WatchFreshness[],
      now: number,
      from: number | null,
    ]
  >([
    ['a result in time', null, known(0), [], 60, null],
    ['a result that is a little late', null, known(0), [], 130, null],
    ['a result that is too late', null, known(0), [], 131, 60],
    ['a result after an UNKNOWN one in time', null, known(0, 40), [], 70, 40],
    ['a result after an UNKNOWN one that was too late', null, known(0, 100), [], 110, 60],
    ['a result after an UNKNOWN one before the last known, as the clock was set back', null, known(50, 40), [], 70, 50],
    ['the first result', null, known(null), [], 500, null],
    ['the first result of a region beside a stale one', null, known(null), [known(0)], 500, 60],
    ['a late result beside a fresh region', null, known(0), [known(400)], 500, null],
    ['a late result beside a region that was stale later', null, known(0), [known(200)], 500, 260],
    ['a late result beside a region that has never reported', null, known(0), [known(null)], 500, 60],
    ['a result at the end of the fresh time', null, known(0, 60), [], 60, null],
    ['one of two that must agree, beside a fresh one', 2, known(0), [known(450)], 500, 60],
    ['one of two that must agree, beside a stale one', 2, known(0), [known(100)], 500, null],
    ['one of two that must agree, beside one that is unknown', 2, known(0), [known(450, 470)], 500, null],
    ['one of two that must agree, without the other', 2, known(0), [], 500, null],
    ['the first of two that must agree', 2, known(null), [known(450)], 500, null],
    ['one of two that must agree, beside two fresh ones', 2, known(0), [known(450), known(460)], 500, null],
    ['one of three that must agree, beside two fresh ones', 3, known(100), [known(450), known(460)], 500, 160],
    ['one of three that must agree, beside one fresh one', 3, known(100), [known(450), known(0)], 500, null],
  ])('%s', (_what, agreement, own, others, now, from) => {
    const gap = unknownTimeBefore(at(now), own, others, { schedule, agreement })
    expect(gap).toEqual(from === null ? null : { startedAt: at(from), endedAt: at(now) })
  })

  test('exists only after a result that is not fresh', () => {
    const ages = [known(0), known(0, 10), known(null), known(-71)]
    expect(ages.map((watch) => isFresh(watch, schedule, at(60)))).toEqual([true, false, false, false])
  })
})
