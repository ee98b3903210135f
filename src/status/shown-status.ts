import type { Prisma } from '../generated/prisma/client.ts'
import type { IncidentImpact, MonitorState, ServiceStatus } from '../generated/prisma/enums.ts'

/** What bears on the status a service shows, as of one moment. */
export interface StatusCauses {
  /** Set by the owner by hand; it wins over everything else. */
  readonly override: ServiceStatus | null
  /** What each unresolved incident does to the service. */
  readonly incidents: readonly ServiceStatus[]
  /** What each of its monitors finds. */
  readonly monitors: readonly MonitorState[]
  /** Whether a maintenance of the service is running. */
  readonly underMaintenance: boolean
}

/** From good to bad. Maintenance is announced and counts for less than any trouble. */
const severity = {
  OPERATIONAL: 0,
  UNDER_MAINTENANCE: 1,
  DEGRADED_PERFORMANCE: 2,
  PARTIAL_OUTAGE: 3,
  MAJOR_OUTAGE: 4,
} as const satisfies Record<ServiceStatus, number>

/** What a monitor says of its service; one that is not sure yet, or paused, says nothing against it. */
const statusOfMonitor = {
  PENDING: 'OPERATIONAL',
  UP: 'OPERATIONAL',
  DEGRADED: 'DEGRADED_PERFORMANCE',
  DOWN: 'MAJOR_OUTAGE',
  PAUSED: 'OPERATIONAL',
} as const satisfies Record<MonitorState, ServiceStatus>

/** The worst of several statuses; operational when there are none. */
export function worstOf(statuses: readonly ServiceStatus[]): ServiceStatus {
  return statuses.reduce((worst, each) => (severity[each] > severity[worst] ? each : worst), 'OPERATIONAL')
}

/** The status a service shows: its owner's override, else the worst of what bears on it (contract §6). */
export function shownStatus({ override, incidents, monitors, underMaintenance }: StatusCauses): ServiceStatus {
  if (override !== null) return override
  const found = monitors.map((state) => statusOfMonitor[state])
  return worstOf([...incidents, ...found, ...(underMaintenance ? (['UNDER_MAINTENANCE'] as const) : [])])
}

/** Which of a service's maintenances are running. */
export const underMaintenance = {
  maintenance: { status: { in: ['IN_PROGRESS', 'VERIFYING'] } },
} satisfies Prisma.MaintenanceServiceWhereInput

/** What Prisma has to select of a service to tell what it shows. */
export const causesOfStatus = {
  statusOverride: true,
  incidents: { where: { incident: { status: { not: 'RESOLVED' } } }, select: { status: true } },
  monitors: { where: { state: { in: ['DEGRADED', 'DOWN'] } }, select: { state: true } },
  maintenances: { where: underMaintenance, select: { maintenanceId: true } },
} satisfies Prisma.ServiceSelect

/** The status that a service shows, of what `causesOfStatus` selects. */
export function statusShownBy(service: Prisma.ServiceGetPayload<{ select: typeof causesOfStatus }>): ServiceStatus {
  return shownStatus({
    override: service.statusOverride,
    incidents: service.incidents.map(({ status }) => status),
    monitors: service.monitors.map(({ state }) => state),
    underMaintenance: service.maintenances.length > 0,
  })
}

/** How a page as a whole is doing, in Statuspage's words. */
export const indicators = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL', 'MAINTENANCE'] as const

export type Indicator = (typeof indicators)[number]

export interface PageStatus {
  readonly indicator: Indicator
  /** The indicator in a sentence of a few words. */
  readonly description: string
}

const pageStatuses = {
  OPERATIONAL: { indicator: 'NONE', description: 'All systems operational' },
  UNDER_MAINTENANCE: { indicator: 'MAINTENANCE', description: 'Service under maintenance' },
  DEGRADED_PERFORMANCE: { indicator: 'MINOR', description: 'Partially degraded service' },
  PARTIAL_OUTAGE: { indicator: 'MAJOR', description: 'Partial system outage' },
  MAJOR_OUTAGE: { indicator: 'CRITICAL', description: 'Major system outage' },
} as const satisfies Record<ServiceStatus, PageStatus>

/** What an incident that names no services says about the page, by its impact. */
const statusOfImpact = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const satisfies Record<IncidentImpact, ServiceStatus>

/**
 * The status of a page: the worst of what its services show and of its unresolved incidents' own impact, for an incident
 * need not name a service.
 */
export function pageStatus(services: readonly ServiceStatus[], openImpacts: readonly IncidentImpact[]): PageStatus {
  return pageStatuses[worstOf([...services, ...openImpacts.map((impact) => statusOfImpact[impact])])]
}
