import { startOfDay } from '../core/time-zone.ts'
import type { Catalogue } from '../language/catalogue.ts'
import { wordsOf } from '../language/catalogue.ts'

/** Formats dates and times in one time zone. */
export interface Zone {
  /** Its IANA name, such as `Europe/Berlin`. */
  readonly name: string
  /** `20 Nov 2026, 14:32 CET`. */
  time(at: Date): string
  /** `14:32 CET`. */
  clock(at: Date): string
  /** `Friday, 20 November 2026`. */
  day(at: Date): string
  /** `2026-11-20`: equal for moments of the same day. */
  dayKey(at: Date): string
}

/**
 * Creates the formats of an IANA time zone in a language. Creation is slow: create one per rendered page. @throws
 * RangeError for an unknown time zone.
 */
export function zoneOf(timeZone: string, { date }: Pick<Catalogue, 'date'> = wordsOf('EN')): Zone {
  const format = (options: Intl.DateTimeFormatOptions) => date(timeZone, options)
  const dayKey = new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
  return {
    name: timeZone,
    time: format({ day: 'numeric', month: 'short', year: 'numeric', ...clock }),
    clock: format(clock),
    day: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    // Swedish dates have the format of ISO 8601.
    dayKey: (at) => dayKey.format(at),
  }
}

/** A calendar month. */
export interface Month {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
}

/** Parses a month such as `2026-11`; null for any other text. */
export function parseMonth(text: string): Month | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  return year === undefined ? null : { year: Number(year), month: Number(month) }
}

/** Formats a month as `2026-11`. */
export function monthKey({ year, month }: Month): string {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`
}

/** Formats a month as `November 2026`. */
export function monthName({ year, month }: Month, { date }: Pick<Catalogue, 'date'>): string {
  return date('UTC', { month: 'long', year: 'numeric' })(new Date(Date.UTC(year, month - 1)))
}

/** Returns the month `count` months later, or earlier when negative. */
export function addMonths({ year, month }: Month, count: number): Month {
  const months = year * 12 + month - 1 + count
  return { year: Math.floor(months / 12), month: (((months % 12) + 12) % 12) + 1 }
}

/** Returns the month of a time in a time zone. */
export function monthOf(at: Date, zone: Zone): Month {
  const [year, month] = zone.dayKey(at).split('-').map(Number)
  return { year: Number(year), month: Number(month) }
}

/** Returns the start of a month in a time zone. */
export function startOfMonth({ year, month }: Month, timeZone: string): Date {
  return startOfDay(timeZone, new Date(Date.UTC(year, month - 1)))
}

/** Formats a duration, rounded down to two units: `2 h 5 min`, `3 d 4 h`, `under a minute`. */
export function formatDuration(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000))
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
  const parts = [days > 0 && `${days} d`, hours > 0 && `${hours} h`, days === 0 && rest > 0 && `${rest} min`]
  return parts.filter(Boolean).join(' ') || 'under a minute'
}
