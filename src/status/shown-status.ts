import type { Prisma } from '../generated/prisma/client.ts'
import type { IncidentImpact, MonitorState, ServiceStatus } from '../generated/prisma/enums.ts'
import { minuteInWords } from '../time.ts'

/** What is shown of a service: a status, or that nothing is known of it. */
export type ShownAs = ServiceStatus | 'UNKNOWN'

/** A monitor that is not paused, as far as it bears on what its service shows. */
export interface MonitorCause {
  readonly state: MonitorState
  /** Since when nothing is known of it; null: something is. */
  readonly unknownSince: Date | null
}

/** What bears on the status a service shows, as of one moment. */
export interface StatusCauses {
  /** Set by the owner by hand; it wins over everything else. */
  readonly override: ServiceStatus | null
  /** What each unresolved incident does to the service that a person has opened, or written on. */
  readonly incidents: readonly ServiceStatus[]
  /** What each of its monitors finds that is not paused. */
  readonly monitors: readonly MonitorCause[]
  /** Whether a maintenance of the service is running. */
  readonly underMaintenance: boolean
}

/** From good to bad. Maintenance is announced and counts for less than any trouble; that nothing is known may be one. */
const severity = {
  OPERATIONAL: 0,
  UNDER_MAINTENANCE: 1,
  UNKNOWN: 2,
  DEGRADED_PERFORMANCE: 3,
  PARTIAL_OUTAGE: 4,
  MAJOR_OUTAGE: 5,
} as const satisfies Record<ShownAs, number>

/** What a monitor says of its service; one that is not sure yet, or paused, says nothing against it. */
const statusOfMonitor = {
  PENDING: 'OPERATIONAL',
  UP: 'OPERATIONAL',
  DEGRADED: 'DEGRADED_PERFORMANCE',
  DOWN: 'MAJOR_OUTAGE',
  PAUSED: 'OPERATIONAL',
} as const satisfies Record<MonitorState, ServiceStatus>

/** The worst of several statuses; operational when there are none. */
export function worstOf<T extends ShownAs>(statuses: readonly T[]): T | 'OPERATIONAL' {
  return statuses.reduce<T | 'OPERATIONAL'>(
    (worst, each) => (severity[each] > severity[worst] ? each : worst),
    'OPERATIONAL',
  )
}

/**
 * What a service shows (contract §6): its owner's override, else the worst of what people say and of what its monitors
 * find. While maintenance runs, it stands for what they find. What was last known of a monitor that is silent counts as far
 * as it was bad.
 */
export function shownStatus({ override, incidents, ...watching }: StatusCauses): ShownAs {
  return override ?? worstOf<ShownAs>([...incidents, ...foundBy(watching)])
}

function foundBy({ monitors, underMaintenance }: Omit<StatusCauses, 'override' | 'incidents'>): ShownAs[] {
  if (underMaintenance) return ['UNDER_MAINTENANCE']
  const found = monitors.map(({ state }) => statusOfMonitor[state])
  return [...found, ...(unknownSinceOf(monitors) === null ? [] : (['UNKNOWN'] as const))]
}

/** Since when nothing is known of a service by any of its monitors; null: something is, or it has none that runs. */
export function unknownSinceOf(monitors: readonly Pick<MonitorCause, 'unknownSince'>[]): Date | null {
  const since = monitors.flatMap(({ unknownSince }) => unknownSince ?? [])
  return monitors.length === 0 || since.length < monitors.length ? null : latest(since)
}

const latest = (times: readonly Date[]) => new Date(Math.max(...times.map((time) => time.getTime())))

/** A status for callers whose statuses have none for silence: the mildest that does not say that all is well. */
export function statusOf(shown: ShownAs): ServiceStatus {
  return shown === 'UNKNOWN' ? 'DEGRADED_PERFORMANCE' : shown
}

/** Which of a service's maintenances are running. */
export const underMaintenance = {
  maintenance: { status: { in: ['IN_PROGRESS', 'VERIFYING'] } },
} satisfies Prisma.MaintenanceServiceWhereInput

/** The incidents that count by themselves; of those of monitors, what the monitors find counts. */
export const byPeople = { automatic: false } as const

