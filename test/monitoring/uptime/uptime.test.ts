import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/core/time.ts'
import { dayIn, daysUpTo, startOfDay } from '../../../src/core/time-zone.ts'
import type { MonitorState } from '../../../src/generated/prisma/enums.ts'
import type { Condition, MonitorHistory, Span, Tally } from '../../../src/monitoring/uptime/uptime.ts'
import {
  coveragePercent,
  outagesOf,
  stretches,
  sumOf,
  tallies,
  tally,
  uptimePercent,
} from '../../../src/monitoring/uptime/uptime.ts'
import { noon } from '../../support/context.ts'

const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds)
const span = (from: number, to: number): Span => ({ from: at(from), to: at(to) })
const none: Tally = { up: 0, degraded: 0, partial: 0, down: 0, unknown: 0, maintenance: 0 }

/** Returns consecutive states, each with its start. The last one continues. */
function past(
  states: readonly (readonly [MonitorState, number])[],
  more: { readonly gaps?: readonly Span[]; readonly staleSince?: number } = {},
): MonitorHistory {
  return {
    intervals: states.map(([state, from], index) => {
      const end = states[index + 1]?.[1]
      return { startedAt: at(from), endedAt: end === undefined ? null : at(end), state, cause: `${state} at ${from}` }
    }),
    gaps: more.gaps ?? [],
    staleSince: more.staleSince === undefined ? null : at(more.staleSince),
  }
}

const tallyOf = (monitors: readonly MonitorHistory[], of: Span, maintenance: readonly Span[] = []) =>
  tally(stretches(monitors, maintenance, of), of)

describe('time', () => {
  test('counts according to the monitor’s state', () => {
    const monitor = past([
      ['PENDING', 0],
      ['UP', HOUR],
      ['DEGRADED', 2 * HOUR],
      ['DOWN', 4 * HOUR],
      ['PAUSED', 7 * HOUR],
    ])
    expect(tallyOf([monitor], span(-HOUR, 10 * HOUR))).toEqual({
      ...none,
      unknown: 5 * HOUR,
      up: HOUR,
      degraded: 2 * HOUR,
      down: 3 * HOUR,
    })
  })

  test('is unknown in gaps, and from when the monitor became stale', () => {
    const monitor = past([['DOWN', 0]], { gaps: [span(HOUR, 2 * HOUR)], staleSince: 3 * HOUR })
    expect(tallyOf([monitor], span(0, 5 * HOUR))).toEqual({ ...none, down: 2 * HOUR, unknown: 3 * HOUR })
  })

  test('under maintenance is left out, regardless of the results', () => {
    const monitor = past([
      ['UP', 0],
      ['DOWN', 2 * HOUR],
    ])
    const maintenance = [span(HOUR, 3 * HOUR), span(2 * HOUR, 3.5 * HOUR)]
    expect(tallyOf([monitor], span(0, 4 * HOUR), maintenance)).toEqual({
      ...none,
      up: HOUR,
      maintenance: 2.5 * HOUR,
      down: 0.5 * HOUR,
    })
  })

  test('of several monitors is down when any is down, and known when any is known', () => {
    const one = past([
      ['UP', 0],
      ['DOWN', HOUR],
      ['UP', 2 * HOUR],
    ])
    const other = past([
      ['DEGRADED', 0],
      ['PAUSED', 90 * MINUTE],
    ])
    const silent = past([['DOWN', 0]], { staleSince: 0 })
    expect(tallyOf([one, other, silent], span(0, 3 * HOUR))).toEqual({
      ...none,
      degraded: HOUR,
      down: HOUR,
      up: HOUR,
    })
  })

  test('without a monitor is unknown', () => {
    expect(tallyOf([], span(0, HOUR))).toEqual({ ...none, unknown: HOUR })
    expect(stretches([], [], span(0, 0))).toEqual([])
  })

  test('with one condition is one stretch', () => {
    const monitor = past([
      ['UP', 0],
      ['DOWN', HOUR],
      ['DOWN', 2 * HOUR],
      ['UP', 3 * HOUR],
    ])
    expect(stretches([monitor], [], span(0, 4 * HOUR)).map(({ condition }) => condition)).toEqual(['up', 'down', 'up'])
  })
})

