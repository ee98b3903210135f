/** Durations in milliseconds, to be multiplied: `5 * MINUTE`. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Where a rule takes the time from; tests pass their own. */
export type Clock = () => Date

/** The UTC day of an instant, as its midnight. */
export function utcDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY) * DAY)
}

/** The full hour that ends the hour of an instant. */
export function nextUtcHour(at: Date): Date {
  return new Date((Math.floor(at.getTime() / HOUR) + 1) * HOUR)
}

/** The UTC midnight that ends the day of an instant. */
export function nextUtcDay(at: Date): Date {
  return new Date(utcDay(at).getTime() + DAY)
}

/** A moment to the minute, for readers of every zone: `2026-11-20 14:02 UTC`. */
export function minuteInWords(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
