import { describe, expect, test } from 'vitest'
import type { Voucher } from '../../src/monitoring/vouching.ts'
import { silentSince, unvouchedSince } from '../../src/monitoring/vouching.ts'
import { SECOND } from '../../src/time.ts'
import { noon } from '../support/context.ts'

const at = (seconds: number) => new Date(noon.getTime() + seconds * SECOND)
/** A check vouches for 60 s, and the next one may come within 130 s. */
const rhythm = { intervalSeconds: 60, timeoutMs: 10_000, graceSeconds: 0 }
const known = (seconds: number | null, unknown: number | null = null): Voucher => ({
  lastKnownAt: seconds === null ? null : at(seconds),
  unknownSince: unknown === null ? null : at(unknown),
})
const seconds = (time: Date | null) => time && (time.getTime() - noon.getTime()) / SECOND

type Case = [agreement: number | null, watches: Voucher[], now: number, unvouched: number | null, silent: number | null]

describe('what a monitor is known by', () => {
  test.each<[what: string, ...Case]>([
    ['a check that is just made', null, [known(100)], 100, null, null],
    ['a check while the next may still come', null, [known(100)], 230, null, null],
    ['a check after which none came', null, [known(100)], 231, 160, 160],
    ['a check by a clock that was set back', null, [known(100)], 50, null, null],
    ['a check that found nothing out, a short while ago', null, [known(100, 160)], 170, 160, null],
    ['checks that find nothing out, for long', null, [known(100, 160)], 231, 160, 160],
    ['a check that came too late and found nothing out', null, [known(100, 300)], 310, 160, 160],
    ['one region of two', null, [known(0), known(100)], 200, null, null],
    ['neither region of two', null, [known(0), known(100)], 300, 160, 160],
    ['no check yet, a short while after it was made', null, [known(null)], 20, -50, null],
    ['no check for long after it was made', null, [], 81, -50, -50],
    ['two regions that must agree', 2, [known(100), known(110)], 200, null, null],
    ['one of two that must agree, the other being silent', 2, [known(100), known(400)], 410, 160, 160],
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
  ])('is %s', (_what, agreement, watches, now, unvouched, silent) => {
    const monitor = { rhythm, agreement, stateSince: at(-50) }
    expect(seconds(unvouchedSince(watches, monitor, at(now)))).toBe(unvouched)
    expect(seconds(silentSince(watches, monitor, at(now), true))).toBe(silent)
  })

  test('is known no longer than a check vouches when no worker is there to make the next', () => {
    const monitor = { rhythm, agreement: null, stateSince: at(0) }
    const silent = (now: number) => seconds(silentSince([known(100)], monitor, at(now), false))
    expect([silent(160), silent(161)]).toEqual([null, 160])
  })
})
