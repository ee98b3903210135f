import type { ObjectFields } from '../configuration/format.ts'
import { Fields } from './fields.ts'
import { firstTime, minutesAfter, slugOf, timeOf, titleOf } from './incident-fields.ts'
import { type Draft, keyOf, nameOf, within } from './translation.ts'

const PREFIX = 'uptimerobot'

/** Adds the status pages, maintenance windows and alert contacts of version 2 or 3 in a file. */
export function addPagesAndWindows(draft: Draft, file: Fields, monitors: readonly Fields[]): void {
  for (const page of listOf(file, 'psps')) addPage(draft, page)
  for (const window of [...listOf(file, 'mwindows'), ...listOf(file, 'maintenance_windows')])
    addWindow(draft, window, monitors)
  for (const contact of listOf(file, 'alert_contacts')) addContact(draft, contact, monitors)
}

/** Returns a field that is a list, or an answer with `data`. */
function listOf(file: Fields, name: string): Fields[] {
  const value = file.get(name)
  const list = Array.isArray(value) ? value : new Fields(value).list('data')
  return list.map((each) => new Fields(each))
}

const idsIn = (list: readonly unknown[]) =>
  list.map((each) => (typeof each === 'object' ? new Fields(each).text('id') : String(each)))

function addPage(draft: Draft, page: Fields): void {
  const id = page.text('id')
  const name = nameOf(page.text('friendly_name') || page.text('friendlyName'), 'Status')
  const ids = idsIn([...page.list('monitors'), ...page.list('monitorIds')])
  // 0 or nothing means all monitors.
  const isAll = ids.length === 0 || (ids.length === 1 && ids[0] === '0') || page.text('monitors') === '0'
  const own = isAll ? [...draft.objects.services.keys()] : ids.map((each) => keyOf(PREFIX, each))
  const services = own.filter((key) => draft.objects.services.has(key))
  const hasPassword = page.isTrue('password') || page.isTrue('isPasswordSet') || page.text('password') !== ''
  if (id === '' || services.length === 0 || hasPassword) {
    const reason = hasPassword
      ? 'It has a password. Create the page here and set its access.'
      : 'None of its monitors is imported.'
    draft.skip('pages', name, reason, page)
    return
  }
  if (page.text('custom_url') !== '' || page.text('customDomain') !== '')
    draft.partly('pages', name, 'Set up its domain here.')
  draft.objects.pages.set(keyOf(PREFIX, `page ${id}`), { slug: slugOf(name), name, services })
}

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const types = ['once', 'once', 'daily', 'weekly', 'monthly']

/** Adds a maintenance window. Repeating windows have times of day in UTC, and weekdays from 1 (Monday). */
function addWindow(draft: Draft, window: Fields, monitors: readonly Fields[]): void {
  const title = titleOf(window.text('friendly_name') || window.text('name'), 'Maintenance')
  const services = servicesOf(draft, window, monitors)
  const kind = window.text('interval').toLowerCase() || types[window.number('type') ?? 0] || ''
  const of = { id: window.text('id'), title, services, minutes: within(1, 10_080, window.number('duration') ?? 60) }
  const problem =
    refusalOf(window, services) ??
    (kind === 'once' ? addOnce(draft, window, of) : addSeries(draft, window, { ...of, kind }))
  if (problem !== null) draft.skip('maintenance', title, problem, window)
}

function refusalOf(window: Fields, services: readonly string[]): string | null {
  if (window.text('id') === '') return 'It has no id.'
  if (services.length === 0) return 'None of its monitors is imported.'
  return window.text('status') === '0' || window.text('status').toUpperCase() === 'PAUSED' ? 'It is paused.' : null
}

interface Window {
  readonly id: string
  readonly title: string
  readonly services: readonly string[]
  readonly minutes: number
}

/** Adds a single window. Returns the reason if it cannot be imported, otherwise null. */
function addOnce(draft: Draft, window: Fields, { id, title, services, minutes }: Window): string | null {
  const startsAt = onceAt(window)
  if (startsAt === null) return 'Its start cannot be read.'
  const endsAt = minutesAfter(startsAt, minutes)
  draft.records.maintenances.push({ id, title, status: 'SCHEDULED', startsAt, endsAt, services, updates: [] })
  return null
}

