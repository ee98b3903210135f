import type { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import type { PageStatus, ShownService, ShownStatus } from '../status/shown-status.ts'
import { summarizeUnknown, worstStatus } from '../status/shown-status.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline, Timeline } from '../status/timeline-reader.ts'
import type { HistoryItem } from './history.ts'
import type { Zone } from './time-format.ts'

export interface ServiceView extends Pick<ShownService, 'shown' | 'unknownSince' | 'watched' | 'basis'> {
  readonly id: string
  readonly groupId: string | null
  readonly name: string
  readonly description: string
}

/** A service group as the page shows it. */
export interface GroupView {
  readonly id: string
  readonly name: string
  readonly description: string
}

/** A service group with its services; `group` is null for services without a group. */
export interface SectionView {
  readonly group: GroupView | null
  /** The worst status of its services. */
  readonly shown: ShownStatus
  readonly services: readonly ServiceView[]
}

export interface IncidentView extends Omit<Timeline<IncidentStatus>, 'services'> {
  readonly id: string
  readonly title: string
  readonly status: IncidentStatus
  readonly impact: IncidentImpact
  readonly startedAt: Date
  readonly resolvedAt: Date | null
  readonly services: readonly { readonly name: string; readonly status: ServiceStatus }[]
}

export interface MaintenanceView extends Omit<Timeline<MaintenanceStatus>, 'services'> {
  readonly id: string
  readonly title: string
  readonly status: MaintenanceStatus
  readonly startsAt: Date
  readonly endsAt: Date
  readonly services: readonly { readonly name: string }[]
}

/** Returns an incident as the page shows it. @param names service names by service id. */
export function incidentView(incident: IncidentWithTimeline, names: ReadonlyMap<string, string>): IncidentView {
  return { ...incident, services: withNames(incident.services, names) }
}

/** Returns a maintenance as the page shows it. @param names service names by service id. */
export function maintenanceView(
  maintenance: MaintenanceWithTimeline,
  names: ReadonlyMap<string, string>,
): MaintenanceView {
  return { ...maintenance, services: withNames(maintenance.services, names) }
}

/** Returns a history item as the page shows it. @param names service names by service id. */
export function historyItemView(
  item: HistoryItem,
  names: ReadonlyMap<string, string>,
): HistoryItem<IncidentView, MaintenanceView> {
  const { at } = item
  return 'incident' in item
    ? { at, incident: incidentView(item.incident, names) }
    : { at, maintenance: maintenanceView(item.maintenance, names) }
}

function withNames<T extends { readonly serviceId: string }>(of: readonly T[], names: ReadonlyMap<string, string>) {
  return of.flatMap((each) => {
    const name = names.get(each.serviceId)
    return name === undefined ? [] : [{ ...each, name }]
  })
}

/** Joins the names of services, followed by the number of services that are not named: `Search, Checkout and 3 more`. */
export function joinNames(of: {
  readonly services: readonly { readonly name: string }[]
  readonly serviceCount: number
}): string {
  const names = of.services.map(({ name }) => name).join(', ')
  const more = of.serviceCount - of.services.length
  return more > 0 ? `${names} and ${more} more` : names
}

export const serviceStatusLabels = {
  OPERATIONAL: 'Operational',
  DEGRADED_PERFORMANCE: 'Degraded performance',
  PARTIAL_OUTAGE: 'Partial outage',
  MAJOR_OUTAGE: 'Major outage',
  UNDER_MAINTENANCE: 'Under maintenance',
  UNKNOWN: 'No data',
} as const satisfies Record<ShownStatus, string>

/** Returns the status of a service in a few words: `Partial outage`, `First check pending`, `No data since 20 Nov 2026, 12:02 UTC`. */
export function serviceLabel({ shown, unknownSince }: Pick<ServiceView, 'shown' | 'unknownSince'>, zone: Zone): string {
  if (shown !== 'UNKNOWN') return serviceStatusLabels[shown]
  return unknownSince === null ? 'First check pending' : `No data since ${zone.time(unknownSince)}`
}

/** Returns an unknown status in two or three words, where there is no room for a time. */
export function shortLabel({ shown, unknownSince }: Pick<ServiceView, 'shown' | 'unknownSince'>): string {
  return shown === 'UNKNOWN' && unknownSince === null ? 'First check pending' : serviceStatusLabels[shown]
}

export const incidentStatusLabels = {
  INVESTIGATING: 'Investigating',
  IDENTIFIED: 'Identified',
  MONITORING: 'Monitoring',
  RESOLVED: 'Resolved',
} as const satisfies Record<IncidentStatus, string>

export const impactLabels = {
  NONE: 'No impact',
  MINOR: 'Minor impact',
  MAJOR: 'Major impact',
  CRITICAL: 'Critical impact',
} as const satisfies Record<IncidentImpact, string>

export const maintenanceStatusLabels = {
  SCHEDULED: 'Scheduled',
  IN_PROGRESS: 'In progress',
  VERIFYING: 'Verifying',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
} as const satisfies Record<MaintenanceStatus, string>

/** Returns the headline of a page: `Partial outage: Search`. Names up to two services and counts more than two. */
export function headline(
  status: Pick<PageStatus, 'shown' | 'description'>,
  services: readonly Pick<ServiceView, 'name' | 'shown' | 'unknownSince' | 'watched'>[],
  openIncidents: number,
  zone: Zone,
): string {
  const { shown } = status
  if (shown === 'OPERATIONAL') return operationalSentence(services.length, openIncidents)
  const affected = services.filter((service) => service.shown === shown)
  const [first, second] = affected
  // The page is worse than its services only when an open incident affects no service.
  if (first === undefined) return status.description
  const many =
    affected.length === services.length ? `all ${affected.length}` : `${affected.length} of ${services.length}`
  const what =
    affected.length === 1
      ? first.name
      : affected.length === 2 && second
        ? `${first.name} and ${second.name}`
        : `${many} services`
  return shown === 'UNKNOWN' ? silenceSentence(services, what, zone) : `${serviceStatusLabels[shown]}: ${what}`
}

function silenceSentence(services: Parameters<typeof headline>[1], what: string, zone: Zone): string {
  const { everywhere, since } = summarizeUnknown(services)
  if (since === null) return `First check pending: ${what}`
  return `Monitoring${everywhere ? '' : ` of ${what}`} has been silent since ${zone.time(since)}`
}

function operationalSentence(services: number, openIncidents: number): string {
  const open = openIncidents === 1 ? 'one incident is open' : `${openIncidents || 'no'} incidents are open`
  if (services === 0) return `${open[0]?.toUpperCase()}${open.slice(1)}`
  return openIncidents === 0 ? 'All services are operational' : `All services are operational, ${open}`
}

/** Groups services in the owner's order: services without a group first; groups without services are left out. */
export function groupServices(groups: readonly GroupView[], services: readonly ServiceView[]): SectionView[] {
  return [null, ...groups]
    .map((group) => ({ group, services: services.filter(({ groupId }) => groupId === (group?.id ?? null)) }))
    .filter((section) => section.services.length > 0)
    .map((section) => ({ ...section, shown: worstStatus<ShownStatus>(section.services.map(({ shown }) => shown)) }))
}

/** A day in the page's time zone with the items that started on it. */
export interface Day<T> {
  /** `2026-11-20`. */
  readonly key: string
  /** `Friday, 20 November 2026`. */
  readonly name: string
  readonly items: readonly T[]
}

/** Groups items by the day on which they started; keeps their order. */
export function groupByDay<T>(items: readonly T[], zone: Zone, startOf: (item: T) => Date): Day<T>[] {
  const days = new Map<string, { key: string; name: string; items: T[] }>()
  for (const item of items) {
    const at = startOf(item)
    const key = zone.dayKey(at)
    const day = days.get(key) ?? { key, name: zone.day(at), items: [] }
    day.items.push(item)
    days.set(key, day)
  }
  return [...days.values()]
}
