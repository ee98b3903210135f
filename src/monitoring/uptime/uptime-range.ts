import { historyDaysOf } from '../../account/limits.ts'
import { yieldAfterTimeSlice } from '../../core/concurrency/time-slice.ts'
import type { Database } from '../../core/context.ts'
import { DAY, HOUR } from '../../core/time.ts'
import { dayIn, startOfDay } from '../../core/time-zone.ts'
import type { Organization } from '../../generated/prisma/client.ts'
import type { Span } from './uptime.ts'
import { stretches, sumOf, tallies } from './uptime.ts'
import type { DayUptime } from './uptime-days.ts'
import { daySpans, readDays } from './uptime-days.ts'
import { readHistories } from './uptime-history.ts'

/** The ranges of uptime bars: the number of days, and the days per bar (0: an hour per bar). */
const ranges = {
  '24h': { days: 1, perBar: 0 },
  '7d': { days: 7, perBar: 1 },
  '30d': { days: 30, perBar: 1 },
  '90d': { days: 90, perBar: 1 },
  year: { days: 365, perBar: 7 },
} as const

export type RangeName = keyof typeof ranges
/** The time that a bar covers. */
export type BarUnit = 'hour' | 'day' | 'week'

export const rangeNames = Object.keys(ranges) as readonly RangeName[]
/** The default range of a page. */
export const DEFAULT_RANGE = '90d' satisfies RangeName

/** Returns the time that a bar of a range covers. */
export function unitOf(range: RangeName): BarUnit {
  const { perBar } = ranges[range]
  return perBar === 0 ? 'hour' : perBar === 1 ? 'day' : 'week'
}

/** Returns the maximum number of bars of a range. */
export function barCount(range: RangeName): number {
  const { days, perBar } = ranges[range]
  return perBar === 0 ? DAY / HOUR + 1 : Math.ceil(days / perBar)
}

/** Returns the number of days of a range that is shorter than the default range; null: it is not shorter. */
export function daysWithin(range: RangeName): number | null {
  const { days, perBar } = ranges[range]
  return perBar === 1 && days < ranges[DEFAULT_RANGE].days ? days : null
}

/** Returns the ranges that a tier shows: the shortest range that covers its whole history, and all shorter ones. */
export function rangesOf(tier: Organization['tier']): readonly RangeName[] {
  const historyDays = historyDaysOf(tier)
  const longest = rangeNames.findIndex((name) => ranges[name].days >= historyDays)
  return longest === -1 ? rangeNames : rangeNames.slice(0, longest + 1)
}

/**
 * Returns the range that a tier shows for a requested one; null: the tier does not show it. For the default range, a
 * tier with a shorter history shows its longest range.
 */
export function shownRange(tier: Organization['tier'], asked: RangeName): RangeName | null {
  const shown = rangesOf(tier)
  if (shown.includes(asked)) return asked
  return asked === DEFAULT_RANGE ? (shown.at(-1) ?? null) : null
}

/** Splits the last 24 hours at each full hour of a time zone: into 25 spans, or 24 if now is a full hour. */
export function hourSpans(timeZone: string, now: Date): Span[] {
  const first = now.getTime() - DAY
  // Days start at full hours, which differ from UTC hours in some time zones.
  const phase = startOfDay(timeZone, dayIn(timeZone, now)).getTime() % HOUR
  const starts = [first]
  for (let at = Math.floor((first - phase) / HOUR + 1) * HOUR + phase; at < now.getTime(); at += HOUR) starts.push(at)
  return starts.map((from, index) => ({ from: new Date(from), to: new Date(starts[index + 1] ?? now.getTime()) }))
}

/** Combines days into bars of `count` days. The last bar ends with the last day; the first may have fewer days. */
export function inBars<T extends DayUptime>(days: readonly T[], count: number): T[] {
  return joined(days, count).map(({ bar, of }) => ({ ...bar, tally: sumOf(of.map(({ tally }) => tally)) }))
}

/** Joins consecutive days into bars, and keeps the days of each. */
function joined<T extends Span>(days: readonly T[], count: number): { readonly bar: T; readonly of: readonly T[] }[] {
  const bars: { readonly bar: T; readonly of: readonly T[] }[] = []
  for (let end = days.length; end > 0; end -= count) {
    const of = days.slice(Math.max(0, end - count), end)
    const [first, last] = [of[0], of.at(-1)]
    if (first && last) bars.unshift({ bar: { ...first, to: last.to }, of })
  }
  return bars
}

type Zone = Pick<Organization, 'timeZone' | 'tier'>

/** Returns the bars of a range within the history that the tier shows. The last bar ends now. */
export function barSpans(zone: Zone, range: RangeName, now: Date): Omit<DayUptime, 'tally'>[] {
  const { days, perBar } = ranges[range]
  if (perBar > 0) return joined(daySpans(zone, days, now), perBar).map(({ bar }) => bar)
  return hourSpans(zone.timeZone, now).map((span) => ({ ...span, day: dayIn(zone.timeZone, span.from) }))
}

/** The maximum number of subjects to read at once for a year: about as much data as 400 in the default range. */
const PER_YEAR = 100

/**
 * Reads the measured bars of monitors and services in a range, by id. Runs three statements; for a year, three per
 * hundred ids.
 */
export async function readBars(
  db: Database,
  zone: Zone,
  ids: readonly string[],
  range: RangeName,
  now: Date,
): Promise<Map<string, DayUptime[]>> {
  if (ids.length === 0) return new Map()
  const { days, perBar } = ranges[range]
  if (perBar === 0) return readHours(db, zone, ids, now)
  if (perBar === 1) return readDays(db, zone, ids, days, now)
  const found = new Map<string, DayUptime[]>()
  const owner = {}
  for (let from = 0; from < ids.length; from += PER_YEAR) {
    for (const [id, own] of await readDays(db, zone, ids.slice(from, from + PER_YEAR), days, now)) {
      await yieldAfterTimeSlice(owner)
      found.set(id, inBars(own, perBar))
    }
  }
  return found
}

async function readHours(db: Database, zone: Zone, ids: readonly string[], now: Date) {
  const hours = barSpans(zone, '24h', now)
  const first = new Date(now.getTime() - DAY)
  const histories = await readHistories(
    db,
    ids.map((id) => ({ id, since: first })),
    now,
  )
  const owner = {}
  const found = new Map<string, DayUptime[]>()
  for (const id of ids) {
    await yieldAfterTimeSlice(owner)
    const { monitors, maintenance } = histories.get(id) ?? { monitors: [], maintenance: [] }
    const of = tallies(stretches(monitors, maintenance, { from: first, to: now }), hours)
    found.set(
      id,
      hours.flatMap((span, index) => {
        const tally = of[index]
        return tally ? [{ ...span, tally }] : []
      }),
    )
  }
  return found
}
