import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { serviceStretches } from '../../src/monitoring/uptime/service-stretches.ts'
import type { Condition, MonitorHistory, Span, Tally } from '../../src/monitoring/uptime/uptime.ts'
import { stretches, sumOf, tallies, tally } from '../../src/monitoring/uptime/uptime.ts'
import { daySpans } from '../../src/monitoring/uptime/uptime-days.ts'
import { hourSpans, inBars, rangesOf } from '../../src/monitoring/uptime/uptime-range.ts'
import { incidentsOf, parseDay, stretchesOf } from '../../src/status-page/service-day.ts'

const time = (text: string) => new Date(`${text}Z`)
const hours = ({ from, to }: Span) => (+to - +from) / HOUR

describe('the last 24 hours', () => {
  test.each([
    ['UTC', '2026-11-20T12:30', 25, ['2026-11-19T12:30', '2026-11-19T13:00']],
    ['UTC', '2026-11-20T12:00', 24, ['2026-11-19T12:00', '2026-11-19T13:00']],
    // Hours begin at half past in UTC.
    ['Asia/Kolkata', '2026-11-20T12:00', 25, ['2026-11-19T12:00', '2026-11-19T12:30']],
    ['Asia/Kathmandu', '2026-11-20T12:15', 24, ['2026-11-19T12:15', '2026-11-19T13:15']],
  ])('in %s at %s are %i spans', (zone, now, count, starts) => {
    const spans = hourSpans(zone, time(now))
    expect(spans).toHaveLength(count)
    expect(spans.slice(0, 2).map(({ from }) => from)).toEqual(starts.map(time))
    expect(spans.at(-1)?.to).toEqual(time(now))
    expect(spans.reduce((sum, span) => sum + hours(span), 0)).toBe(24)
  })
})

test.each([
  ['FREE', ['24h', '7d', '30d']],
  ['PRO', ['24h', '7d', '30d', '90d', 'year']],
  ['TEAM', ['24h', '7d', '30d', '90d', 'year']],
] as const)('the tier %s shows %j', (tier, ranges) => {
  expect(rangesOf(tier)).toEqual(ranges)
})

test.each([
  // Berlin changes its clocks on 25 October and 29 March; in Santiago, 6 September begins at 01:00.
  ['Europe/Berlin', '2026-10-27T00:00', 2, 25],
  ['Europe/Berlin', '2026-03-31T00:00', 2, 23],
  ['America/Santiago', '2026-09-08T12:00', 2, 23],
])('a day of %s that ends before %s has its hours', (timeZone, now, ago, length) => {
  const spans = daySpans({ timeZone, tier: 'PRO' }, 7, time(now))
  expect(spans.map(hours).at(-1 - ago)).toBe(length)
})

test.each([
  ['2026-11-20', undefined, '2026-11-20T00:00', 1],
  ['2024-02-29', '1', '2024-02-29T00:00', 1],
  ['2026-11-20', '7', '2026-11-20T00:00', 7],
])('%s for %s days is a day', (day, days, parsed, count) => {
  expect(parseDay(day, days)).toEqual({ day: time(parsed), days: count })
})

const notDays = [
  '',
  '2026-02-29',
  '2026-13-01',
  '2026-1-1',
  '0026-11-20',
  '20261120',
  '2026-11-20T00',
  '-2026-11-20',
  '\u0662026-11-20',
]

test.each([...notDays.map((day) => [day, '1']), ...['2', '07', ''].map((days) => ['2026-11-20', days])])(
  '%j for %j days is invalid',
  (day = '', days) => {
    expect(parseDay(day, days)).toBeNull()
  },
)

describe('the list of a day', () => {
  const [from, to] = [time('2026-11-20T00:00'), time('2026-11-21T00:00')]
  const stretch = (condition: Condition, begin: Date, end: Date) => ({ condition, from: begin, to: end })

  test('starts with what began before, and leaves out operational time and short gaps', () => {
    const [one, two, three] = [time('2026-11-20T01:00'), time('2026-11-20T02:00'), time('2026-11-20T02:00:59')]
    const found = [
      stretch('down', new Date(+from - 1), one),
      stretch('up', one, two),
      stretch('unknown', two, three),
      stretch('degraded', three, to),
    ]
    expect(stretchesOf(found, { from, to }, new Date(+to + HOUR))).toEqual([
      { condition: 'down', from, to: one, isCutAtStart: true, isOngoing: false },
      { condition: 'degraded', from: three, to, isCutAtStart: false, isOngoing: false },
    ])
    expect(stretchesOf(found, { from, to }, to).map(({ isOngoing }) => isOngoing)).toEqual([false, true])
    // It ended at the beginning of the day.
    expect(
      stretchesOf([stretch('down', new Date(+from - 1), from), stretch('up', from, to)], { from, to }, to),
    ).toEqual([])
  })

  test.each([
    ['before', -2 * HOUR, -HOUR, false],
    ['until it began', -HOUR, 0, false],
    ['into it', -HOUR, 1, true],
    ['within it', HOUR, 2 * HOUR, true],
    ['from its last moment', DAY - 1, null, true],
    ['from the next day', DAY, null, false],
  ])('an incident %s', (_, start, end, isListed) => {
    const at = (offset: number) => new Date(+from + offset)
    const [startedAt, resolvedAt] = [at(start), end === null ? null : at(end)]
    const incident = { id: 'inc_1', title: 'Disks', startedAt, resolvedAt, begunAt: startedAt, endedAt: resolvedAt }
    expect(incidentsOf([{ ...incident, isDeclared: true, effects: [] }], { from, to })).toHaveLength(isListed ? 1 : 0)
  })
})

