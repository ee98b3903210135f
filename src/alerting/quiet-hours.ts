import { z } from 'zod'
import { named } from '../core/described.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { formatLocalTime, parseLocalTime } from '../core/time-zone.ts'
import type { AlertChannel } from '../generated/prisma/client.ts'

/** Days of the week in stored order: 1 is Monday (ISO 8601). */
export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const

/** The schema of a day of the week. */
export const weekday = named(z.enum(weekdays), {
  name: 'Weekday',
  about: 'A day of the week.',
  values: {
    MONDAY: 'Monday.',
    TUESDAY: 'Tuesday.',
    WEDNESDAY: 'Wednesday.',
    THURSDAY: 'Thursday.',
    FRIDAY: 'Friday.',
    SATURDAY: 'Saturday.',
    SUNDAY: 'Sunday.',
  },
})

const MINUTES_OF_DAY = DAY / MINUTE
const everyDay = weekdays.map((_, index) => index + 1)

const stored = z.array(z.object({ days: z.array(z.int()), from: z.int(), to: z.int() }))

/** Hours on some days of the week. */
interface QuietWindow {
  /** The days on which the window begins: 1 is Monday, 7 Sunday. */
  readonly days: readonly number[]
  /** Minutes of the day. A window that ends at or before its start ends on the next day. */
  readonly from: number
  readonly to: number
}

/** When a channel gets no messages. */
export interface QuietTimes {
  readonly windows: readonly QuietWindow[]
  readonly timeZone: string
}

/** The columns that store the quiet times of a channel. `quietFrom` and `quietTo` are those of earlier versions. */
type QuietColumns = Pick<AlertChannel, 'quietWindows' | 'quietFrom' | 'quietTo' | 'quietZone'>

/** Returns the quiet times of a channel, or null if it has none. */
export function quietTimesOf({ quietWindows, quietFrom, quietTo, quietZone }: QuietColumns): QuietTimes | null {
  const windows = stored.parse(quietWindows)
  if (quietZone === null) return null
  if (windows.length > 0) return { windows, timeZone: quietZone }
  return quietFrom === null || quietTo === null
    ? null
    : { windows: [{ days: everyDay, from: quietFrom, to: quietTo }], timeZone: quietZone }
}

/** Returns the columns for quiet times. Earlier versions read only hours that are the same on every day. */
export function quietColumnsOf(times: QuietTimes | null) {
  const { windows, timeZone } = times ?? { windows: [], timeZone: null }
  const daily = dailyWindow(windows)
  return {
    quietWindows: windows.map(({ days, from, to }) => ({ days: [...days], from, to })),
    quietFrom: daily?.from ?? null,
    quietTo: daily?.to ?? null,
    quietZone: timeZone,
  }
}

/** Returns the only window if it is the same on every day and shorter than a day, otherwise null. */
function dailyWindow(windows: readonly QuietWindow[]): QuietWindow | null {
  const [only, ...others] = windows
  const isDaily = only !== undefined && others.length === 0 && only.days.length === weekdays.length
  return isDaily && only.to < MINUTES_OF_DAY ? only : null
}

/** Returns quiet times in the form of the input. */
export const quietTimesInput = ({ windows, timeZone }: QuietTimes) => ({
  windows: windows.map(({ days, from, to }) => ({
    days: weekdays.filter((_, index) => days.includes(index + 1)),
    from: formatMinutes(from),
    to: formatMinutes(to),
  })),
  timeZone,
})

/** The maximum number of consecutive windows to follow. A week has fewer. */
const MAX_CHAINED = 50

/**
 * Returns when the current quiet time ends, or null if `at` is outside all windows. Windows that touch or overlap count as one.
 * Times are local clock times, so a window is shorter or longer when the clocks change.
 */
export function quietUntil(times: QuietTimes, at: Date): Date | null {
  let until: Date | null = null
  for (let count = 0; count < MAX_CHAINED; count += 1) {
    const end = endOfWindows(times, until ?? at)
    if (end === null || end <= (until ?? at)) break
    until = end
  }
  return until
}

/** Returns the latest end of the windows that contain `at`, or null. */
function endOfWindows({ windows, timeZone }: QuietTimes, at: Date): Date | null {
  const local = formatLocalTime(timeZone, at)
  const minute = Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16))
  const today = new Date(`${local.slice(0, 10)}T00:00:00Z`)
  const ends = windows.flatMap((window) => endsAfter(window, weekdayOf(today), minute))
  if (ends.length === 0) return null
  const end = new Date(today.getTime() + Math.max(...ends) * MINUTE)
  return parseLocalTime(timeZone, end.toISOString().slice(0, 16))
}

/**
 * Returns the end of a window, in minutes since midnight of the given day; empty if the window does not contain the given time of
 * the week.
 */
function endsAfter({ days, from, to }: QuietWindow, day: number, minute: number): number[] {
  const begins = (each: number) => days.includes(each)
  if (from < to) return begins(day) && minute >= from && minute < to ? [to] : []
  const yesterday = day === 1 ? weekdays.length : day - 1
  return [
    ...(begins(day) && minute >= from ? [MINUTES_OF_DAY + to] : []),
    ...(begins(yesterday) && minute < to ? [to] : []),
  ]
}

/** Returns the day of the week of a UTC date: 1 is Monday. */
const weekdayOf = (date: Date) => date.getUTCDay() || weekdays.length

/** Returns whether windows cover the whole week. */
export function isAlwaysQuiet(windows: readonly QuietWindow[]): boolean {
  for (const day of everyDay)
    for (let minute = 0; minute < MINUTES_OF_DAY; minute += 1)
      if (windows.every((window) => endsAfter(window, day, minute).length === 0)) return false
  return true
}

/** Formats minutes of the day, such as `22:05`; the end of the day is `24:00`. */
export function formatMinutes(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Parses a time of day, such as `22:05`, into minutes; null for any other text. */
export function parseMinutes(text: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes)
}

/** Parses the end of a window, which may also be `24:00`. */
export const parseEnd = (text: string): number | null => (text === '24:00' ? MINUTES_OF_DAY : parseMinutes(text))
