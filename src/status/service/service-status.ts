import type { ServiceStatus } from '../../generated/prisma/enums.ts'

/** The status that is shown for a service, or UNKNOWN. */
export type ShownStatus = ServiceStatus | 'UNKNOWN'

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