/** A reference: computes the state in a second from each part of the history. */
function conditionAt(
  at: number,
  monitors: readonly MonitorHistory[],
  maintenance: readonly Span[],
  now: number,
): Condition {
  const isIn = (from: Date, to: Date | null) => +from <= at && at < (to === null ? now : +to)
  if (maintenance.some(({ from, to }) => isIn(from, to))) return 'maintenance'
  const states = monitors.flatMap(({ intervals, gaps, staleSince }) => {
    if (gaps.some(({ from, to }) => isIn(from, to)) || (staleSince !== null && at >= +staleSince)) return []
    return intervals.filter(({ startedAt, endedAt }) => isIn(startedAt, endedAt)).map(({ state }) => state)
  })
  if (states.includes('DOWN')) return 'down'
  if (states.includes('DEGRADED')) return 'degraded'
  return states.includes('UP') ? 'up' : 'unknown'
}

describe('bars of any range', () => {
  const now = time('2026-11-01T12:30')
  /** A time in the three days before now, around a day of 25 hours in New York. */
  const before = fc
    .integer({ min: 0, max: (3 * DAY) / (10 * MINUTE) })
    .map((steps) => new Date(+now - steps * 10 * MINUTE))
  const anySpan = fc
    .tuple(before, before)
    .map(([one, other]): Span => (one < other ? { from: one, to: other } : { from: other, to: one }))
  const states = ['UP', 'UP', 'DOWN', 'DEGRADED', 'PAUSED'] as const
  const anyHistory = fc
    .record({
      entries: fc.uniqueArray(fc.tuple(before, fc.constantFrom(...states)), {
        minLength: 1,
        maxLength: 6,
        selector: ([at]) => +at,
      }),
      gaps: fc.array(anySpan, { maxLength: 1 }),
      staleSince: fc.option(before),
    })
    .map(({ entries, ...rest }): MonitorHistory => {
      const sorted = entries.toSorted(([one], [other]) => +one - +other)
      const intervals = sorted.map(([startedAt, state], index) => {
        return { startedAt, endedAt: sorted[index + 1]?.[0] ?? null, state, cause: '' }
      })
      return { ...rest, intervals }
    })
  const anyBars = fc
    .tuple(fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'), fc.boolean())
    .map(([zone, isHours]) => (isHours ? hourSpans(zone, now) : daySpans({ timeZone: zone, tier: 'PRO' }, 4, now)))

  const counted = (spans: readonly Span[], monitors: readonly MonitorHistory[], maintenance: readonly Span[]) =>
    spans.map(({ from, to }) => {
      const sum: Record<Condition, number> = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }
      for (let at = +from; at < +to; at += 10 * MINUTE) {
        sum[conditionAt(at, monitors, maintenance, +now)] += Math.min(10 * MINUTE, +to - at)
      }
      return sum satisfies Tally
    })

  test('agree with a reference that examines each moment', () => {
    const histories = fc.array(anyHistory, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(histories, fc.array(anySpan, { maxLength: 1 }), anyBars, (monitors, maintenance, spans) => {
        const [first, last] = [spans[0], spans.at(-1)]
        if (!first || !last) throw new Error('There are no bars.')
        const whole = { from: first.from, to: last.to }
        const of = stretches(monitors, maintenance, whole)
        const each = tallies(of, spans)
        expect(each).toEqual(counted(spans, monitors, maintenance))
        const days = spans.map((span, index) => ({ ...span, day: span.from, tally: each[index] ?? tally(of, span) }))
        const weeks = inBars(days, 7)
        expect(weeks).toHaveLength(Math.ceil(days.length / 7))
        expect(sumOf(weeks.map((week) => week.tally))).toEqual(tally(of, whole))
        expect([weeks[0]?.from, weeks.at(-1)?.to]).toEqual([first.from, now])
      }),
      { numRuns: 200 },
    )
  })

  test('count incidents the same way', () => {
    const effects = [
      { from: time('2026-11-01T00:00'), to: time('2026-11-01T01:30'), status: 'MAJOR_OUTAGE' },
      { from: time('2026-11-01T01:30'), to: time('2026-11-01T01:30:01'), status: 'DEGRADED_PERFORMANCE' },
    ] as const
    const incidents = [{ effects, isDeclared: true }]
    const knownSince = time('2026-10-31T18:00')
    const history = { source: 'INCIDENTS', incidents, monitors: [], maintenance: [], knownSince } as const
    const spans = hourSpans('UTC', now)
    const sums = sumOf(tallies(serviceStretches(history, { from: spans[0]?.from ?? now, to: now }), spans))
    expect(sums).toEqual({
      up: DAY - 7 * HOUR - SECOND,
      degraded: SECOND,
      partial: 0,
      down: 1.5 * HOUR,
      unknown: 5.5 * HOUR,
      maintenance: 0,
    })
  })
})
