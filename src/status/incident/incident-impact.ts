import type { IncidentImpact, ServiceStatus } from '../../generated/prisma/enums.ts'

/** The impact of an incident whose worst service has a status; from the least to the greatest. */
export const impactsByStatus = {
  OPERATIONAL: 'NONE',
  UNDER_MAINTENANCE: 'NONE',
  DEGRADED_PERFORMANCE: 'MINOR',
  PARTIAL_OUTAGE: 'MAJOR',
  MAJOR_OUTAGE: 'CRITICAL',
} as const satisfies Readonly<Record<ServiceStatus, IncidentImpact>>

/** The impact of an incident that names no service: people report only what they notice. */
export const impactWithoutServices: IncidentImpact = 'MINOR'

const order: readonly string[] = Object.keys(impactsByStatus)

/** Returns the impact of an incident that gives services these statuses: that of the worst one. */
export function impactOfStatuses(statuses: readonly ServiceStatus[]): IncidentImpact {
  const [worst] = [...statuses].sort((one, other) => order.indexOf(other) - order.indexOf(one))
  return worst === undefined ? impactWithoutServices : impactsByStatus[worst]
}
