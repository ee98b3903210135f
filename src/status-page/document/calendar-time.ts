import { DAY, MINUTE } from '../../core/time.ts'
import type { OffsetChange } from '../../core/time-zone.ts'
import { offsetsOf } from '../../core/time-zone.ts'

/** Formats a time to the second: `20261120T120000Z` (§3.3.5). */
export function formatUtc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** How far ahead the clock changes of a time zone are written, for readers that do not know the zone. */
const ZONE_YEARS = 5

/** Describes a time zone (§3.6.5): its offset at a time, and its clock changes until some years from now. */
export function zoneComponent(timeZone: string, from: Date, now: Date): string[] {
  const { first, changes } = offsetsOf(timeZone, from, new Date(now.getTime() + ZONE_YEARS * 366 * DAY))
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${timeZone}`,
    ...observance({ at: new Date(0), before: first, after: first }),
    // One each, because some readers only accept a single date per observance.
    ...changes.flatMap(observance),
    'END:VTIMEZONE',
  ]
}

function observance({ at, before, after }: OffsetChange): string[] {
  const kind = after > before ? 'DAYLIGHT' : 'STANDARD'
  return [
    `BEGIN:${kind}`,
    `DTSTART:${atOffset(at, before)}`,
    `TZOFFSETFROM:${formatOffset(before)}`,
    `TZOFFSETTO:${formatOffset(after)}`,
    `END:${kind}`,
  ]
}

/** Formats a time as clocks show it that are `offset` milliseconds ahead of UTC. */
const atOffset = (at: Date, offset: number) => formatUtc(new Date(at.getTime() + offset)).slice(0, -1)

/** Formats an offset from UTC: `+0530` (§3.3.14). */
function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MINUTE)
  const digits = (number: number) => String(number).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}${digits(minutes % 60)}`
}

/** Returns whether a time zone is UTC, which needs no description. */
export const isUtc = (timeZone: string) => /^(Etc\/)?UTC$/i.test(timeZone)

/** Writes a property with a local time such as `2026-03-29T02:00` in a time zone. */
export function localTime(property: string, timeZone: string, local: string): string {
  const time = `${local.replace(/[-:]/g, '')}00`
  return isUtc(timeZone) ? `${property}:${time}Z` : `${property};TZID=${timeZone}:${time}`
}
