import { plainLines } from '../../core/markdown/markdown.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { MaintenanceSeries } from '../../generated/prisma/client.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { ruleWithEnd } from '../../status/maintenance/maintenance-series.ts'
import { instantOf, localOf } from '../../status/maintenance/recurrence.ts'
import type { PageState } from '../../status/page/page-state.ts'
import { shows } from '../../status/page-scope.ts'
import type { MaintenanceWithTimeline } from '../../status/timeline/timeline-reader.ts'
import type { SeriesWithServices } from '../timeline-queries.ts'
import { lastChangeOf, maintenancePath, updateHtml } from '../timeline-queries.ts'
import { joinNames } from '../view.ts'
import { formatUtc, isUtc, localTime, zoneComponent } from './calendar-time.ts'
import { uuidOf } from './urn.ts'

/** The input of a calendar. */
export interface CalendarSource {
  readonly state: PageState
  readonly maintenances: readonly MaintenanceWithTimeline[]
  /** The repeating maintenances on the page. */
  readonly series: readonly SeriesWithServices[]
  /** When each maintenance and each series last changed, by id. */
  readonly changes: ReadonlyMap<string, Date>
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  readonly words: Catalogue
}

/**
 * Writes maintenances as an iCalendar to subscribe to (RFC 5545, with the properties of RFC 7986), in UTC. A series is
 * one event with its rule, in its own time zone; each of its dates that differs from the rule is an exception of that
 * event.
 */
export function maintenanceCalendar(source: CalendarSource): string {
  const { name } = source.state.organization
  const title = escapeText(source.words.maintenance.calendar(name))
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Allclear//Maintenance//EN',
    `NAME:${title}`,
    // Most readers know these older names of NAME and REFRESH-INTERVAL.
    `X-WR-CALNAME:${title}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...eventsOf(source),
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${foldLine(line)}\r\n`).join('')
}

function eventsOf(source: CalendarSource): string[] {
  const repeating = source.series.filter(({ until, firstStart, timeZone }) => !isBefore(until, timeZone, firstStart))
  const seriesById = new Map(repeating.map((series) => [series.id, series]))
  const zones = new Set(repeating.map(({ timeZone }) => timeZone).filter((name) => !isUtc(name)))
  const begin = Math.min(...repeating.map(({ firstStart, timeZone }) => +instantOf(timeZone, firstStart)))
  return [
    ...[...zones].flatMap((name) => zoneComponent(name, new Date(begin), source.state.readAt)),
    ...repeating.flatMap((series) => seriesEvent(source, series)),
    ...source.maintenances.flatMap((maintenance) => {
      const series = seriesById.get(maintenance.seriesId ?? '')
      const local = series && maintenance.nominalStartsAt && localOf(series.timeZone, maintenance.nominalStartsAt)
      // Dates before an edit of the schedule follow another rule.
      if (!series || !local || local < series.firstStart) return eventOf(source, maintenance)
      if (isAsRepeated(series, maintenance)) return []
      const date = localTime('RECURRENCE-ID', series.timeZone, local)
      return eventOf(source, maintenance, { uid: series.id, date, sequence: series.version - 1 })
    }),
  ]
}

const isBefore = (until: Date | null, timeZone: string, local: string) =>
  until !== null && until < instantOf(timeZone, local)

/** Returns whether a date matches its series. A date that has begun has its own updates. */
function isAsRepeated(
  { title, durationMinutes }: MaintenanceSeries,
  date: Pick<MaintenanceWithTimeline, 'detached' | 'status' | 'title' | 'startsAt' | 'endsAt' | 'updateCount'>,
): boolean {
  const { detached, status, updateCount, startsAt, endsAt } = date
  const isPlanned = !detached && status === 'SCHEDULED' && updateCount <= 1
  return isPlanned && date.title === title && +endsAt - +startsAt === durationMinutes * MINUTE
}

