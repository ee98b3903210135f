import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/core/time.ts'
import type { CorrectionKind, MonitorState } from '../../../src/generated/prisma/enums.ts'
import { budgetOf, isMet } from '../../../src/monitoring/objective/budget.ts'
import { burnRates } from '../../../src/monitoring/objective/burn-rate.ts'
import type { CorrectedSpan, Counted } from '../../../src/monitoring/objective/objective-tally.ts'
import { countedStretches } from '../../../src/monitoring/objective/objective-tally.ts'
import { monthAt, windowAt } from '../../../src/monitoring/objective/window.ts'
import type { MonitorHistory, Span } from '../../../src/monitoring/uptime/uptime.ts'
import { stretches } from '../../../src/monitoring/uptime/uptime.ts'

/** All events happen at full minutes, so a calculation minute by minute is exact. */
interface Past {
  readonly monitors: readonly MonitorHistory[]
  readonly maintenance: readonly Span[]
  readonly corrections: readonly CorrectedSpan[]
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Beirut',
  'Asia/Kolkata',
]

const holds = ({ from, to }: Span, at: number) => from.getTime() <= at && at < to.getTime()

/** Returns how a minute counts. */
function naiveCounted({ monitors, maintenance, corrections }: Past, at: number): Counted {
  const correction = corrections.findLast((each) => holds(each, at))
  if (correction) return ({ GOOD: 'good', BAD: 'bad', EXCLUDED: 'excluded' } as const)[correction.kind]
  if (maintenance.some((each) => holds(each, at))) return 'maintenance'
  const known = monitors.flatMap(({ intervals, gaps, staleSince }): MonitorState[] => {
    if (gaps.some((each) => holds(each, at)) || (staleSince !== null && staleSince.getTime() <= at)) return []
    const state = intervals.find(({ startedAt, endedAt }) =>
      holds({ from: startedAt, to: endedAt ?? new Date(8e15) }, at),
    )
    return state && state.state !== 'PENDING' && state.state !== 'PAUSED' ? [state.state] : []
  })
  return known.length === 0 ? 'unknown' : known.includes('DOWN') ? 'bad' : 'good'
}

function naiveTally(past: Past, { from, to }: Span) {
  const sum = { good: 0, bad: 0, partial: 0, unknown: 0, maintenance: 0, excluded: 0, corrected: 0 }
  for (let at = from.getTime(); at < to.getTime(); at += MINUTE) {
    sum[naiveCounted(past, at)] += MINUTE
    if (past.corrections.some((each) => holds(each, at))) sum.corrected += MINUTE
  }
  return sum
}

/** Generates random histories within the days before `now`. */
const pasts = (now: Date, days: number): fc.Arbitrary<Past> => {
  const minute = fc.integer({ min: 0, max: (days * DAY) / MINUTE }).map((ago) => new Date(+now - ago * MINUTE))
  const span = fc
    .tuple(minute, minute)
    .map(([one, other]): Span => (one < other ? { from: one, to: other } : { from: other, to: one }))
  const short = fc
    .tuple(minute, fc.integer({ min: 0, max: 400 }))
    .map(([from, length]): Span => ({ from, to: new Date(+from + length * MINUTE) }))
  const state = fc.constantFrom<MonitorState>('UP', 'UP', 'UP', 'DEGRADED', 'DOWN', 'PENDING', 'PAUSED')
  const monitor = fc
    .record({
      turns: fc.uniqueArray(fc.tuple(minute, state), { minLength: 1, maxLength: 20, selector: ([at]) => +at }),
      gaps: fc.array(short, { maxLength: 3 }),
      staleSince: fc.option(minute, { freq: 5 }),
    })
    .map(({ turns, gaps, staleSince }): MonitorHistory => {
      const sorted = turns.toSorted(([one], [other]) => +one - +other)
      const intervals = sorted.map(([startedAt, at], index) => ({
        startedAt,
        endedAt: sorted[index + 1]?.[0] ?? null,
        state: at,
        cause: '',
      }))
      return { intervals, gaps, staleSince }
    })
  const kind = fc.constantFrom<CorrectionKind>('GOOD', 'BAD', 'EXCLUDED')
  const correction = fc.tuple(fc.oneof(short, span), kind).map(([of, as]): CorrectedSpan => ({ ...of, kind: as }))
  return fc.record({
    monitors: fc.array(monitor, { maxLength: 3 }),
    maintenance: fc.array(short, { maxLength: 3 }),
    corrections: fc.array(correction, { maxLength: 5 }),
  })
}

