import { LRUCache } from 'lru-cache'
import { DAY, HOUR, SECOND, utcDay } from './time.ts'

/**
 * Calendar days in IANA time zones. A calendar day is represented by its midnight in UTC, as the database stores a
 * date, so that adding `DAY` gives the next day despite clock changes.
 */

/** Returns the calendar day of a time in a time zone. @throws RangeError for an unknown time zone. */
export function dayIn(timeZone: string, at: Date): Date {
  return utcDay(new Date(wallClock(timeZone, at.getTime())))
}

/**
 * Returns the start of a calendar day in a time zone, which is not midnight if clocks change then. Days are contiguous:
 * each ends when the next begins, and may have 23, 25 or another number of hours.
 * @throws RangeError for an unknown time zone.
 */
export function startOfDay(timeZone: string, day: Date): Date {
  const wanted = day.getTime()
  const hasBegun = (at: number) => wallClock(timeZone, at) >= wanted
  // The offset at UTC's midnight may be that before or after a clock change; the second attempt is usually right.
  const near = wanted - offset(timeZone, wanted)
  const guess = wanted - offset(timeZone, near)
  if (hasBegun(guess) && !hasBegun(guess - SECOND)) return new Date(guess)
  let [before, after] = [wanted - 15 * HOUR, wanted + 15 * HOUR]
  while (after - before > SECOND) {
    const middle = Math.floor((before + after) / 2 / SECOND) * SECOND
    if (hasBegun(middle)) after = middle
    else before = middle
  }
  return new Date(after)
}

/** Returns `count` consecutive calendar days that end with `last`. */
export function daysUpTo(last: Date, count: number): Date[] {
  return Array.from({ length: count }, (_, index) => new Date(last.getTime() - (count - 1 - index) * DAY))
}

/** The form in which browsers send a local date and time, to the minute or the second. */
const localTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,3})?)?$/

/**
 * Returns the time that clocks in a time zone show as `text`, such as `2026-03-29T01:59`; null unless it is a date and
 * time. A time that clocks skip counts as that much after the change; a time that they show twice counts as the first.
 * @throws RangeError for an unknown time zone.
 */
export function parseLocalTime(timeZone: string, text: string): Date | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] =
    localTime
      .exec(text)
      ?.slice(1)
      .map((part) => Number(part ?? 0)) ?? []
  const wanted = Date.UTC(year, month - 1, day, hour, minute, second)
  if (year < 1000 || new Date(wanted).toISOString().slice(0, 16) !== text.slice(0, 16)) return null
  // Clock changes are at least a day apart, so these are the offsets before and after a nearby change.
  const before = wanted - offset(timeZone, wanted - DAY)
  const after = wanted - offset(timeZone, wanted + DAY)
  const shown = [before, after].filter((at) => wallClock(timeZone, at) === wanted)
  return new Date(shown.length > 0 ? Math.min(...shown) : before)
}

/** Returns the local time in a time zone, to the minute, in the format of `parseLocalTime`. */
export function formatLocalTime(timeZone: string, at: Date): string {
  return new Date(wallClock(timeZone, at.getTime())).toISOString().slice(0, 16)
}

/** A change of a time zone's offset from UTC, in milliseconds. */
export interface OffsetChange {
  readonly at: Date
  readonly before: number
  readonly after: number
}

/** Changes closer together than this may be missed; no zone has had any. */
const BETWEEN_CHANGES = 7 * DAY

/**
 * Returns a time zone's offset at a time, and its changes until another time.
 * @throws RangeError for an unknown time zone.
 */
export function offsetsOf(
  timeZone: string,
  from: Date,
  until: Date,
): { readonly first: number; readonly changes: readonly OffsetChange[] } {
  const changes: OffsetChange[] = []
  const first = offset(timeZone, from.getTime())
  let before = first
  for (let at = from.getTime(); at < until.getTime(); at += BETWEEN_CHANGES) {
    const after = offset(timeZone, at + BETWEEN_CHANGES)
    if (after === before) continue
    let [earlier, later] = [at, at + BETWEEN_CHANGES]
    while (later - earlier > SECOND) {
      const middle = Math.floor((earlier + later) / 2 / SECOND) * SECOND
      if (offset(timeZone, middle) === before) earlier = middle
      else later = middle
    }
    changes.push({ at: new Date(Math.floor(later / SECOND) * SECOND), before, after })
    before = after
  }
  return { first, changes }
}

/** Returns a time zone's offset from UTC at a time, in milliseconds. */
function offset(timeZone: string, at: number): number {
  return wallClock(timeZone, at) - Math.floor(at / SECOND) * SECOND
}

/** Returns a time zone's local time, to the second, as if it were UTC. */
function wallClock(timeZone: string, at: number): number {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = formatters
    .memo(timeZone)
    .format(at)
    .split(/\D+/)
    .map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** Cached: creating a formatter costs as much as a hundred uses. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 100, memoMethod: makeFormatter })

function makeFormatter(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
}