/** Adds a repeating window. Returns the reason if it cannot be imported, otherwise null. */
function addSeries(draft: Draft, window: Fields, { kind, ...of }: Window & { readonly kind: string }): string | null {
  const rule = ruleOf(kind, window)
  const [, time] = /^(\d\d:\d\d)/.exec(window.text('time') || window.text('start_time')) ?? []
  if (rule === null || time === undefined) return 'Its schedule cannot be read.'
  const { id, title, services, minutes } = of
  const startsAt = `${FIRST_DAY}T${time}:00.000Z`
  draft.records.series.push({
    ...{ id, title, message: title, startsAt, durationMinutes: minutes, rule, timeZone: 'UTC', services },
  })
  return null
}

const FIRST_DAY = '2024-01-01'

function servicesOf(draft: Draft, window: Fields, monitors: readonly Fields[]): string[] {
  const id = window.text('id')
  const uses = (monitor: Fields) =>
    idsIn([...monitor.list('mwindows'), ...monitor.list('maintenanceWindows')]).includes(id)
  const ids = [...idsIn(window.list('monitorIds')), ...monitors.filter(uses).map((monitor) => monitor.text('id'))]
  return [...new Set(ids.map((each) => keyOf(PREFIX, each)))].filter((key) => draft.objects.services.has(key))
}

/** Returns the start of a single window: seconds since 1970 in version 2, a date and a time in version 3. */
function onceAt(window: Fields): string | null {
  const seconds = window.number('start_time')
  if (seconds !== undefined) return timeOf(seconds)
  const date = window.text('date').slice(0, 10)
  return timeOf(`${date}T${window.text('time') || '00:00:00'}`) ?? firstTime(window, 'date')
}

function ruleOf(kind: string, window: Fields): string | null {
  const days = [...window.list('days').map(Number), ...window.text('value').split('-').filter(Boolean).map(Number)]
  if (kind === 'daily') return 'FREQ=DAILY'
  if (kind === 'weekly') {
    const names = days.flatMap((day) => weekdays[day - 1] ?? [])
    return names.length === 0 ? null : `FREQ=WEEKLY;BYDAY=${[...new Set(names)].join(',')}`
  }
  if (kind !== 'monthly') return null
  const valid = days.filter((day) => Number.isInteger(day) && ((day >= 1 && day <= 31) || day === -1))
  return valid.length === 0 ? null : `FREQ=MONTHLY;BYMONTHDAY=${[...new Set(valid)].join(',')}`
}

/** Returns the address of a contact by its type: a number (version 2) or a name. */
function addressOf(type: string, value: string): ObjectFields | null {
  if (type === '2' || /^e-?mail$/i.test(type)) return { mail: { address: value } }
  if (type === '5' || /webhook/i.test(type)) return { webhook: { url: value } }
  if (type === '11' || /slack/i.test(type)) return { slack: { url: value } }
  if (type === '20' || /teams/i.test(type)) return { teams: { url: value } }
  if (type === '23' || /discord/i.test(type)) return { discord: { url: value } }
  return null
}

function addContact(draft: Draft, contact: Fields, monitors: readonly Fields[]): void {
  const id = contact.text('id')
  const value = contact.text('value')
  const type = contact.text('type')
  const name = nameOf(contact.text('friendly_name') || contact.text('friendlyName') || value, `Contact ${id}`)
  const uses = (monitor: Fields) =>
    idsIn([...monitor.list('alert_contacts'), ...monitor.list('assignedAlertContacts')]).includes(id)
  const used = monitors
    .filter(uses)
    .map((monitor) => keyOf(PREFIX, monitor.text('id')))
    .filter((key) => draft.objects.monitors.has(key))
  const address = value === '' ? null : addressOf(type, value)
  // A channel without monitors would get the alerts of all monitors.
  if (used.length === 0) draft.skip('channels', name, 'None of the imported monitors uses it.', contact)
  else if (address === null) draft.skip('channels', name, 'Contacts of this kind are not imported.', contact)
  else
    draft.objects.channels.set(keyOf(PREFIX, `contact ${id}`), {
      name,
      monitors: used,
      when: ['DOWN', 'UP'],
      ...address,
    })
}
