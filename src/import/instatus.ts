import { ownValue } from '../core/own-value.ts'
import type { IncidentImpact, ServiceStatus } from '../generated/prisma/enums.ts'
import { noteUnfetched } from './fetch-notes.ts'
import { Fields } from './fields.ts'
import { affecting, firstTime, htmlMessageOf, minutesAfter, slugOf, statusOf, titleOf } from './incident-fields.ts'
import { type KnownKeys, NO_LOSS, noLossOf, noteLosses, unless, words } from './losses.ts'
import { Draft, type Drafted, keyOf, nameOf, present, readJson, type SourceUpdate, Unreadable } from './translation.ts'

const PREFIX = 'instatus'

const LOOK = 'The look of pages is not imported.'

const COMPONENT = ['name', 'description', 'showUptime', 'isThirdParty', 'group', 'archivedAt']

const known: KnownKeys = {
  // Ids, times, the current state, and what repeats data of another place.
  ...noLossOf(
    words(`
      id createdAt updatedAt status order uniqueEmail incidentId maintenanceId pageId siteId workspaceId
      started resolved ended groupId parentId messageHtml notify isParent nameTranslationId page_id confirmed
      all children components nameTranslations
    `),
  ),
  ...{ showUptime: unless('Its uptime is hidden there.', true), archivedAt: 'It is archived there.' },
  ...{ isThirdParty: unless('It follows another provider there.', false), thirdPartyComponentId: NO_LOSS },
  ...{
    autoStart: unless('It starts and ends by itself here.', true),
    autoEnd: unless('It starts and ends by itself here.', true),
  },
  // Components and groups, which other records repeat.
  ...noLossOf(COMPONENT, 'incidents.components'),
  ...noLossOf(COMPONENT, 'maintenances.components'),
  ...noLossOf(COMPONENT, 'subscribers.components'),
  ...noLossOf(['description', 'showUptime', 'name'], 'group'),
  customDomain: 'Set up its domain here.',
  translations: 'Its translations are not imported.',
  ...{ logoUrl: LOOK, faviconUrl: LOOK, websiteUrl: LOOK, brandColor: LOOK, okColor: LOOK, googleAnalytics: LOOK },
}

/**
 * Translates the answer of Instatus to `/v2/{page}/components`, or an object that combines `components`, `incidents`,
 * `maintenances`, `subscribers` and `pages`. @throws Unreadable.
 */
export function translateInstatus(text: string): Drafted {
  const answer = readJson(text)
  const file = new Fields(answer)
  const list = Array.isArray(answer) ? answer : file.list('components')
  const components = list.map((each) => new Fields(each))
  if (!components.some((each) => each.text('id') !== ''))
    throw new Unreadable('This isn’t a list of components of Instatus: it has no components.')
  const draft = new Draft()
  const parents = new Set(components.map(parentOf).filter((id) => id !== ''))
  for (const component of components) {
    const group = component.fields('group')
    if (group.text('id') !== '') addGroup(draft, group)
    if (component.isTrue('isParent') || parents.has(component.text('id'))) addGroup(draft, component)
  }
  for (const component of components) addService(draft, component)
  addPage(draft, file)
  for (const incident of file.list('incidents')) addIncident(draft, new Fields(incident))
  for (const maintenance of file.list('maintenances')) addMaintenance(draft, new Fields(maintenance))
  for (const subscriber of file.list('subscribers')) addSubscriber(draft, new Fields(subscriber))
  noteUnfetched(draft, file)
  if (Array.isArray(answer)) noteLosses(draft, components, known, ['components'])
  else noteLosses(draft, [file], known)
  return { ...draft, hasVariables: false }
}

const parentOf = (component: Fields) =>
  component.fields('group').text('id') || component.text('groupId') || component.text('parentId')

function addGroup(draft: Draft, group: Fields): void {
  draft.objects.groups.set(keyOf(PREFIX, group.text('id')), { name: nameOf(textOf(group.get('name')), 'Group') })
}