describe('the percentage', () => {
  test('is the share of the known time, rounded down', () => {
    expect(uptimePercent({ ...none, up: 2, down: 1, unknown: 97, maintenance: 5 })).toBe(66.666)
    expect(uptimePercent({ ...none, degraded: 1 })).toBe(100)
    expect(uptimePercent({ ...none, down: 5, unknown: 1 })).toBe(0)
  })

  test('is null if nothing is known', () => {
    expect(uptimePercent({ ...none, unknown: DAY, maintenance: DAY })).toBeNull()
  })

  test('is 100 only without any outage', () => {
    expect(uptimePercent({ ...none, up: 730 * DAY - 1, down: 1 })).toBe(99.999)
    fc.assert(
      fc.property(fc.nat(730 * DAY), fc.nat(730 * DAY), (up, down) => {
        const percent = uptimePercent({ ...none, up, down })
        if (up + down === 0) return
        expect(percent === 100).toBe(down === 0)
        // The exact result, in integers: thousandths rounded down.
        const thousandths = BigInt(Math.round(Number(percent) * 1000))
        const [part, whole] = [BigInt(up) * 100_000n, BigInt(up + down)]
        expect(thousandths).toBe(part / whole)
      }),
    )
  })

  test('is accompanied by the known share of the counted time', () => {
    expect(coveragePercent({ ...none, up: 1, unknown: 2, maintenance: 100 })).toBe(33.333)
    expect(coveragePercent({ ...none, up: 1, down: 1 })).toBe(100)
    expect(coveragePercent({ ...none, unknown: 1 })).toBe(0)
    expect(coveragePercent({ ...none, maintenance: 1 })).toBeNull()
  })
})

describe('outages', () => {
  test('are listed newest first, each from the first failed probe to the recovery', () => {
    const monitor = past([
      ['UP', 0],
      ['DOWN', HOUR],
      ['UP', 2 * HOUR],
      ['DOWN', 3 * HOUR],
    ])
    expect(outagesOf(monitor, [], span(0, 4 * HOUR))).toEqual([
      { startedAt: at(3 * HOUR), endedAt: null, cause: `DOWN at ${3 * HOUR}`, downMs: HOUR },
      { startedAt: at(HOUR), endedAt: at(2 * HOUR), cause: `DOWN at ${HOUR}`, downMs: HOUR },
    ])
  })

  test('continue during unknown time and maintenance, neither of which counts', () => {
    const monitor = past([['DOWN', 0]], { gaps: [span(HOUR, 2 * HOUR)], staleSince: 5 * HOUR })
    expect(outagesOf(monitor, [span(4 * HOUR, 5 * HOUR)], span(3 * HOUR, 6 * HOUR))).toEqual([
      { startedAt: at(0), endedAt: null, cause: 'DOWN at 0', downMs: 3 * HOUR },
    ])
  })

  test('that directly follow each other are one outage', () => {
    const monitor = past([
      ['DOWN', 0],
      ['DOWN', HOUR],
      ['UP', 2 * HOUR],
    ])
    expect(outagesOf(monitor, [], span(0, 4 * HOUR))).toEqual([
      { startedAt: at(0), endedAt: at(2 * HOUR), cause: 'DOWN at 0', downMs: 2 * HOUR },
    ])
  })

  test('are only the outages that overlap the requested span', () => {
    const monitor = past([
      ['DOWN', 0],
      ['UP', HOUR],
      ['DOWN', 5 * HOUR],
    ])
    expect(outagesOf(monitor, [], span(HOUR, 5 * HOUR))).toEqual([])
    expect(outagesOf(monitor, [], span(HOUR - 1, 5 * HOUR + 1))).toHaveLength(2)
  })
})

/** Generates random histories, in seconds around noon, with arbitrary overlaps. */
const seconds = fc.integer({ min: -200, max: 200 })
const anySpan = fc
  .tuple(seconds, seconds)
  .map(([one, other]) => span(Math.min(one, other) * SECOND, Math.max(one, other) * SECOND))
const anyState = fc.constantFrom<MonitorState>('PENDING', 'UP', 'DEGRADED', 'DOWN', 'PAUSED')
const anyPast = fc
  .record({
    starts: fc.uniqueArray(seconds, { maxLength: 8 }),
    states: fc.array(anyState, { minLength: 8, maxLength: 8 }),
    gaps: fc.array(anySpan, { maxLength: 3 }),
    staleSince: fc.option(seconds, { nil: undefined }),
  })
  .map(({ starts, states, gaps, staleSince }) => {
    const turns = starts
      .toSorted((one, other) => one - other)
      .map((start, index) => [states[index] ?? 'UP', start * SECOND] as const)
    return past(turns, staleSince === undefined ? { gaps } : { gaps, staleSince: staleSince * SECOND })
  })
