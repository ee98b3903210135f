import { ownValue } from '../core/own-value.ts'
import { DAY, MINUTE } from '../core/time.ts'
import { parseLocalTime } from '../core/time-zone.ts'
import { cronRule } from './cron-rule.ts'
import { Fields } from './fields.ts'
import { messageOf, minutesAfter, timeOf, titleOf } from './incident-fields.ts'
import type { Row } from './sqlite.ts'
import { type Draft, keyOf, type SourceIncident, within } from './translation.ts'
import { PREFIX } from './uptime-kuma.ts'

type ReadTable = (table: string) => readonly Row[]

/** Adds maintenance and the incidents of status pages. */
export function addIncidents(draft: Draft, read: ReadTable): void {
  const zone = serverZone(read)
  const pages = servicesByPage(draft, read)
  const shown = read('maintenance_status_page').map((row) => new Fields(row))
  const affected = read('monitor_maintenance').map((row) => new Fields(row))
  for (const maintenance of read('maintenance').map((row) => new Fields(row))) {
    const id = maintenance.text('id')
    const own = affected
      .filter((each) => each.text('maintenance_id') === id)
      .map((each) => keyOf(PREFIX, each.text('monitor_id')))
      .filter((key) => draft.objects.services.has(key))
    const onPages = shown
      .filter((each) => each.text('maintenance_id') === id)
      .flatMap((each) => pages.get(each.text('status_page_id')) ?? [])
    addMaintenance(draft, maintenance, { zone, services: own.length > 0 ? own : [...new Set(onPages)] })
  }
  for (const incident of read('incident').map((row) => new Fields(row))) addIncident(draft, incident, pages)
}

/** Returns the time zone of the server, the default of maintenance. */
function serverZone(read: ReadTable): string {
  const setting = read('setting').find(({ key }) => key === 'serverTimezone')
  const name = String(setting?.['value'] ?? '').replace(/^"|"$/g, '')
  return isZone(name) ? name : 'UTC'
}

