import type { Context } from '../../core/context.ts'
import { formatMinute } from '../../core/time.ts'
import type { Prisma, Service } from '../../generated/prisma/client.ts'
import type { IncidentImpact, MonitorState, ServiceStatus } from '../../generated/prisma/enums.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { ShownStatus, StatusBasis } from './service-status.ts'
import { worstStatus } from './service-status.ts'
import type { KnowledgeKind, Subject } from './what-is-known.ts'
import { isUnknownBy, whatIsKnown } from './what-is-known.ts'

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
  /** Whether people have ever stated its status. */
  readonly isStated: boolean
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
 * bad. Without monitors, it is operational only if people have stated a status.
 */
export function shownStatus({ override, incidents, ...watching }: StatusCauses): ShownStatus {
  return override ?? worstStatus<ShownStatus>([...incidents, ...monitorStatuses(watching)])
}

function monitorStatuses({
  monitors,
  underMaintenance,
  isStated,
}: Omit<StatusCauses, 'override' | 'incidents'>): ShownStatus[] {
  if (underMaintenance) return ['UNDER_MAINTENANCE']
  const found = monitors.map(({ state }) => statusOfMonitor[state])
  return [...found, ...(isUnknown(knowledgeOf(monitors, isStated)) ? (['UNKNOWN'] as const) : [])]
}

/** Returns the source of a service's status without an override. @param isStated as in `StatusCauses`. */
function knowledgeOf(monitors: readonly MonitorCause[], isStated: boolean): StatusBasis {
  if (monitors.length === 0) return isStated ? 'OWNER' : 'UNSTATED'
  if (monitors.some(isKnown)) return 'MONITORS'
  const active = monitors.filter(({ state }) => state !== 'PAUSED')
  const isPending = active.length > 0 && active.every(({ unknownSince }) => unknownSince === null)
  return isPending ? 'PENDING' : 'SILENT'
}

/** Returns whether the status of a service is unknown. */
function isUnknown(basis: StatusBasis): boolean {
  return basis === 'PENDING' || basis === 'SILENT' || basis === 'UNSTATED'
}

/** Returns a monitor as a subject of what is known; null: it is paused, and says nothing. */
export function subjectOf(monitor: MonitorCause): Subject | null {
  if (monitor.state === 'PAUSED') return null
  const monitors = [monitor]
  const shown = shownStatus({ override: null, incidents: [], monitors, underMaintenance: false, isStated: false })
  return { shown, basis: knowledgeOf(monitors, false) }
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
  if (knowledgeOf(monitors, false) !== 'SILENT') return null
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
  statedAt: true,
  incidents: { where: { incident: { status: { not: 'RESOLVED' }, ...manualIncidents } }, select: { status: true } },
  monitors: { select: { state: true, stateSince: true, unknownSince: true } },
  maintenances: { where: underMaintenance, select: { maintenanceId: true } },
} satisfies Prisma.ServiceSelect

/** The result of `statusCausesSelect`. */
export type SelectedCauses = Prisma.ServiceGetPayload<{ select: typeof statusCausesSelect }>

/**
 * Returns whether people have stated the status of a service: ever, or right now. The second counts alone only while
 * instances of an earlier version still run, which do not record it.
 */
const isStated = ({ statedAt, statusOverride, incidents, maintenances }: SelectedCauses): boolean =>
  statedAt !== null || statusOverride !== null || incidents.length > 0 || maintenances.length > 0

/** Returns whether a service's monitors, and the people who state its status, know nothing about it. */
export const knowsNothing = (service: SelectedCauses): boolean =>
  isUnknown(knowledgeOf(service.monitors, isStated(service)))

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
    isStated: isStated(service),
  })
  return {
    shown,
    status: toServiceStatus(shown),
    unknownSince: unknownSinceOf(monitors),
    watched: monitors.length > 0,
    basis: service.statusOverride === null ? knowledgeOf(monitors, isStated(service)) : 'OWNER',
  }
}

/** The overall status of a page, in Statuspage's terms. */
export const indicators = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL', 'MAINTENANCE'] as const

export type Indicator = (typeof indicators)[number]

export interface PageStatus {
  /** What is known of its services and open incidents. */
  readonly kind: KnowledgeKind
  readonly indicator: Indicator
  /** The indicator in a few words, or a note on what is missing. */
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

const { incidentsOnly } = wordsOf('EN').headline

type PageService = Pick<ShownService, 'shown' | 'unknownSince' | 'watched' | 'basis'>

/**
 * Returns the overall status of a page: the worst of its services' shown statuses and the impacts of open, manual
 * incidents, which may affect no service. A page without services claims nothing about any.
 */
export function pageStatus(services: readonly PageService[], openImpacts: readonly IncidentImpact[]): PageStatus {
  const { shown, kind } = whatIsKnown(
    services,
    openImpacts.map((impact) => statusOfImpact[impact]),
  )
  if (kind === 'NOTHING')
    return { kind, indicator: 'NONE', description: incidentsOnly(openImpacts.length), shown, unknownSince: null }
  if (shown !== 'UNKNOWN') return { kind, ...pageStatuses[shown], shown, unknownSince: null }
  const silence = summarizeUnknown(services)
  if (silence.since === null) {
    const description = kind === 'WAITING' ? 'Waiting for first result' : 'No status yet'
    return { kind, indicator: 'MINOR', description, shown, unknownSince: null }
  }
  const of = silence.everywhere ? '' : ` for ${silence.count === 1 ? 'one service' : `${silence.count} services`}`
  const description = `No monitoring data${of} since ${formatMinute(silence.since)}`
  return { kind, indicator: 'MINOR', description, shown, unknownSince: silence.since }
}

/**
 * Returns how many services are silent, whether all monitored ones are, and since when; null: none is.
 */
export function summarizeUnknown(services: readonly PageService[]) {
  const silent = services.filter(isUnknownBy('SILENT'))
  const since = silent.flatMap(({ unknownSince }) => unknownSince ?? [])
  return {
    count: silent.length,
    everywhere: services.every((service) => silent.includes(service) || !service.watched),
    since: since.length === 0 ? null : latest(since),
  }
}
