import type { ServiceStatus } from '../../generated/prisma/enums.ts'

/** The status that is shown for a service, or UNKNOWN. */
export type ShownStatus = ServiceStatus | 'UNKNOWN'

/**
 * The source of a service’s status. OWNER: people, who stated it; it has no monitors, or a status that overrides them.
 * MONITORS: at least one monitor has a known state. PENDING: no monitor has a result yet. SILENT: its monitors have
 * become silent or are paused. UNSTATED: none, because it has no monitors and nobody has stated a status.
 */
export type StatusBasis = 'OWNER' | 'MONITORS' | 'PENDING' | 'SILENT' | 'UNSTATED'

/** The statuses of a service with a problem, from least to most severe. */
export const impairedStatuses = [
  'DEGRADED_PERFORMANCE',
  'PARTIAL_OUTAGE',
  'MAJOR_OUTAGE',
] as const satisfies readonly ServiceStatus[]
export type ImpairedStatus = (typeof impairedStatuses)[number]

/**
 * The statuses that an incident can give a service. OPERATIONAL means recovered. UNDER_MAINTENANCE is not among them,
 * because maintenance is planned.
 */
export const incidentStatuses = ['OPERATIONAL', ...impairedStatuses] as const

/** From best to worst. Planned maintenance counts less than any problem; an unknown status may hide one. */
const severity = {
  OPERATIONAL: 0,
  UNDER_MAINTENANCE: 1,
  UNKNOWN: 2,
  DEGRADED_PERFORMANCE: 3,
  PARTIAL_OUTAGE: 4,
  MAJOR_OUTAGE: 5,
} as const satisfies Record<ShownStatus, number>

/** Returns the severity of a status: higher is worse. */
export function severityOf(status: ShownStatus): number {
  return severity[status]
}

/** Returns the worse of two statuses. */
export function worseStatus<S extends ShownStatus, T extends ShownStatus>(one: S, other: T): S | T {
  return severity[other] > severity[one] ? other : one
}

/** Returns the worst of several statuses; operational if there are none. */
export function worstStatus<T extends ShownStatus>(statuses: readonly T[]): T | 'OPERATIONAL' {
  return statuses.reduce<T | 'OPERATIONAL'>(worseStatus, 'OPERATIONAL')
}
