import type { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import type {
  IncidentWithTimeline,
  MaintenanceWithTimeline,
  TimelineUpdate,
} from '../../status/timeline/timeline-reader.ts'
import { lastChangeOf, maintenancePath, updateText } from '../timeline-queries.ts'
import type { Component } from './component.ts'
import { componentsOf } from './component.ts'
import { lowercase, maintenanceStatus } from './names.ts'
import type { PostmortemFields } from './postmortem.ts'
import type { ServiceImpacts, StatuspageSource } from './source.ts'

/** The change of a component's status by an update. */
interface AffectedComponent {
  /** The component's id. */
  readonly code: string
  /** `Group - Name`, or the name alone. */
  readonly name: string
  readonly old_status: Lowercase<ServiceStatus>
  readonly new_status: Lowercase<ServiceStatus>
}

interface Update<S extends string> {
  readonly id: string
  readonly status: S
  readonly body: string
  readonly incident_id: string
  readonly created_at: string
  readonly updated_at: string
  readonly display_at: string
  /** null: the update affects no component. */
  readonly affected_components: readonly AffectedComponent[] | null
  readonly deliver_notifications: boolean
  readonly custom_tweet: null
  readonly tweet_id: null
}

interface IncidentBase<S extends string> {
  readonly id: string
  readonly name: string
  readonly status: S
  readonly created_at: string
  readonly updated_at: string
  readonly monitoring_at: string | null
  readonly resolved_at: string | null
  readonly impact: Lowercase<IncidentImpact> | 'maintenance'
  readonly shortlink: string
  readonly started_at: string
  readonly page_id: string
  /** Newest first. */
  readonly incident_updates: readonly Update<S>[]
  readonly components: readonly Component[]
}

export type Incident = IncidentBase<Lowercase<IncidentStatus>> | IncidentWithPostmortem

/** Its updates keep their status. */
type IncidentWithPostmortem = Omit<IncidentBase<Lowercase<IncidentStatus>>, 'status'> &
  PostmortemFields & { readonly status: 'postmortem' }

export interface ScheduledMaintenance extends IncidentBase<ReturnType<typeof maintenanceStatus>> {
  readonly scheduled_for: string
  readonly scheduled_until: string
}

/** Converts the source's incidents. */
export function incidentsOf(source: StatuspageSource): Incident[] {
  const lookup = createLookup(source)
  return source.incidents.map((incident) => {
    const { id, title, status, impact, startedAt, resolvedAt, createdAt, services } = incident
    const updates = incidentUpdates(incident, source.impacts, lookup.names)
    const postmortem = source.postmortems.get(id)
    const converted = {
      id,
      name: title,
      status: lowercase(status),
      created_at: createdAt.toISOString(),
      updated_at: lastChangeOf(incident, source.changes).toISOString(),
      monitoring_at: source.impacts.monitoredAt.get(id)?.toISOString() ?? null,
      resolved_at: resolvedAt?.toISOString() ?? null,
      impact: lowercase(impact),
      shortlink: `${source.url}/incidents/${id}`,
      started_at: startedAt.toISOString(),
      page_id: source.state.organization.id,
      incident_updates: updates,
      components: lookup.componentsOf(services),
    }
    return postmortem === undefined ? converted : { ...converted, status: 'postmortem', ...postmortem }
  })
}

/** Converts the source's maintenances. */
export function maintenancesOf(source: StatuspageSource): ScheduledMaintenance[] {
  const lookup = createLookup(source)
  return source.maintenances.map((maintenance) => {
    const { id, title, status, startsAt, endsAt, endedAt, createdAt, services } = maintenance
    const updates = maintenanceUpdates(maintenance, lookup.names)
    const over = status === 'COMPLETED' || status === 'CANCELLED'
    return {
      id,
      name: title,
      status: maintenanceStatus(status),
      created_at: createdAt.toISOString(),
      updated_at: lastChangeOf(maintenance, source.changes).toISOString(),
      monitoring_at: null,
      resolved_at: over ? (endedAt?.toISOString() ?? updates[0]?.created_at ?? null) : null,
      impact: 'maintenance',
      shortlink: source.url + maintenancePath(id),
      started_at: createdAt.toISOString(),
      page_id: source.state.organization.id,
      incident_updates: updates,
      components: lookup.componentsOf(services),
      scheduled_for: startsAt.toISOString(),
      scheduled_until: endsAt.toISOString(),
    }
  })
}

/** Prepares the names and components of a source for all its incidents and maintenances. */
function createLookup(source: StatuspageSource) {
  const components = componentsOf(source)
  const groups = new Map(source.state.groups.map(({ id, name }) => [id, name]))
  const names = new Map(
    source.state.services.map(({ id, name, groupId }) => {
      const group = groupId === null ? undefined : groups.get(groupId)
      return [id, group === undefined ? name : `${group} - ${name}`]
    }),
  )
  return {
    names,
    componentsOf(services: readonly { readonly serviceId: string }[]) {
      const ids = new Set(services.map(({ serviceId }) => serviceId))
      return components.filter(({ id }) => ids.has(id))
    },
  }
}

function incidentUpdates(
  { id, updates, services }: IncidentWithTimeline,
  impacts: ServiceImpacts,
  names: ReadonlyMap<string, string>,
) {
  const shown = new Set(services.map(({ serviceId }) => serviceId))
  const earlier = (impacts.beforeOldest.get(id) ?? []).filter(({ serviceId }) => shown.has(serviceId))
  const current = new Map(earlier.map(({ serviceId, status }) => [serviceId, status]))
  const oldestFirst = updates.toReversed().map((update) => {
    const before = new Map(current)
    for (const { serviceId, status } of impacts.byUpdate.get(update.id) ?? []) current.set(serviceId, status)
    if (update.status === 'RESOLVED') for (const serviceId of current.keys()) current.set(serviceId, 'OPERATIONAL')
    return updateOf(id, lowercase(update.status), update, affected(before, current, names))
  })
  return oldestFirst.reverse()
}

/** The status before the oldest update that was read is unknown, unless it is the first update of the maintenance. */
function maintenanceUpdates(
  { id, updates, updateCount, services }: MaintenanceWithTimeline,
  names: ReadonlyMap<string, string>,
) {
  const all = (status: MaintenanceStatus | undefined) => {
    const shown = status === 'IN_PROGRESS' || status === 'VERIFYING' ? 'UNDER_MAINTENANCE' : 'OPERATIONAL'
    return new Map(services.map(({ serviceId }) => [serviceId, shown] as const))
  }
  return updates.map((update, index) => {
    const before = updates[index + 1] ?? (updates.length < updateCount ? update : undefined)
    return updateOf(
      id,
      maintenanceStatus(update.status),
      update,
      affected(all(before?.status), all(update.status), names),
    )
  })
}

function affected(
  before: ReadonlyMap<string, ServiceStatus>,
  after: ReadonlyMap<string, ServiceStatus>,
  names: ReadonlyMap<string, string>,
): AffectedComponent[] | null {
  const components = [...after].map(([code, status]) => ({
    code,
    name: names.get(code) ?? code,
    old_status: lowercase(before.get(code) ?? 'OPERATIONAL'),
    new_status: lowercase(status),
  }))
  return components.length === 0 ? null : components
}

function updateOf<S extends string>(
  incidentId: string,
  status: S,
  update: TimelineUpdate<string>,
  affectedComponents: readonly AffectedComponent[] | null,
): Update<S> {
  const at = update.createdAt.toISOString()
  return {
    id: update.id,
    status,
    body: updateText(update),
    incident_id: incidentId,
    created_at: at,
    updated_at: update.editedAt?.toISOString() ?? at,
    display_at: at,
    affected_components: affectedComponents,
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
  }
}
