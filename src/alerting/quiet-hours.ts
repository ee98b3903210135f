import { DAY } from '../core/time.ts'
import { formatLocalTime, parseLocalTime } from '../core/time-zone.ts'
import type { AlertChannel } from '../generated/prisma/client.ts'

/** When a channel is left in peace: from and to in minutes of the day. */
export interface QuietHours {
  readonly from: number
  readonly to: number
  readonly timeZone: string
}

/** Returns the quiet hours of a channel; null: it has none. */
export function quietHoursOf({
  quietFrom,
  quietTo,
  quietZone,
}: Pick<AlertChannel, 'quietFrom' | 'quietTo' | 'quietZone'>): QuietHours | null {
  return quietFrom === null || quietTo === null || quietZone === null
    ? null
    : { from: quietFrom, to: quietTo, timeZone: quietZone }
}

/**
 * Returns when the quiet hours of a time end; null: it is not in any. Hours that end before they begin go through midnight. They
 * are those that clocks show: a change of clocks makes them shorter or longer.
 */
export function quietUntil({ from, to, timeZone }: QuietHours, at: Date): Date | null {
  const local = formatLocalTime(timeZone, at)
  const minute = Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16))
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isQuiet) return null
  const day = new Date(`${local.slice(0, 10)}T00:00:00Z`).getTime() + (minute < to ? 0 : DAY)
  const text = `${new Date(day).toISOString().slice(0, 10)}T${formatMinutes(to)}`
  return parseLocalTime(timeZone, text)
}

/** Formats minutes of the day: `22:05`. */
export function formatMinutes(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Parses a time of day, such as `22:05`, to minutes; null for any other text. */
export function parseMinutes(text: string): number | null {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? null : Number(hours) * 60 + Number(minutes)
}
