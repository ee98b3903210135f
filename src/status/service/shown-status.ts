import type { Context } from '../../core/context.ts'
import { formatMinute } from '../../core/time.ts'
import type { Prisma, Service } from '../../generated/prisma/client.ts'
import type { IncidentImpact, MonitorState, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { ShownStatus } from './service-status.ts'
import { worstStatus } from './service-status.ts'
import type { Subject } from './what-is-known.ts'
import { whatIsKnown } from './what-is-known.ts'

/** The part of a monitor that affects its service's status. */
export interface MonitorCause {
  readonly state: MonitorState
  readonly stateSince: Date
  /** Since when its state is unknown; null: it is known. */
  readonly unknownSince: Date | null
}

/** The causes of a service's shown status. */
export interface StatusCauses {
  /** Set manually by the owner; it takes precedence over everything else. */
  readonly override: ServiceStatus | null
  /** The status that each open, manual incident gives the service. */
  readonly incidents: readonly ServiceStatus[]
  /** Its monitors, active and paused. */
  readonly monitors: readonly MonitorCause[]
  /** Whether a maintenance of the service is in progress. */
  readonly underMaintenance: boolean
}

/** The status that a monitor's state gives its service. Pending and paused monitors report no problem. */
const statusOfMonitor = {
  PENDING: 'OPERATIONAL',
  UP: 'OPERATIONAL',
  DEGRADED: 'DEGRADED_PERFORMANCE',
  DOWN: 'MAJOR_OUTAGE',
  PAUSED: 'OPERATIONAL',
} as const satisfies Record<MonitorState, ServiceStatus>

/**
 * Returns the status to show for a service: the owner's override, or else the worst of manual incidents and monitors.
 * During maintenance, UNDER_MAINTENANCE replaces the monitors. A silent monitor counts with its last state if that was
 * bad.
 */
export function shownStatus({ override, incidents, ...watching }: StatusCauses): ShownStatus {
  return override ?? worstStatus<ShownStatus>([...incidents, ...monitorStatuses(watching)])
}

function monitorStatuses({ monitors, underMaintenance }: Omit<StatusCauses, 'override' | 'incidents'>): ShownStatus[] {
  if (underMaintenance) return ['UNDER_MAINTENANCE']
  const found = monitors.map(({ state }) => statusOfMonitor[state])
  return [...found, ...(isUnknown(knowledgeOf(monitors)) ? (['UNKNOWN'] as const) : [])]
}

/**
 * The source of a service's status. OWNER: set manually, because it has no monitors. MONITORS: at least one monitor has
 * a known state. PENDING: no monitor has a result yet. SILENT: its monitors have become silent or are paused.
 */
export type StatusBasis = 'OWNER' | 'MONITORS' | 'PENDING' | 'SILENT'

/** Returns the source of a service's status according to its monitors. */
export function knowledgeOf(monitors: readonly MonitorCause[]): StatusBasis {
  if (monitors.length === 0) return 'OWNER'
  if (monitors.some(isKnown)) return 'MONITORS'
  const active = monitors.filter(({ state }) => state !== 'PAUSED')
  const isPending = active.length > 0 && active.every(({ unknownSince }) => unknownSince === null)
  return isPending ? 'PENDING' : 'SILENT'
}

/** Returns whether the status of a service is unknown. */
export function isUnknown(basis: StatusBasis): boolean {
  return basis === 'PENDING' || basis === 'SILENT'
}

/** Returns a monitor as a subject of what is known; null: it is paused, and says nothing. */
export function subjectOf(monitor: MonitorCause): Subject | null {
  if (monitor.state === 'PAUSED') return null
  const shown = shownStatus({ override: null, incidents: [], monitors: [monitor], underMaintenance: false })
  return { shown, unknownSince: unknownSinceOf([monitor]) }
}

/** Returns whether the state of a monitor counts for its service. */
export function isKnown({ state, unknownSince }: Pick<MonitorCause, 'state' | 'unknownSince'>): boolean {
  return unknownSince === null && state !== 'PENDING' && state !== 'PAUSED'
}

/**
 * Returns since when the state of a service's monitors is unknown, silent or paused; null: one is known, none has been
 * known yet, or there are none.
 */
export function unknownSinceOf(monitors: readonly MonitorCause[]): Date | null {
  if (knowledgeOf(monitors) !== 'SILENT') return null
  return latest(
    monitors.flatMap(({ state, stateSince, unknownSince }) => unknownSince ?? (state === 'PAUSED' ? stateSince : [])),
  )
}

const latest = (times: readonly Date[]) => new Date(Math.max(...times.map((time) => time.getTime())))

/** Converts a shown status for callers without UNKNOWN: to the mildest status that does not claim full operation. */
export function toServiceStatus(shown: ShownStatus): ServiceStatus {
  return shown === 'UNKNOWN' ? 'DEGRADED_PERFORMANCE' : shown
}

/** Selects the maintenances in progress. */
const underMaintenance = {
  maintenance: { status: { in: ['IN_PROGRESS', 'VERIFYING'] } },
} satisfies Prisma.MaintenanceServiceWhereInput

/** Returns a service, unless it is under maintenance or deleted; null: it is. */
export function serviceNotUnderMaintenance(
  { db }: Pick<Context, 'db'>,
  id: string,
): Promise<Pick<Service, 'id' | 'name'> | null> {
  return db.service.findFirst({
    where: { id, maintenances: { none: underMaintenance } },
    select: { id: true, name: true },
  })
}

/** Returns whether a service is under maintenance. */
export async function isUnderMaintenance({ db }: Pick<Context, 'db'>, serviceId: string): Promise<boolean> {
  return (await db.maintenanceService.count({ where: { serviceId, ...underMaintenance } })) > 0
}

/**
 * Selects incidents that count in addition to monitors: automatic ones repeat their monitor's state, and only public
 * ones count.
 */
export const manualIncidents = { automatic: false, visibility: 'PUBLIC' } as const

/** The Prisma selection that `shownServiceOf` needs. */
export const statusCausesSelect = {
  statusOverride: true,
  incidents: { where: { incident: { status: { not: 'RESOLVED' }, ...manualIncidents } }, select: { status: true } },
  monitors: { select: { state: true, stateSince: true, unknownSince: true } },
  maintenances: { where: underMaintenance, select: { maintenanceId: true } },
} satisfies Prisma.ServiceSelect

/** The result of `statusCausesSelect`. */
export type SelectedCauses = Prisma.ServiceGetPayload<{ select: typeof statusCausesSelect }>

/** The shown state of a service. */
export interface ShownService {
  readonly shown: ShownStatus
  /** The shown status for callers without UNKNOWN. */
  readonly status: ServiceStatus
  /**
   * Since when its monitors are silent or paused, whatever it shows; null: one is known, none has been known yet, or
   * there are none.
   */
  readonly unknownSince: Date | null
  /** Whether it has monitors. */
  readonly watched: boolean
  /** The source of its status. */
  readonly basis: StatusBasis
}

/** Returns the shown state of a service selected with `statusCausesSelect`. */
export function shownServiceOf(service: SelectedCauses): ShownService {
  const { monitors } = service
  const shown = shownStatus({
    override: service.statusOverride,
    incidents: service.incidents.map(({ status }) => status),
    monitors,
    underMaintenance: service.maintenances.length > 0,
  })
  return {
    shown,
    status: toServiceStatus(shown),
    unknownSince: unknownSinceOf(monitors),
    watched: monitors.length > 0,
    basis: service.statusOverride === null ? knowledgeOf(monitors) : 'OWNER',
  }
}

/** The overall status of a page, in Statuspage's terms. */
export const indicators = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL', 'MAINTENANCE'] as const

export type Indicator = (typeof indicators)[number]

export interface PageStatus {
  readonly indicator: Indicator
  /** The indicator in a few words, or a note that there is no monitoring data. */
  readonly description: string
  readonly shown: ShownStatus
  /** Since when a status has been unknown; null: none is, first probes are pending, or a worse status is known. */
  readonly unknownSince: Date | null
}

const pageStatuses = {
  OPERATIONAL: { indicator: 'NONE', description: 'All systems operational' },
  UNDER_MAINTENANCE: { indicator: 'MAINTENANCE', description: 'Service under maintenance' },
  DEGRADED_PERFORMANCE: { indicator: 'MINOR', description: 'Partially degraded service' },
  PARTIAL_OUTAGE: { indicator: 'MAJOR', description: 'Partial system outage' },
  MAJOR_OUTAGE: { indicator: 'CRITICAL', description: 'Major system outage' },
} as const satisfies Record<ServiceStatus, Pick<PageStatus, 'indicator' | 'description'>>

/** The page status for the impact of an incident, which may affect no service. */
const statusOfImpact = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const satisfies Record<IncidentImpact, ServiceStatus>

type PageService = Pick<ShownService, 'shown' | 'unknownSince' | 'watched'>

/**
 * Returns the overall status of a page: the worst of its services' shown statuses and the impacts of open, manual
 * incidents, which may affect no service.
 */
export function pageStatus(services: readonly PageService[], openImpacts: readonly IncidentImpact[]): PageStatus {
  const { shown } = whatIsKnown(
    services,
    openImpacts.map((impact) => statusOfImpact[impact]),
  )
  if (shown !== 'UNKNOWN') return { ...pageStatuses[shown], shown, unknownSince: null }
  const silence = summarizeUnknown(services)
  if (silence.since === null)
    return { indicator: 'MINOR', description: 'Waiting for first result', shown, unknownSince: null }
  const of = silence.everywhere ? '' : ` for ${silence.count === 1 ? 'one service' : `${silence.count} services`}`
  const description = `No monitoring data${of} since ${formatMinute(silence.since)}`
  return { indicator: 'MINOR', description, shown, unknownSince: silence.since }
}

/**
 * Returns how many services are silent, whether all monitored ones are, and since when; null: their first probes are
 * pending.
 */
export function summarizeUnknown(services: readonly PageService[]) {
  const silent = services.filter(({ shown, unknownSince }) => shown === 'UNKNOWN' && unknownSince !== null)
  const since = silent.flatMap(({ unknownSince }) => unknownSince ?? [])
  return {
    count: silent.length,
    everywhere: services.every((service) => silent.includes(service) || !service.watched),
    since: since.length === 0 ? null : latest(since),
  }
}
