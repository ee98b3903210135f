import { DAY } from '../../core/time.ts'
import { dayIn, startOfDay } from '../../core/time-zone.ts'
import type { Span } from '../uptime/uptime.ts'

/** The window of an objective. */
export interface ObjectiveWindow {
  /** The length of a rolling window, in days of 24 hours; null: the calendar month. */
  readonly windowDays: number | null
  /** The time zone of calendar months. */
  readonly timeZone: string
}

/** The shortest and the longest rolling window, in days. */
export const MIN_WINDOW_DAYS = 1
export const MAX_WINDOW_DAYS = 366

/** Returns the whole window that contains a time. A rolling window ends at that time, a calendar month later. */
export function windowAt({ windowDays, timeZone }: ObjectiveWindow, now: Date): Span {
  if (windowDays !== null) return { from: new Date(now.getTime() - windowDays * DAY), to: now }
  return monthAt(timeZone, now)
}

/**
 * Returns the calendar month of a time in a time zone. Months are contiguous; a month in which clocks change is an hour
 * longer or shorter.
 */
export function monthAt(timeZone: string, at: Date): Span {
  const day = dayIn(timeZone, at)
  return monthOf(timeZone, day.getUTCFullYear(), day.getUTCMonth() + 1)
}

/** Returns a calendar month in a time zone. @param month 1 to 12. */
export function monthOf(timeZone: string, year: number, month: number): Span {
  return {
    from: startOfDay(timeZone, new Date(Date.UTC(year, month - 1, 1))),
    to: startOfDay(timeZone, new Date(Date.UTC(year, month, 1))),
  }
}
