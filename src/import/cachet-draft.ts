import { affecting, htmlMessageOf, impactOf, minutesAfter, titleOf } from './incident-fields.ts'
import { Draft, type KeyedStatus, keyOf, nameOf, present, type SourceUpdate } from './translation.ts'

const PREFIX = 'cachet'

/** Data of Cachet 2 or 3, from its API or its tables. Times are ISO 8601. */
export interface CachetData {
  readonly groups: readonly { readonly id: string; readonly name: string; readonly isPublic: boolean }[]
  readonly components: readonly CachetComponent[]
  readonly incidents: readonly CachetIncident[]
  readonly schedules: readonly CachetSchedule[]
  readonly subscribers: readonly CachetSubscriber[]
}

interface CachetComponent {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Empty: no group. */
  readonly groupId: string
  readonly isEnabled: boolean
  readonly hasLink: boolean
  /** Cachet's number; null: not given. */
  readonly status: number | null
}

/** An update of an incident or a schedule. The status is Cachet's number. */
export interface CachetUpdate {
  readonly at: string
  readonly status: number
  readonly message: string
}

/** An affected component. The status is Cachet's number; null: not given. */
export interface CachetAffected {
  readonly id: string
  readonly status: number | null
}

interface CachetIncident {
  readonly id: string
  readonly name: string
  readonly message: string
  readonly status: number
  readonly isPublic: boolean
  readonly at: string | null
  readonly components: readonly CachetAffected[]
  readonly updates: readonly CachetUpdate[]
}

interface CachetSchedule {
  readonly id: string
  readonly name: string
  readonly message: string
  readonly status: number
  readonly startsAt: string | null
  readonly endedAt: string | null
  readonly components: readonly CachetAffected[]
  readonly updates: readonly CachetUpdate[]
}

interface CachetSubscriber {
  readonly email: string
  readonly isVerified: boolean
  /** The components it subscribes to; empty: all. */
  readonly components: readonly string[]
}

/** Drafts the translation of Cachet's data. */
export function draftCachet({ groups, components, incidents, schedules, subscribers }: CachetData): Draft {
  const draft = new Draft()
  const hidden = new Set(groups.filter((group) => !group.isPublic).map(({ id }) => id))
  for (const { id, name } of groups)
    if (id !== '' && !hidden.has(id)) draft.objects.groups.set(keyOf(PREFIX, id), { name: nameOf(name, 'Group') })
  for (const component of components) addService(draft, component, hidden)
  for (const incident of incidents) addIncident(draft, incident)
  for (const schedule of schedules) addSchedule(draft, schedule)
  for (const subscriber of subscribers) addSubscriber(draft, subscriber)
  return draft
}

function addService(draft: Draft, component: CachetComponent, hidden: ReadonlySet<string>): void {
  const { id, groupId } = component
  const name = nameOf(component.name, `Component ${id}`)
  const refusal =
    id === ''
      ? 'It has no id.'
      : hidden.has(groupId)
        ? 'Its group is not public.'
        : component.isEnabled
          ? null
          : 'It is not enabled.'
  if (refusal !== null) {
    draft.skip('services', name, refusal)
    return
  }
  const group = keyOf(PREFIX, groupId)
  draft.objects.services.set(
    keyOf(PREFIX, id),
    present({
      ...{ name, description: component.description.slice(0, 2000) },
      group: groupId !== '' && draft.objects.groups.has(group) ? group : undefined,
      status: component.status === null ? undefined : componentStatuses[component.status],
    }),
  )
  if (component.hasLink) draft.partly('services', name, 'Its link is not imported.')
}

/** Statuses of components (1 operational to 4 major outage) and incidents (1 investigating to 4 fixed), in both versions. */
const componentStatuses: Readonly<Record<number, KeyedStatus['status']>> = {
  1: 'OPERATIONAL',
  2: 'DEGRADED_PERFORMANCE',
  3: 'PARTIAL_OUTAGE',
  4: 'MAJOR_OUTAGE',
}
const incidentStatuses: Readonly<Record<number, SourceUpdate['status']>> = {
  1: 'INVESTIGATING',
  2: 'IDENTIFIED',
  3: 'MONITORING',
  4: 'RESOLVED',
}

function addIncident(draft: Draft, incident: CachetIncident): void {
  const { id, at } = incident
  const title = titleOf(incident.name, 'Incident')
  if (id === '' || at === null || !incident.isPublic) {
    draft.skip('incidents', title, !incident.isPublic ? 'It is not public.' : 'It has no id or time.')
    return
  }
  const services = incident.components.map(({ id: component, status }) => ({
    key: keyOf(PREFIX, component),
    status: (status === null ? undefined : componentStatuses[status]) ?? 'DEGRADED_PERFORMANCE',
  }))
  const isFixed = incident.status === 4
  const later = incident.updates.map((update): SourceUpdate => {
    const status = incidentStatuses[update.status] ?? 'INVESTIGATING'
    return { at: update.at, status, message: htmlMessageOf(update.message), services: [] }
  })
  // Cachet stores the status of the last update as that of the incident, but its message is the first one.
  const first = later.length > 0 && isFixed ? 'INVESTIGATING' : (incidentStatuses[incident.status] ?? 'INVESTIGATING')
  const updates = affecting(
    [{ at, status: first, message: htmlMessageOf(incident.message), services: [] }, ...later],
    services,
  )
  const resolvedAt = isFixed
    ? (later.filter(({ status }) => status === 'RESOLVED').at(-1)?.at ?? updates.at(-1)?.at ?? at)
    : null
  draft.records.incidents.push({
    id,
    title,
    impact: impactOf(updates),
    startedAt: at,
    resolvedAt,
    updates,
    postmortem: null,
  })
}

const scheduleStatuses: Readonly<Record<number, 'SCHEDULED' | 'IN_PROGRESS' | 'COMPLETED'>> = {
  0: 'SCHEDULED',
  1: 'IN_PROGRESS',
  2: 'COMPLETED',
}
/** The assumed duration, because Cachet's schedules may have no planned end. */
const PLANNED_MINUTES = 60

function addSchedule(draft: Draft, schedule: CachetSchedule): void {
  const { id, startsAt, endedAt } = schedule
  const title = titleOf(schedule.name, 'Maintenance')
  if (id === '' || startsAt === null) {
    draft.skip('maintenance', title, 'It has no id or time.')
    return
  }
  const status = endedAt === null ? (scheduleStatuses[schedule.status] ?? 'SCHEDULED') : 'COMPLETED'
  if (endedAt === null)
    draft.partly('maintenance', title, `It has no end there, so it lasts ${PLANNED_MINUTES} minutes here.`)
  const updates = [{ at: startsAt, status: 0, message: schedule.message }, ...schedule.updates].map((update) => ({
    ...{ at: update.at, status: scheduleStatuses[update.status] ?? status, message: htmlMessageOf(update.message) },
  }))
  draft.records.maintenances.push({
    ...{ id, title, status, startsAt, endsAt: endedAt ?? minutesAfter(startsAt, PLANNED_MINUTES) },
    ...{ services: schedule.components.map((component) => keyOf(PREFIX, component.id)), updates },
  })
}

function addSubscriber(draft: Draft, { email, isVerified, components }: CachetSubscriber): void {
  if (!isVerified) draft.skip('subscribers', email || 'Subscriber', 'It has not confirmed its subscription there.')
  else draft.records.subscribers.push({ address: email, services: components.map((id) => keyOf(PREFIX, id)) })
}