/** Returns a name, which may be a text or an object of texts by language. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const names = new Fields(value)
  return names.text('default') || names.text('en')
}

function addService(draft: Draft, component: Fields): void {
  const id = component.text('id')
  const key = keyOf(PREFIX, id)
  if (draft.objects.groups.has(key)) return
  const name = nameOf(textOf(component.get('name')), `Component ${id}`)
  if (id === '') {
    draft.skip('services', name, 'It has no id.', component)
    return
  }
  const parent = parentOf(component)
  const group = parent === '' ? undefined : keyOf(PREFIX, parent)
  const description = textOf(component.get('description')).trim().slice(0, 2000)
  const hasGroup = group !== undefined && draft.objects.groups.has(group)
  const status = ownValue(componentStatuses, component.text('status').toUpperCase())
  draft.objects.services.set(key, present({ name, description, group: hasGroup ? group : undefined, status }))
}

function addPage(draft: Draft, file: Fields): void {
  const wanted = file.text('page_id')
  const pages = file.list('pages').map((each) => new Fields(each))
  const page = pages.find((each) => each.text('id') === wanted || each.text('subdomain') === wanted)
  const services = [...draft.objects.services.keys()]
  for (const other of pages) {
    const name = nameOf(textOf(other.get('name')), 'Status')
    const id = other.text('id')
    if (other !== page || id === '' || services.length === 0)
      draft.skip('pages', name, 'The components are not those of this page.', other)
    else {
      const slug = slugOf(other.text('subdomain') || name)
      draft.objects.pages.set(keyOf(PREFIX, `page ${id}`), { slug, name, services })
    }
  }
}

const impacts: Readonly<Record<string, IncidentImpact>> = {
  DEGRADEDPERFORMANCE: 'MINOR',
  PARTIALOUTAGE: 'MAJOR',
  MAJOROUTAGE: 'CRITICAL',
  OPERATIONAL: 'NONE',
}
const componentStatuses: Readonly<Record<string, ServiceStatus>> = {
  OPERATIONAL: 'OPERATIONAL',
  DEGRADEDPERFORMANCE: 'DEGRADED_PERFORMANCE',
  PARTIALOUTAGE: 'PARTIAL_OUTAGE',
  MAJOROUTAGE: 'MAJOR_OUTAGE',
  UNDERMAINTENANCE: 'UNDER_MAINTENANCE',
}
const statuses: readonly SourceUpdate['status'][] = ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED']
const statusIn = (text: string) => statuses.find((status) => status === text.toUpperCase())

const bodyOf = (update: Fields) => htmlMessageOf(update.text('message') || update.text('messageHtml'))

function addIncident(draft: Draft, incident: Fields): void {
  const id = incident.text('id')
  const title = titleOf(textOf(incident.get('name')), 'Incident')
  const startedAt = firstTime(incident, 'started', 'createdAt')
  if (id === '' || startedAt === null) {
    draft.skip('incidents', title, 'It has no id or time.', incident)
    return
  }
  const status = statusIn(incident.text('status')) ?? 'RESOLVED'
  const impact = ownValue(impacts, incident.text('impact').toUpperCase()) ?? 'MINOR'
  const updates = incident
    .list('updates')
    .map((each) => new Fields(each))
    .flatMap((update): SourceUpdate[] => {
      const at = firstTime(update, 'started', 'createdAt')
      const own = statusIn(update.text('status')) ?? status
      return at === null ? [] : [{ at, status: own, message: bodyOf(update), services: [] }]
    })
  const services = componentsOf(incident).map((key) => ({ key, status: statusOf(impact) }))
  const known = updates.length > 0 ? updates : [{ at: startedAt, status, message: '', services: [] }]
  draft.records.incidents.push({
    ...{ id, title, impact, startedAt, postmortem: null, updates: affecting(known, services) },
    resolvedAt: status === 'RESOLVED' ? (firstTime(incident, 'resolved') ?? known.at(-1)?.at ?? startedAt) : null,
  })
}

const componentsOf = (record: Fields) =>
  record.list('components').map((each) => keyOf(PREFIX, typeof each === 'string' ? each : new Fields(each).text('id')))

const maintenanceStatuses = { NOTSTARTEDYET: 'SCHEDULED', INPROGRESS: 'IN_PROGRESS', COMPLETED: 'COMPLETED' } as const

function maintenanceStatus(text: string) {
  const found = Object.entries(maintenanceStatuses).find(([name]) => name === text.toUpperCase())
  return found?.[1]
}

/** The duration of a maintenance without one. */
const DEFAULT_MINUTES = 60

function addMaintenance(draft: Draft, maintenance: Fields): void {
  const id = maintenance.text('id')
  const title = titleOf(textOf(maintenance.get('name')), 'Maintenance')
  const startsAt = firstTime(maintenance, 'start', 'started')
  if (id === '' || startsAt === null) {
    draft.skip('maintenance', title, 'It has no id or time.', maintenance)
    return
  }
  const status = maintenanceStatus(maintenance.text('status')) ?? 'COMPLETED'
  const minutes = Math.max(1, Math.min(maintenance.number('duration') ?? DEFAULT_MINUTES, 10_080))
  draft.records.maintenances.push({
    ...{ id, title, status, startsAt, endsAt: minutesAfter(startsAt, minutes), services: componentsOf(maintenance) },
    updates: maintenance
      .list('updates')
      .map((each) => new Fields(each))
      .flatMap((update) => {
        const at = firstTime(update, 'started', 'createdAt')
        const own = maintenanceStatus(update.text('status')) ?? status
        return at === null ? [] : [{ at, status: own, message: bodyOf(update) }]
      }),
  })
}

function addSubscriber(draft: Draft, subscriber: Fields): void {
  const address = subscriber.text('email')
  const problem =
    address === ''
      ? subscriber.text('phone') !== ''
        ? 'SMS is not supported.'
        : 'Webhooks are not imported: the receiver must subscribe again to get its signing secret.'
      : subscriber.get('confirmed') === false
        ? 'It has not confirmed its subscription there.'
        : null
  if (problem !== null) draft.skip('subscribers', address || 'Subscriber', problem, subscriber)
  else {
    const services = subscriber.get('all') === false ? componentsOf(subscriber) : []
    draft.records.subscribers.push({ address, services })
  }
}
