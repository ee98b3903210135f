/** Durations in milliseconds, to be multiplied: `5 * MINUTE`. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The source of the current time; tests pass their own. */
export type Clock = () => Date

/** Returns the midnight that begins the UTC day of a time. */
export function utcDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY) * DAY)
}

/** Returns the next full hour after a time. */
export function nextUtcHour(at: Date): Date {
  return new Date((Math.floor(at.getTime() / HOUR) + 1) * HOUR)
}

/** Returns the next UTC midnight after a time. */
export function nextUtcDay(at: Date): Date {
  return new Date(utcDay(at).getTime() + DAY)
}

/** Formats a time to the minute in UTC: `2026-11-20 14:02 UTC`. */
export function formatMinute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