const targets = fc.integer({ min: 50_000, max: 99_999 })

test('budgets and burn rates equal a naive reference over random histories', () => {
  const now = fc.integer({ min: 0, max: 900_000 }).map((minutes) => new Date(Date.UTC(2025, 9, 1) + minutes * MINUTE))
  const cases = now.chain((at) =>
    fc.record({
      now: fc.constant(at),
      past: pasts(at, 12),
      target: targets,
      windowDays: fc.option(fc.integer({ min: 1, max: 10 }), { freq: 3 }),
      timeZone: fc.constantFrom(...zones),
      begunAt: fc.integer({ min: 0, max: 14 * 24 * 60 }).map((ago) => new Date(+at - ago * MINUTE)),
    }),
  )
  fc.assert(
    fc.property(cases, ({ now: at, past, target, windowDays, timeZone, begunAt }) => {
      const window = windowAt({ windowDays, timeZone }, at)
      const windowMs = +window.to - +window.from
      const from = new Date(Math.min(+window.from, +at - 3 * DAY))
      const counted = countedStretches(stretches(past.monitors, past.maintenance, { from, to: at }), past.corrections)
      const budget = budgetOf(counted, { target, window, begunAt, now: at })
      const tally = naiveTally(past, { from: window.from, to: at })
      expect(budget.tally).toEqual(tally)
      const watched = { from: new Date(Math.max(+window.from, Math.min(+at, +begunAt))), to: at }
      const lost = naiveTally(past, watched).unknown + tally.maintenance + tally.excluded
      const allowed = Number((BigInt(100_000 - target) * BigInt(windowMs - lost)) / 100_000n)
      expect(budget.budgetMs).toBe(allowed)
      expect(budget.remainingMs).toBe(allowed - tally.bad)
      expect(budget.isFull).toBe(begunAt <= window.from)
      const total = tally.good + tally.bad
      expect(isMet(tally, target)).toBe(
        total === 0 ? null : BigInt(tally.bad) * 100_000n <= BigInt(total) * BigInt(100_000 - target),
      )
      for (const rate of burnRates(counted, { target, windowMs, begunAt, now: at })) {
        for (const [length, found] of [
          [rate.longMs, rate.longRate],
          [rate.shortMs, rate.shortRate],
        ] as const) {
          const { good, bad } = naiveTally(past, { from: new Date(+at - length), to: at })
          if (good + bad === 0) expect(found).toBeNull()
          else expect(found).toBeCloseTo(bad / (good + bad) / (1 - target / 100_000), 6)
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('calendar months match the calendar in any time zone', () => {
  const cases = fc.record({
    timeZone: fc.constantFrom(...zones, 'Pacific/Apia', 'Africa/Casablanca', 'America/Santiago', 'Asia/Tehran'),
    at: fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2030, 0, 1) }).map((ms) => new Date(ms)),
  })
  fc.assert(
    fc.property(cases, ({ timeZone, at }) => {
      const shown = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' })
      const { from, to } = monthAt(timeZone, at)
      expect([from <= at, at < to]).toEqual([true, true])
      const month = shown.format(at)
      for (let hour = +from; hour < +to; hour += HOUR) expect(shown.format(hour)).toBe(month)
      expect(shown.format(+to - 1)).toBe(month)
      expect(shown.format(+from - 1)).not.toBe(month)
      expect(shown.format(to)).not.toBe(month)
    }),
    { numRuns: 40 },
  )
})
