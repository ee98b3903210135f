import { plainText } from '../core/markdown.ts'
import { SECOND } from '../core/time.ts'
import type { Catalogue } from '../language/catalogue.ts'
import type { PageState } from '../status/page-state.ts'
import type { MaintenanceWithTimeline } from '../status/timeline-reader.ts'
import type { Zone } from './time-format.ts'
import { zoneOf } from './time-format.ts'
import { lastChangeOf, maintenancePath, updateHtml } from './timeline-queries.ts'
import { uuidOf } from './urn.ts'
import { joinNames } from './view.ts'

/** The input of a calendar. */
export interface CalendarSource {
  readonly state: PageState
  readonly maintenances: readonly MaintenanceWithTimeline[]
  /** When each maintenance last changed, by id. */
  readonly changes: ReadonlyMap<string, Date>
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  readonly words: Catalogue
}

/** Writes maintenances as an iCalendar to subscribe to (RFC 5545, with the properties of RFC 7986), in UTC. */
export function maintenanceCalendar(source: CalendarSource): string {
  const { name, timeZone } = source.state.organization
  const title = escapeText(source.words.maintenance.calendar(name))
  const zone = zoneOf(timeZone, source.words)
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Allclear//Maintenance//EN',
    `NAME:${title}`,
    // Most readers know these older names of NAME and REFRESH-INTERVAL.
    `X-WR-CALNAME:${title}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...source.maintenances.flatMap((maintenance) => eventOf(source, maintenance, zone)),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${foldLine(line)}\r\n`).join('')
}

function eventOf(
  { state, changes, url, words }: CalendarSource,
  maintenance: MaintenanceWithTimeline,
  zone: Zone,
): string[] {
  const { id, title, status, startsAt, endsAt, createdAt, version, services, serviceCount } = maintenance
  const changed = formatUtc(lastChangeOf(maintenance, changes))
  const affected = new Set(services.map(({ serviceId }) => serviceId))
  const names = state.services.filter((service) => affected.has(service.id)).map(({ name }) => name)
  const description = [
    names.length > 0 &&
      words.incident.affected(joinNames({ services: names.map((name) => ({ name })), serviceCount }, words)),
    ...maintenance.updates
      .filter(({ body }) => body !== null)
      .map((update) => `${words.maintenanceStatus[update.status]}: ${plainText(updateHtml(update, words))}`),
    maintenance.updates.length < maintenance.updateCount && words.maintenance.updatesInTotal(maintenance.updateCount),
  ]
  return [
    'BEGIN:VEVENT',
    `UID:${uuidOf(id)}`,
    // Without a METHOD, DTSTAMP is the last revision (§3.8.7.2).
    `DTSTAMP:${changed}`,
    `LAST-MODIFIED:${changed}`,
    `CREATED:${formatUtc(createdAt)}`,
    // Each change of time or title raises the version.
    `SEQUENCE:${version - 1}`,
    `DTSTART:${formatUtc(startsAt)}`,
    `DTEND:${formatUtc(endAfter(startsAt, endsAt))}`,
    `SUMMARY:${escapeText(title)}`,
    `DESCRIPTION:${escapeText(description.filter(Boolean).join('\n\n'))}`,
    `URL:${url}${maintenancePath(maintenance, zone)}`,
    `STATUS:${status === 'CANCELLED' ? 'CANCELLED' : 'CONFIRMED'}`,
    // Does not block time in the subscriber's calendar.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** Rounds the end up to a second that is later than the start, as §3.8.2.2 requires. */
function endAfter(start: Date, end: Date): Date {
  const begun = Math.floor(start.getTime() / SECOND)
  return new Date(Math.max(begun + 1, Math.ceil(end.getTime() / SECOND)) * SECOND)
}

/** Formats a time to the second: `20261120T120000Z` (§3.3.5). */
function formatUtc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** Escapes a text for a property value (§3.3.11). Removes control characters, which are not allowed. */
function escapeText(value: string): string {
  return value
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
}

/** The maximum length of a line in octets (§3.1). */
const MAX_LINE_OCTETS = 75

/** Folds a line at the maximum length without splitting a character; continuation lines begin with a space (§3.1). */
function foldLine(line: string): string {
  const lines = ['']
  let room = MAX_LINE_OCTETS
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (size > room) {
      lines.push(' ')
      room = MAX_LINE_OCTETS - 1
    }
    lines[lines.length - 1] += character
    room -= size
  }
  return lines.join('\r\n')
}
