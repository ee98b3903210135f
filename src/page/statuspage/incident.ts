import type { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { Entry, IncidentStory, MaintenanceStory } from '../../status/story.ts'
import { lastChangeOf, maintenancePath, saidIn } from '../chronicle.ts'
import type { Component } from './component.ts'
import { componentsOf } from './component.ts'
import type { Impacts, StatuspageSource } from './source.ts'
import { inSmall, maintenanceStatus } from './words.ts'

/** What an update said of a service. */
export interface AffectedComponent {
  /** The component's id. */
  readonly code: string
  /** `Group - Name`, or the name alone. */
  readonly name: string
  readonly old_status: Lowercase<ServiceStatus>
  readonly new_status: Lowercase<ServiceStatus>
}

export interface Update<S extends string> {
  readonly id: string
  readonly status: S
  readonly body: string
  readonly incident_id: string
  readonly created_at: string
  readonly updated_at: string
  readonly display_at: string
  /** null: it concerned none. */
  readonly affected_components: readonly AffectedComponent[] | null
  readonly deliver_notifications: boolean
  readonly custom_tweet: null
  readonly tweet_id: null
}

interface Told<S extends string> {
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

export type Incident = Told<Lowercase<IncidentStatus>>

export interface ScheduledMaintenance extends Told<ReturnType<typeof maintenanceStatus>> {
  readonly scheduled_for: string
  readonly scheduled_until: string
}

/** The incidents that the source names. */
export function incidentsOf(source: StatuspageSource): Incident[] {
  const told = teller(source)
  return source.incidents.map((incident) => {
    const { id, title, status, impact, startedAt, resolvedAt, createdAt, services } = incident
    const updates = incidentUpdates(incident, source.impacts, told.names)
    return {
      id,
      name: title,
      status: inSmall(status),
      created_at: createdAt.toISOString(),
      updated_at: lastChangeOf(incident, source.changes).toISOString(),
      monitoring_at: source.impacts.monitoredAt.get(id)?.toISOString() ?? null,
      resolved_at: resolvedAt?.toISOString() ?? null,
      impact: inSmall(impact),
      shortlink: `${source.url}/incidents/${id}`,
      started_at: startedAt.toISOString(),
      page_id: source.state.organization.id,
      incident_updates: updates,
      components: told.componentsOf(services),
    }
  })
}

/** The maintenances that the source names. */
export function maintenancesOf(source: StatuspageSource): ScheduledMaintenance[] {
  const told = teller(source)
  return source.maintenances.map((maintenance) => {
    const { id, title, status, startsAt, endsAt, endedAt, createdAt, services } = maintenance
    const updates = maintenanceUpdates(maintenance, told.names)
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
      shortlink: source.url + maintenancePath(maintenance, source.zone),
      started_at: createdAt.toISOString(),
      page_id: source.state.organization.id,
      incident_updates: updates,
      components: told.componentsOf(services),
      scheduled_for: startsAt.toISOString(),
      scheduled_until: endsAt.toISOString(),
    }
  })
}

/** What every incident and maintenance of a source is told with. */
function teller(source: StatuspageSource) {
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
  { id, updates, services }: IncidentStory,
  impacts: Impacts,
  names: ReadonlyMap<string, string>,
) {
  const shown = new Set(services.map(({ serviceId }) => serviceId))
  const earlier = (impacts.before.get(id) ?? []).filter(({ serviceId }) => shown.has(serviceId))
  const known = new Map(earlier.map(({ serviceId, status }) => [serviceId, status]))
  const told = updates.toReversed().map((update) => {
    const before = new Map(known)
    for (const { serviceId, status } of impacts.said.get(update.id) ?? []) known.set(serviceId, status)
    if (update.status === 'RESOLVED') for (const serviceId of known.keys()) known.set(serviceId, 'OPERATIONAL')
    return updateOf(id, inSmall(update.status), update, affected(before, known, names))
  })
  return told.reverse()
}

/** Of the oldest entry that is told, what was before is not known, unless it is the first of all. */
function maintenanceUpdates(
  { id, updates, updateCount, services }: MaintenanceStory,
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
  const told = [...after].map(([code, status]) => ({
    code,
    name: names.get(code) ?? code,
    old_status: inSmall(before.get(code) ?? 'OPERATIONAL'),
    new_status: inSmall(status),
  }))
  return told.length === 0 ? null : told
}

function updateOf<S extends string>(
  incidentId: string,
  status: S,
  update: Entry<string>,
  affectedComponents: readonly AffectedComponent[] | null,
): Update<S> {
  const at = update.createdAt.toISOString()
  return {
    id: update.id,
    status,
    body: saidIn(update),
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