/** What Prisma has to select of a service to tell what it shows. */
export const causesOfStatus = {
  statusOverride: true,
  incidents: { where: { incident: { status: { not: 'RESOLVED' }, ...byPeople } }, select: { status: true } },
  monitors: { where: { pausedBy: null }, select: { state: true, unknownSince: true } },
  maintenances: { where: underMaintenance, select: { maintenanceId: true } },
} satisfies Prisma.ServiceSelect

/** What `causesOfStatus` selects. */
export type SelectedCauses = Prisma.ServiceGetPayload<{ select: typeof causesOfStatus }>

/** What a service shows. */
export interface Shown {
  readonly shown: ShownAs
  /** The same, where silence has no word of its own. */
  readonly status: ServiceStatus
  /** Since when nothing is known of it by its monitors, whatever it shows; null: something is, or it has none that runs. */
  readonly unknownSince: Date | null
  /** Whether it has monitors that run. */
  readonly watched: boolean
}

/** What a service shows, of what `causesOfStatus` selects. */
export function shownBy(service: SelectedCauses): Shown {
  const { monitors } = service
  const shown = shownStatus({
    override: service.statusOverride,
    incidents: service.incidents.map(({ status }) => status),
    monitors,
    underMaintenance: service.maintenances.length > 0,
  })
  return { shown, status: statusOf(shown), unknownSince: unknownSinceOf(monitors), watched: monitors.length > 0 }
}

/** How a page as a whole is doing, in Statuspage's words. */
export const indicators = ['NONE', 'MINOR', 'MAJOR', 'CRITICAL', 'MAINTENANCE'] as const

export type Indicator = (typeof indicators)[number]

export interface PageStatus {
  readonly indicator: Indicator
  /** The indicator in a sentence of a few words, or that monitoring is silent. */
  readonly description: string
  readonly shown: ShownAs
  /** Since when monitoring has been silent, when that is the worst there is to say. */
  readonly unknownSince: Date | null
}

const pageStatuses = {
  OPERATIONAL: { indicator: 'NONE', description: 'All systems operational' },
  UNDER_MAINTENANCE: { indicator: 'MAINTENANCE', description: 'Service under maintenance' },
  DEGRADED_PERFORMANCE: { indicator: 'MINOR', description: 'Partially degraded service' },
  PARTIAL_OUTAGE: { indicator: 'MAJOR', description: 'Partial system outage' },
  MAJOR_OUTAGE: { indicator: 'CRITICAL', description: 'Major system outage' },
} as const satisfies Record<ServiceStatus, Pick<PageStatus, 'indicator' | 'description'>>

/** What an incident that names no services says about the page, by its impact. */
const statusOfImpact = {
  NONE: 'OPERATIONAL',
  MINOR: 'DEGRADED_PERFORMANCE',
  MAJOR: 'PARTIAL_OUTAGE',
  CRITICAL: 'MAJOR_OUTAGE',
} as const satisfies Record<IncidentImpact, ServiceStatus>

type ShownOnPage = Pick<Shown, 'shown' | 'unknownSince' | 'watched'>

/**
 * The status of a page: the worst of what its services show and of the impact of those unresolved incidents that are
 * `byPeople`, for such a one need not name a service.
 */
export function pageStatus(services: readonly ShownOnPage[], openImpacts: readonly IncidentImpact[]): PageStatus {
  const shown = worstOf<ShownAs>([
    ...services.map((service) => service.shown),
    ...openImpacts.map((impact) => statusOfImpact[impact]),
  ])
  if (shown !== 'UNKNOWN') return { ...pageStatuses[shown], shown, unknownSince: null }
  const silence = silenceOf(services)
  const of = silence.everywhere ? '' : ` of ${silence.count === 1 ? 'one service' : `${silence.count} services`}`
  const description = `Monitoring${of} has been silent since ${minuteInWords(silence.since)}`
  return { indicator: 'MINOR', description, shown, unknownSince: silence.since }
}

/** How far the silence of a page reaches that shows it, and since when all of it has lasted. */
export function silenceOf(services: readonly ShownOnPage[]) {
  const silent = services.filter(({ shown }) => shown === 'UNKNOWN')
  return {
    count: silent.length,
    everywhere: services.every(({ shown, watched }) => shown === 'UNKNOWN' || !watched),
    since: latest(silent.flatMap(({ unknownSince }) => unknownSince ?? [])),
  }
}
