import { LRUCache } from 'lru-cache'
import { DAY, HOUR, SECOND, utcDay } from './time.ts'

/**
 * Calendar days in IANA time zones. A calendar day is represented by its midnight in UTC, as the database stores a date;
 * adding `DAY` gives the next day in spite of clock changes.
 */

/** Returns the calendar day of a time in a time zone. @throws RangeError for an unknown time zone. */
export function dayIn(timeZone: string, at: Date): Date {
  return utcDay(new Date(wallClock(timeZone, at.getTime())))
}

/**
 * Returns the start of a calendar day in a time zone, which is not midnight where clocks change then. Days
 * are contiguous: each ends when the next begins, and may have 23, 25 or another number of hours.
 * @throws RangeError for an unknown time zone.
 */
export function startOfDay(timeZone: string, day: Date): Date {
  const wanted = day.getTime()
  const hasBegun = (at: number) => wallClock(timeZone, at) >= wanted
  // The offset at UTC's midnight may be that before or after a clock change; the second try is mostly right.
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