function isZone(name: string): boolean {
  try {
    return name !== '' && new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** Returns the keys of the imported services of each status page. */
function servicesByPage(draft: Draft, read: ReadTable): Map<string, string[]> {
  const pageOfGroup = new Map(read('group').map((row) => [String(row['id']), String(row['status_page_id'])]))
  const pages = new Map<string, string[]>()
  for (const row of read('monitor_group')) {
    const page = pageOfGroup.get(String(row['group_id']))
    const key = keyOf(PREFIX, String(row['monitor_id']))
    if (page === undefined || !draft.objects.services.has(key)) continue
    pages.set(page, [...(pages.get(page) ?? []), key])
  }
  return pages
}

interface Of {
  readonly zone: string
  readonly services: readonly string[]
}

function addMaintenance(draft: Draft, maintenance: Fields, of: Of): void {
  const title = titleOf(maintenance.text('title'), 'Maintenance')
  const own = maintenance.text('timezone')
  const zone = isZone(own) ? own : of.zone
  const problem =
    refusalOf(maintenance, of) ??
    (maintenance.text('strategy') === 'single'
      ? addSingle(draft, maintenance, { ...of, zone })
      : addSeries(draft, maintenance, { ...of, zone }))
  if (problem !== null) draft.skip('maintenance', title, problem, maintenance)
}

function refusalOf(maintenance: Fields, { services }: Of): string | null {
  if (maintenance.text('id') === '') return 'It has no id.'
  if (services.length === 0) return 'None of its monitors is imported.'
  if (maintenance.get('active') !== undefined && !maintenance.isTrue('active')) return 'It is not active.'
  return maintenance.text('strategy') === 'manual' ? 'It is started and ended manually. Schedule it here.' : null
}

/** Adds a repeating maintenance. Returns the reason if it cannot be imported, otherwise null. */
function addSeries(draft: Draft, maintenance: Fields, { zone, services }: Of): string | null {
  const title = titleOf(maintenance.text('title'), 'Maintenance')
  const planned = plannedOf(maintenance)
  if (planned === null)
    return `Its schedule is not supported: ${maintenance.text('cron') || maintenance.text('strategy')}.`
  const day = /^\d{4}-\d\d-\d\d/.exec(maintenance.text('start_date'))?.[0] ?? FIRST_DAY
  const startsAt = localTime(zone, `${day}T${two(planned.hour)}:${two(planned.minute)}`)
  const end = localTime(zone, maintenance.text('end_date'))
  if (startsAt === null) return 'Its start cannot be read.'
  draft.records.series.push({
    ...{ id: `maintenance ${maintenance.text('id')}`, title, startsAt, timeZone: zone, services },
    ...{ message: messageOf(maintenance.text('description')) || title, durationMinutes: planned.minutes },
    rule: end === null ? planned.rule : `${planned.rule};UNTIL=${end.slice(0, 19).replace(/[-:]/g, '')}Z`,
  })
  return null
}

/** The first day if none is given: a Sunday, so that intervals of weeks start there. */
const FIRST_DAY = '2024-01-07'

/** Adds a single maintenance. Returns the reason if it cannot be imported, otherwise null. */
function addSingle(draft: Draft, maintenance: Fields, { zone, services }: Of): string | null {
  const title = titleOf(maintenance.text('title'), 'Maintenance')
  const [startsAt, endsAt] = [
    localTime(zone, maintenance.text('start_date')),
    localTime(zone, maintenance.text('end_date')),
  ]
  if (startsAt === null) return 'Its start cannot be read.'
  draft.records.maintenances.push({
    ...{ id: `maintenance ${maintenance.text('id')}`, title, status: 'SCHEDULED', startsAt, services },
    endsAt: endsAt ?? minutesAfter(startsAt, DAY / MINUTE),
    updates: [{ at: startsAt, status: 'SCHEDULED', message: messageOf(maintenance.text('description')) }],
  })
  return null
}

interface Planned {
  readonly hour: number
  readonly minute: number
  readonly minutes: number
  readonly rule: string
}

/** Converts the schedule of a maintenance (Uptime Kuma, server/model/maintenance.js). Null if no rule is equivalent. */
function plannedOf(maintenance: Fields): Planned | null {
  const strategy = maintenance.text('strategy')
  const seconds = maintenance.number('duration')
  const minutesOf = (given: number) => within(1, 7 * 24 * 60, given)
  if (strategy === 'cron') {
    const read = cronRule(maintenance.text('cron'))
    return read === null || seconds === undefined ? null : { ...read, minutes: minutesOf(seconds / 60) }
  }
  const start = clock(maintenance.text('start_time'))
  const end = clock(maintenance.text('end_time'))
  const rule = ruleOf(strategy, maintenance)
  if (start === null || end === null || rule === null) return null
  const lasts = (end.hour - start.hour) * 60 + end.minute - start.minute
  // A maintenance that ends before its start time ends on the next day.
  return { ...start, minutes: minutesOf(lasts < 0 ? lasts + 24 * 60 : lasts), rule }
}

function ruleOf(strategy: string, maintenance: Fields): string | null {
  if (strategy === 'recurring-interval') {
    const days = maintenance.number('interval_day') ?? 1
    return days >= 1 && days <= 366 ? `FREQ=DAILY;INTERVAL=${Math.round(days)}` : null
  }
  if (strategy === 'recurring-weekday') {
    const days = jsonList(maintenance.text('weekdays'))
      .map(Number)
      .filter((day) => Number.isInteger(day) && day >= 0 && day <= 7)
    const names = days.map((day) => ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'][day % 7])
    return names.length === 0 ? null : `FREQ=WEEKLY;BYDAY=${[...new Set(names)].join(',')}`
  }
  if (strategy !== 'recurring-day-of-month') return null
  const days = jsonList(maintenance.text('days_of_month')).map((day) => {
    const last = /^lastDay([1-4])$/.exec(String(day))?.[1]
    return last === undefined ? Number(day) : -Number(last)
  })
  const valid = days.filter((day) => Number.isInteger(day) && day !== 0 && day >= -4 && day <= 31)
  return valid.length === 0 ? null : `FREQ=MONTHLY;BYMONTHDAY=${[...new Set(valid)].join(',')}`
}

function jsonList(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.slice(0, 50) : []
  } catch {
    return []
  }
}

function clock(text: string): { readonly hour: number; readonly minute: number } | null {
  const [, hour, minute] = /^(\d{1,2}):(\d\d)/.exec(text) ?? []
  return hour === undefined || Number(hour) > 23 || Number(minute) > 59
    ? null
    : { hour: Number(hour), minute: Number(minute) }
}

const two = (value: number) => String(value).padStart(2, '0')

/** Converts a local time in a zone to ISO 8601. Null if it is absent or invalid. */
function localTime(zone: string, text: string): string | null {
  const [, day, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d))?/.exec(text) ?? []
  if (day === undefined) return null
  return parseLocalTime(zone, `${day}T${time}`)?.toISOString() ?? null
}

/** The impact of an incident by its style. */
const impacts: Readonly<Record<string, SourceIncident['impact']>> = { danger: 'MAJOR', warning: 'MINOR' }

/** Adds an incident of a status page, which is a text shown while it is pinned. */
function addIncident(draft: Draft, incident: Fields, pages: ReadonlyMap<string, readonly string[]>): void {
  const title = titleOf(incident.text('title'), 'Incident')
  const id = incident.text('id')
  const startedAt = timeOf(incident.get('created_date'))
  const page = incident.text('status_page_id')
  const services = pages.get(page) ?? []
  if (id === '' || startedAt === null || services.length === 0) {
    draft.skip(
      'incidents',
      title,
      services.length === 0 ? 'Its status page is not imported.' : 'It has no id or time.',
      incident,
    )
    return
  }
  const style = incident.text('style')
  const isOpen = incident.isTrue('pin') && incident.get('active') !== 0
  draft.records.incidents.push({
    ...{ id: `incident ${id}`, title, startedAt, postmortem: null },
    impact: ownValue(impacts, style) ?? 'NONE',
    resolvedAt: isOpen ? null : (timeOf(incident.get('last_updated_date')) ?? startedAt),
    updates: [
      {
        ...{ at: startedAt, status: 'IDENTIFIED', message: messageOf(incident.text('content')) },
        // It concerns the whole page and does not change the status of services.
        services: services.map((key) => ({ key, status: 'OPERATIONAL' as const })),
      },
    ],
  })
}