/** Writes a series as one repeating event. Its text is that of its next date. */
function seriesEvent(source: CalendarSource, series: SeriesWithServices): string[] {
  const { id, title, timeZone, firstStart, durationMinutes, skipped, version, createdAt, services } = series
  const { changes, maintenances, url } = source
  const own = maintenances.filter((each) => each.seriesId === id && isAsRepeated(series, each))
  const next = own.toSorted((one, other) => +one.startsAt - +other.startsAt)[0]
  const left = skipped.filter((local) => local >= firstStart)
  const changed = formatUtc(changes.get(id) ?? createdAt)
  const shown = services.filter(({ serviceId }) => shows(source.state.scope, serviceId))
  const timeline = next ?? { updates: [], updateCount: 0, services: shown, serviceCount: shown.length }
  return [
    'BEGIN:VEVENT',
    `UID:${uuidOf(id)}`,
    `DTSTAMP:${changed}`,
    `LAST-MODIFIED:${changed}`,
    `CREATED:${formatUtc(createdAt)}`,
    `SEQUENCE:${version - 1}`,
    localTime('DTSTART', timeZone, firstStart),
    `DURATION:PT${durationMinutes}M`,
    `RRULE:${ruleWithEnd(series)}`,
    ...left.map((local) => localTime('EXDATE', timeZone, local)),
    `SUMMARY:${escapeText(title)}`,
    `DESCRIPTION:${escapeText(descriptionOf(source, timeline))}`,
    `URL:${url}${next === undefined ? '' : maintenancePath(next.id)}`,
    'STATUS:CONFIRMED',
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** A date of a series that differs from its rule: an exception of the event of the series. */
interface SeriesException {
  /** The id of the series. */
  readonly uid: string
  /** The property that identifies the date. */
  readonly date: string
  /** The revision of the series. */
  readonly sequence: number
}

function eventOf(
  source: CalendarSource,
  maintenance: MaintenanceWithTimeline,
  exception: SeriesException | null = null,
): string[] {
  const { id, title, status, startsAt, endsAt, createdAt, version } = maintenance
  const changed = formatUtc(lastChangeOf(maintenance, source.changes))
  return [
    'BEGIN:VEVENT',
    `UID:${uuidOf(exception?.uid ?? id)}`,
    ...(exception === null ? [] : [exception.date]),
    // Without a METHOD, DTSTAMP is the last revision (§3.8.7.2).
    `DTSTAMP:${changed}`,
    `LAST-MODIFIED:${changed}`,
    `CREATED:${formatUtc(createdAt)}`,
    // Each change of time or title raises the version.
    `SEQUENCE:${version - 1 + (exception?.sequence ?? 0)}`,
    `DTSTART:${formatUtc(startsAt)}`,
    `DTEND:${formatUtc(endAfter(startsAt, endsAt))}`,
    `SUMMARY:${escapeText(title)}`,
    `DESCRIPTION:${escapeText(descriptionOf(source, maintenance))}`,
    `URL:${source.url}${maintenancePath(id)}`,
    `STATUS:${status === 'CANCELLED' ? 'CANCELLED' : 'CONFIRMED'}`,
    // Does not block time in the subscriber's calendar.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** Describes the affected services, and the updates, newest first. */
function descriptionOf(
  { state, words }: CalendarSource,
  {
    updates,
    updateCount,
    services,
    serviceCount,
  }: Pick<MaintenanceWithTimeline, 'updates' | 'updateCount' | 'serviceCount'> & {
    readonly services: readonly { readonly serviceId: string }[]
  },
): string {
  const affected = new Set(services.map(({ serviceId }) => serviceId))
  const names = state.services.filter((service) => affected.has(service.id)).map(({ name }) => name)
  return [
    names.length > 0 &&
      words.incident.affected(joinNames({ services: names.map((name) => ({ name })), serviceCount }, words)),
    ...updates
      .filter(({ body }) => body !== null)
      .map((update) => labelled(words.maintenanceStatus[update.status], plainLines(updateHtml(update, words)))),
    updates.length < updateCount && words.maintenance.updatesInTotal(updateCount),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** Writes a text after its label; one of several lines begins on its own. */
const labelled = (label: string, text: string) => `${label}:${text.includes('\n') ? '\n' : ' '}${text}`

/** Rounds the end up to a second that is later than the start, as §3.8.2.2 requires. */
function endAfter(start: Date, end: Date): Date {
  const begun = Math.floor(start.getTime() / SECOND)
  return new Date(Math.max(begun + 1, Math.ceil(end.getTime() / SECOND)) * SECOND)
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