const anyMaintenance = fc.array(anySpan, { maxLength: 3 })

/** A reference implementation: computes the condition at a moment from all records. */
function conditionAt(monitors: readonly MonitorHistory[], maintenance: readonly Span[], moment: Date): Condition {
  const holds = ({ from, to }: Span) => from <= moment && moment < to
  if (maintenance.some(holds)) return 'maintenance'
  const states = monitors.flatMap(({ intervals, gaps, staleSince }) => {
    if (gaps.some(holds) || (staleSince && moment >= staleSince)) return []
    const now = intervals.find((each) => each.startedAt <= moment && (!each.endedAt || moment < each.endedAt))
    return now ? [now.state] : []
  })
  if (states.includes('DOWN')) return 'down'
  if (states.includes('DEGRADED')) return 'degraded'
  return states.includes('UP') ? 'up' : 'unknown'
}

describe('for any history', () => {
  test('every second counts by its condition', () => {
    fc.assert(
      fc.property(fc.array(anyPast, { maxLength: 3 }), anyMaintenance, anySpan, (monitors, maintenance, of) => {
        const expected: Record<Condition, number> = { ...none }
        for (let time = of.from.getTime(); time < of.to.getTime(); time += SECOND) {
          expected[conditionAt(monitors, maintenance, new Date(time))] += SECOND
        }
        expect(tallyOf(monitors, of, maintenance)).toEqual(expected)
      }),
    )
  })

  test('stretches have no gaps between them, and adjacent stretches differ', () => {
    fc.assert(
      fc.property(fc.array(anyPast, { maxLength: 3 }), anyMaintenance, anySpan, (monitors, maintenance, of) => {
        const found = stretches(monitors, maintenance, of)
        const turns = [of.from, ...found.map(({ to }) => to)]
        expect(found.map(({ from }) => from)).toEqual(turns.slice(0, -1))
        expect(turns.at(-1)).toEqual(of.to)
        for (const [index, piece] of found.entries()) expect(piece.condition).not.toBe(found[index + 1]?.condition)
      }),
    )
  })

  test('an outage lasts as long as the monitor was down', () => {
    fc.assert(
      fc.property(anyPast, anyMaintenance, (monitor, maintenance) => {
        const of = span(-200 * SECOND, 300 * SECOND)
        const down = outagesOf(monitor, maintenance, of).reduce((sum, { downMs }) => sum + downMs, 0)
        expect(down).toBe(tallyOf([monitor], of, maintenance).down)
      }),
    )
  })
})

describe('days', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/Havana']
  const hours = fc.integer({ min: -24 * 400, max: 0 })

  test('add up to the whole time, in any time zone', () => {
    const turns = fc.uniqueArray(hours, { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        turns,
        hours,
        fc.integer({ min: 1, max: 90 }),
        (zone, starts, now, count) => {
          const states = ['UP', 'DOWN', 'DEGRADED'] as const
          const ordered = starts.toSorted((one, other) => one - other)
          const monitor = past(ordered.map((hour, index) => [states[index % 3] ?? 'UP', hour * HOUR]))
          const end = at(now * HOUR)
          const begins = daysUpTo(dayIn(zone, end), count).map((day) => startOfDay(zone, day))
          const spans = begins.map((from, index) => ({ from, to: begins[index + 1] ?? end }))
          const whole = { from: begins[0] ?? end, to: end }
          const found = stretches([monitor], [], whole)
          const days = tallies(found, spans)
          expect(sumOf(days)).toEqual(tally(found, whole))
          for (const [index, { from, to }] of spans.entries()) {
            const sum = Object.values(days[index] ?? none).reduce((total, each) => total + each, 0)
            expect(sum).toBe(to.getTime() - from.getTime())
          }
        },
      ),
    )
  })

  test('of 23 and 25 hours count with their actual length', () => {
    const spanOf = (day: string) => ({
      from: startOfDay('Europe/Berlin', new Date(day)),
      to: startOfDay('Europe/Berlin', new Date(Date.parse(day) + DAY)),
    })
    const always = past([['UP', -400 * DAY]])
    expect(tallyOf([always], spanOf('2026-03-29'))).toEqual({ ...none, up: 23 * HOUR })
    expect(tallyOf([always], spanOf('2026-10-25'))).toEqual({ ...none, up: 25 * HOUR })
  })
})
