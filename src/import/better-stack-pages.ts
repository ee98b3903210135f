import { ownValue } from '../core/own-value.ts'
import { noteUnfetched } from './fetch-notes.ts'
import { Fields } from './fields.ts'
import { affecting, firstTime, htmlMessageOf, impactOf, minutesAfter, slugOf, titleOf } from './incident-fields.ts'
import { type Draft, type KeyedStatus, keyOf, nameOf, present, type SourceUpdate } from './translation.ts'

const PREFIX = 'betterstack'

/** A JSON:API object. */
interface Resource {
  readonly id: string
  readonly fields: Fields
}

const resources = (file: Fields, name: string): Resource[] =>
  file.list(name).map((each) => {
    const item = new Fields(each)
    return { id: item.text('id'), fields: item.fields('attributes') }
  })

/**
 * Adds status pages with services, incidents, maintenance and subscribers, from the fields `status_pages`, `sections`, `resources`,
 * `status_reports`, `status_updates` and `subscribers`, in the format of the API. Any may be absent.
 */
export function addPages(draft: Draft, file: Fields): void {
  const keys = servicesOf(draft, file)
  for (const page of resources(file, 'status_pages')) addPage(draft, page, file, keys)
  const updates = resources(file, 'status_updates')
  for (const report of resources(file, 'status_reports')) addReport(draft, report, updates, keys)
  for (const subscriber of resources(file, 'subscribers')) addSubscriber(draft, subscriber.fields, keys)
  noteUnfetched(draft, file)
}

/** Creates services for the resources of pages. Returns their keys by the id of the resource. */
function servicesOf(draft: Draft, file: Fields): Map<string, string> {
  const sections = new Map(resources(file, 'sections').map(({ id, fields }) => [id, nameOf(fields.text('name'), '')]))
  const keys = new Map<string, string>()
  for (const { id, fields } of resources(file, 'resources')) {
    if (id === '') continue
    const isMonitor = fields.text('resource_type') === 'Monitor'
    const own = isMonitor ? keyOf(PREFIX, fields.text('resource_id')) : ''
    const key = draft.objects.services.has(own) ? own : keyOf(PREFIX, `resource ${id}`)
    const section = sections.get(fields.text('status_page_section_id')) ?? ''
    const group = section === '' ? undefined : keyOf(PREFIX, `section ${fields.text('status_page_section_id')}`)
    if (group !== undefined) draft.objects.groups.set(group, { name: section })
    const name = nameOf(fields.text('public_name'), `Resource ${id}`)
    const description = fields.text('explanation').slice(0, 2000)
    const status = ownValue(statuses, fields.text('status'))
    draft.objects.services.set(key, present({ ...draft.objects.services.get(key), name, description, group, status }))
    keys.set(id, key)
  }
  return keys
}

function addPage(draft: Draft, { id, fields }: Resource, file: Fields, keys: ReadonlyMap<string, string>): void {
  const sections = new Set(
    resources(file, 'sections')
      .filter((section) => section.fields.text('status_page_id') === id)
      .map((section) => section.id),
  )
  const services = resources(file, 'resources')
    .filter((resource) => sections.has(resource.fields.text('status_page_section_id')))
    .flatMap((resource) => keys.get(resource.id) ?? [])
  const name = nameOf(fields.text('company_name'), 'Status')
  if (id === '' || services.length === 0) {
    draft.skip('pages', name, 'None of its resources is imported.', fields)
    return
  }
  if (fields.isTrue('password_enabled')) {
    draft.skip('pages', name, 'It has a password. Create the page here and set its access.', fields)
    return
  }
  if (fields.text('custom_domain') !== '') draft.partly('pages', name, 'Set up its domain here.')
  const slug = slugOf(fields.text('subdomain') || name)
  draft.objects.pages.set(keyOf(PREFIX, `page ${id}`), { slug, name, services: [...new Set(services)] })
}

const statuses: Readonly<Record<string, KeyedStatus['status']>> = {
  resolved: 'OPERATIONAL',
  operational: 'OPERATIONAL',
  degraded: 'DEGRADED_PERFORMANCE',
  downtime: 'MAJOR_OUTAGE',
}

const affectedIn = (fields: Fields, keys: ReadonlyMap<string, string>) =>
  fields.list('affected_resources').flatMap((each) => {
    const resource = new Fields(each)
    const key = keys.get(resource.text('status_page_resource_id'))
    return key === undefined ? [] : [{ key, status: resource.text('status') }]
  })

function addReport(
  draft: Draft,
  { id, fields }: Resource,
  all: readonly Resource[],
  keys: ReadonlyMap<string, string>,
): void {
  const title = titleOf(fields.text('title'), 'Report')
  const isMaintenance = fields.text('report_type') === 'maintenance'
  const own = all
    .filter((update) => update.fields.text('status_report_id') === id)
    .flatMap((update) => {
      const at = firstTime(update.fields, 'published_at', 'created_at')
      return at === null ? [] : [{ at, fields: update.fields }]
    })
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
  const startsAt = firstTime(fields, 'starts_at', 'created_at') ?? own[0]?.at ?? null
  if (id === '' || startsAt === null) {
    draft.skip(isMaintenance ? 'maintenance' : 'incidents', title, 'It has no id or time.', fields)
    return
  }
  const endsAt = firstTime(fields, 'ends_at')
  const affected = affectedIn(fields, keys)
  if (isMaintenance) {
    const updates = own.map(({ at, fields: update }) => {
      return { at, status: 'SCHEDULED' as const, message: htmlMessageOf(update.text('message')) }
    })
    const services = [...new Set(affected.map(({ key }) => key))]
    const end = endsAt ?? minutesAfter(startsAt, 60)
    draft.records.maintenances.push({ id, title, status: 'SCHEDULED', startsAt, endsAt: end, services, updates })
    return
  }
  const services = affected.map(({ key, status }) => ({
    key,
    status: ownValue(statuses, status) ?? 'DEGRADED_PERFORMANCE',
  }))
  const timeline = own.map(({ at, fields: update }, index): SourceUpdate => {
    const named = affectedIn(update, keys).map(({ key, status }) => ({
      key,
      status: ownValue(statuses, status) ?? 'OPERATIONAL',
    }))
    const isOver = named.length > 0 && named.every(({ status }) => status === 'OPERATIONAL')
    const status = isOver ? 'RESOLVED' : index === 0 ? 'INVESTIGATING' : 'IDENTIFIED'
    // A resolution restores the services.
    return { at, status, message: htmlMessageOf(update.text('message')), services: isOver && index > 0 ? [] : named }
  })
  const known: SourceUpdate[] =
    timeline.length > 0 ? timeline : [{ at: startsAt, status: 'INVESTIGATING', message: '', services: [] }]
  const updates = affecting(known, services)
  const last = updates.at(-1)
  draft.records.incidents.push({
    ...{ id, title, impact: impactOf(updates), startedAt: startsAt, updates, postmortem: null },
    resolvedAt: endsAt ?? (last?.status === 'RESOLVED' ? last.at : null),
  })
}

function addSubscriber(draft: Draft, subscriber: Fields, keys: ReadonlyMap<string, string>): void {
  const address = subscriber.text('email')
  if (subscriber.get('confirmed_at') === undefined) {
    draft.skip('subscribers', address || 'Subscriber', 'It has not confirmed its subscription there.', subscriber)
    return
  }
  const services = subscriber
    .list('status_page_resource_ids')
    .map((id) => keys.get(String(id)) ?? keyOf(PREFIX, `resource ${id}`))
  draft.records.subscribers.push({ address, services })
}
