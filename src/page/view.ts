import type { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../generated/prisma/enums.ts'
import type { PageStatus, Shown, ShownAs } from '../status/shown-status.ts'
import { silenceOf, worstOf } from '../status/shown-status.ts'
import type { IncidentStory, MaintenanceStory, Story } from '../status/story.ts'
import type { Happening } from './history.ts'
import type { Zone } from './zone.ts'

export interface ShownService extends Pick<Shown, 'shown' | 'unknownSince' | 'watched'> {
  readonly id: string
  readonly groupId: string | null
  readonly name: string
  readonly description: string
}

/** Services under one heading; those of no group are under none. */
export interface ShownGroup {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface ShownSection {
  readonly group: ShownGroup | null
  /** The worst of its services. */
  readonly shown: ShownAs
  readonly services: readonly ShownService[]
}

export interface ShownIncident extends Omit<Story<IncidentStatus>, 'services'> {
  readonly id: string
  readonly title: string
  readonly status: IncidentStatus
  readonly impact: IncidentImpact
  readonly startedAt: Date
  readonly resolvedAt: Date | null
  readonly services: readonly { readonly name: string; readonly status: ServiceStatus }[]
}

export interface ShownMaintenance extends Omit<Story<MaintenanceStatus>, 'services'> {
  readonly id: string
  readonly title: string
  readonly status: MaintenanceStatus
  readonly startsAt: Date
  readonly endsAt: Date
  readonly services: readonly { readonly name: string }[]
}

/** An incident as the page tells it; `names` gives each service's name by its id. */
export function shownIncident(incident: IncidentStory, names: ReadonlyMap<string, string>): ShownIncident {
  return { ...incident, services: withNames(incident.services, names) }
}

/** A maintenance as the page tells it; `names` gives each service's name by its id. */
export function shownMaintenance(maintenance: MaintenanceStory, names: ReadonlyMap<string, string>): ShownMaintenance {
  return { ...maintenance, services: withNames(maintenance.services, names) }
}

/** What happened as the page tells it; `names` gives each service's name by its id. */
export function shownHappening(
  happening: Happening,
  names: ReadonlyMap<string, string>,
): Happening<ShownIncident, ShownMaintenance> {
  const { at } = happening
  return 'incident' in happening
    ? { at, incident: shownIncident(happening.incident, names) }
    : { at, maintenance: shownMaintenance(happening.maintenance, names) }
}

function withNames<T extends { readonly serviceId: string }>(of: readonly T[], names: ReadonlyMap<string, string>) {
  return of.flatMap((each) => {
    const name = names.get(each.serviceId)
    return name === undefined ? [] : [{ ...each, name }]
  })
}

/** The names of services, and how many more there are. */
export function namesOf(of: {
  readonly services: readonly { readonly name: string }[]
  readonly serviceCount: number
}): string {
  const names = of.services.map(({ name }) => name).join(', ')
  const more = of.serviceCount - of.services.length
  return more > 0 ? `${names} and ${more} more` : names
}

export const serviceWords = {
  OPERATIONAL: 'Operational',
  DEGRADED_PERFORMANCE: 'Degraded performance',
  PARTIAL_OUTAGE: 'Partial outage',
  MAJOR_OUTAGE: 'Major outage',
  UNDER_MAINTENANCE: 'Under maintenance',
  UNKNOWN: 'No data',
} as const satisfies Record<ShownAs, string>

export const incidentWords = {
  INVESTIGATING: 'Investigating',
  IDENTIFIED: 'Identified',
  MONITORING: 'Monitoring',
  RESOLVED: 'Resolved',
} as const satisfies Record<IncidentStatus, string>

export const impactWords = {
  NONE: 'No impact',
  MINOR: 'Minor impact',
  MAJOR: 'Major impact',
  CRITICAL: 'Critical impact',
} as const satisfies Record<IncidentImpact, string>

export const maintenanceWords = {
  SCHEDULED: 'Planned',
  IN_PROGRESS: 'In progress',
  VERIFYING: 'Verifying',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
} as const satisfies Record<MaintenanceStatus, string>

/** What is wrong, in one sentence: which services it is when they are few, and how many when they are not. */
export function headline(
  status: Pick<PageStatus, 'shown' | 'description'>,
  services: readonly Pick<ShownService, 'name' | 'shown' | 'unknownSince' | 'watched'>[],
  openIncidents: number,
  zone: Zone,
): string {
  const { shown } = status
  if (shown === 'OPERATIONAL') return allWell(services.length, openIncidents)
  const affected = services.filter((service) => service.shown === shown)
  const [first, second] = affected
  // Only an incident that names no service can make the page worse than its services.
  if (first === undefined) return `${status.description}.`
  const many =
    affected.length === services.length ? `all ${affected.length}` : `${affected.length} of ${services.length}`
  const what =
    affected.length === 1
      ? first.name
      : affected.length === 2 && second
        ? `${first.name} and ${second.name}`
        : `${many} services`
  return shown === 'UNKNOWN' ? silent(services, what, zone) : sentences[shown](what)
}

function silent(services: Parameters<typeof headline>[1], what: string, zone: Zone): string {
  const { everywhere, since } = silenceOf(services)
  return `Monitoring${everywhere ? '' : ` of ${what}`} has been silent since ${zone.time(since)}.`
}

/** None has the service for its subject: names may be plural, such as “Calendars”. */
const sentences = {
  DEGRADED_PERFORMANCE: (what: string) => `Performance of ${what} is degraded.`,
  PARTIAL_OUTAGE: (what: string) => `There is a partial outage of ${what}.`,
  MAJOR_OUTAGE: (what: string) => `There is a major outage of ${what}.`,
  UNDER_MAINTENANCE: (what: string) => `Maintenance of ${what} is under way.`,
} as const satisfies Record<Exclude<ServiceStatus, 'OPERATIONAL'>, (what: string) => string>

function allWell(services: number, openIncidents: number): string {
  const open = openIncidents === 1 ? 'one incident is open' : `${openIncidents || 'no'} incidents are open`
  if (services === 0) return `${open[0]?.toUpperCase()}${open.slice(1)}.`
  return openIncidents === 0 ? 'All services are operational.' : `All services are operational, and ${open}.`
}

/** The services under their headings, in the owner's order: those without a group first, and no group without services. */
export function sectionsOf(groups: readonly ShownGroup[], services: readonly ShownService[]): ShownSection[] {
  return [null, ...groups]
    .map((group) => ({ group, services: services.filter(({ groupId }) => groupId === (group?.id ?? null)) }))
    .filter((section) => section.services.length > 0)
    .map((section) => ({ ...section, shown: worstOf<ShownAs>(section.services.map(({ shown }) => shown)) }))
}

/** A day of the page's time zone, and what began on it. */
export interface Day<T> {
  /** `2026-11-20`. */
  readonly key: string
  /** `Friday, 20 November 2026`. */
  readonly name: string
  readonly begun: readonly T[]
}

/** Things by the day on which they began, in the order in which they come. */
export function daysOf<T>(things: readonly T[], zone: Zone, begunAt: (thing: T) => Date): Day<T>[] {
  const days = new Map<string, { key: string; name: string; begun: T[] }>()
  for (const thing of things) {
    const at = begunAt(thing)
    const key = zone.dayKey(at)
    const day = days.get(key) ?? { key, name: zone.day(at), begun: [] }
    day.begun.push(thing)
    days.set(key, day)
  }
  return [...days.values()]
}
