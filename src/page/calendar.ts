import { plainText } from '../markdown.ts'
import type { PageState } from '../status/page-state.ts'
import type { MaintenanceStory } from '../status/story.ts'
import { SECOND } from '../time.ts'
import { htmlSaidIn, lastChangeOf, maintenancePath } from './chronicle.ts'
import { uuidOf } from './urn.ts'
import { maintenanceWords, namesOf } from './view.ts'
import type { Zone } from './zone.ts'
import { zoneOf } from './zone.ts'

/** What a calendar is written of. */
export interface CalendarSource {
  readonly state: PageState
  readonly maintenances: readonly MaintenanceStory[]
  /** When each of them last changed, by its id. */
  readonly changes: ReadonlyMap<string, Date>
  /** The public address of the page, without a slash at its end. */
  readonly url: string
}

/** The maintenances as a calendar to subscribe to (RFC 5545, with the names of RFC 7986), in UTC. */
export function maintenanceCalendar(source: CalendarSource): string {
  const { name, timeZone } = source.state.organization
  const title = text(`${name} maintenance`)
  const zone = zoneOf(timeZone)
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Allclear//Maintenance//EN',
    `NAME:${title}`,
    // What most readers knew before NAME and REFRESH-INTERVAL were agreed upon.
    `X-WR-CALNAME:${title}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...source.maintenances.flatMap((maintenance) => eventOf(source, maintenance, zone)),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${fold(line)}\r\n`).join('')
}

function eventOf({ state, changes, url }: CalendarSource, maintenance: MaintenanceStory, zone: Zone): string[] {
  const { id, title, status, startsAt, endsAt, createdAt, version, services, serviceCount } = maintenance
  const changed = utc(lastChangeOf(maintenance, changes))
  const concerned = new Set(services.map(({ serviceId }) => serviceId))
  const names = state.services.filter((service) => concerned.has(service.id)).map(({ name }) => name)
  const description = [
    names.length > 0 && `Concerns ${namesOf({ services: names.map((name) => ({ name })), serviceCount })}.`,
    ...maintenance.updates
      .filter(({ said }) => said !== null)
      .map((update) => `${maintenanceWords[update.status]}: ${plainText(htmlSaidIn(update))}`),
    maintenance.updates.length < maintenance.updateCount && `${maintenance.updateCount} updates in all.`,
  ]
  return [
    'BEGIN:VEVENT',
    `UID:${uuidOf(id)}`,
    // Without a METHOD, this is when it was last revised (§3.8.7.2).
    `DTSTAMP:${changed}`,
    `LAST-MODIFIED:${changed}`,
    `CREATED:${utc(createdAt)}`,
    // Each change of when and what raises the version.
    `SEQUENCE:${version - 1}`,
    `DTSTART:${utc(startsAt)}`,
    `DTEND:${utc(endAfter(startsAt, endsAt))}`,
    `SUMMARY:${text(title)}`,
    `DESCRIPTION:${text(description.filter(Boolean).join('\n\n'))}`,
    `URL:${url}${maintenancePath(maintenance, zone)}`,
    `STATUS:${status === 'CANCELLED' ? 'CANCELLED' : 'CONFIRMED'}`,
    // Nobody is busy because of it.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** The end to the second, after the start to the second, as it has to be (§3.8.2.2). */
function endAfter(start: Date, end: Date): Date {
  const begun = Math.floor(start.getTime() / SECOND)
  return new Date(Math.max(begun + 1, Math.ceil(end.getTime() / SECOND)) * SECOND)
}

/** A moment to the second: `20261120T120000Z` (§3.3.5). */
function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** A text as the value of a property (§3.3.11), without control characters, which it cannot hold. */
function text(value: string): string {
  return value
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\t\n]/gu, '')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
}

/** The most octets of a line (§3.1). */
const LONGEST_LINE = 75

/** A line as one or more, none longer than allowed and no character cut in two; those that go on begin with a blank. */
function fold(line: string): string {
  const lines = ['']
  let room = LONGEST_LINE
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (size > room) {
      lines.push(' ')
      room = LONGEST_LINE - 1
    }
    lines[lines.length - 1] += character
    room -= size
  }
  return lines.join('\r\n')
}
