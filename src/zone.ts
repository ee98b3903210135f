import { LRUCache } from 'lru-cache'
import { DAY, HOUR, SECOND, utcDay } from './time.ts'

/**
 * Calendar days of IANA time zones. A calendar day is told by its midnight in UTC, as the database keeps a date; adding
 * `DAY` to it gives the next one, whatever the clocks did.
 */

/** The calendar day on which a moment lies in a time zone. @throws RangeError when there is no such zone. */
export function dayIn(timeZone: string, at: Date): Date {
  return utcDay(new Date(wallClock(timeZone, at.getTime())))
}

/**
 * When a calendar day begins in a time zone: at its first moment, which need not be midnight where clocks change then. Days
 * follow each other without holes: each ends when the next begins, and may have 23, 25 or other hours.
 * @throws RangeError when there is no such zone.
 */
export function startOfDay(timeZone: string, day: Date): Date {
  const wanted = day.getTime()
  const begun = (at: number) => wallClock(timeZone, at) >= wanted
  // The offset of UTC's midnight may be that of the other side of a change of clocks; the second look is right, mostly.
  const near = wanted - offset(timeZone, wanted)
  const guess = wanted - offset(timeZone, near)
  if (begun(guess) && !begun(guess - SECOND)) return new Date(guess)
  let [before, after] = [wanted - 15 * HOUR, wanted + 15 * HOUR]
  while (after - before > SECOND) {
    const middle = Math.floor((before + after) / 2 / SECOND) * SECOND
    if (begun(middle)) after = middle
    else before = middle
  }
  return new Date(after)
}

/** The calendar days from the one before to each of the next: so many, the last of them being `last`. */
export function daysUpTo(last: Date, count: number): Date[] {
  return Array.from({ length: count }, (_, index) => new Date(last.getTime() - (count - 1 - index) * DAY))
}

/** How many milliseconds a zone's clocks are ahead of UTC at a moment. */
function offset(timeZone: string, at: number): number {
  return wallClock(timeZone, at) - Math.floor(at / SECOND) * SECOND
}

/** What a zone's clocks show at a moment, to the second, as if it were UTC. */
function wallClock(timeZone: string, at: number): number {
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = formatters
    .memo(timeZone)
    .format(at)
    .split(/\D+/)
    .map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** Making one costs as much as a hundred uses of it. */
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
