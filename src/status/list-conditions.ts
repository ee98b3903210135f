import { validIdOrEmpty } from '../core/id.ts'
import { inRange, oneOf } from '../core/list-filter.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import type {
  IncidentImpact,
  IncidentStatus,
  IncidentVisibility,
  MaintenanceStatus,
} from '../generated/prisma/enums.ts'

type Optional<T> = T | null | undefined

/** The filter of incidents; they match all members, and absent members match any. */
export interface IncidentConditions {
  readonly startedAfter?: Optional<Date>
  readonly startedBefore?: Optional<Date>
  readonly status?: Optional<readonly IncidentStatus[]>
  readonly impact?: Optional<readonly IncidentImpact[]>
  readonly visibility?: Optional<readonly IncidentVisibility[]>
  /** True: only open ones. False: only resolved ones. */
  readonly open?: Optional<boolean>
  readonly serviceId?: Optional<string>
}

/**
 * Returns the condition for incidents that match.
 * @throws Invalid for an empty range, and for too many values.
 */
export function incidentsMatching(conditions: IncidentConditions): Prisma.IncidentWhereInput {
  const { open, serviceId } = conditions
  const startedAt = inRange('started', conditions.startedAfter, conditions.startedBefore)
  const status = oneOf('status', conditions.status)
  const impact = oneOf('impact', conditions.impact)
  const visibility = oneOf('visibility', conditions.visibility)
  return {
    ...(startedAt && { startedAt }),
    ...(status && { status }),
    ...(impact && { impact }),
    AND: [
      ...(visibility ? [{ visibility }] : []),
      ...(typeof open === 'boolean' ? [{ status: open ? ({ not: 'RESOLVED' } as const) : ('RESOLVED' as const) }] : []),
    ],
    ...(serviceId && { services: { some: { serviceId: validIdOrEmpty(serviceId) } } }),
  }
}

/** The filter of maintenance; it matches all members, and absent members match any. */
export interface MaintenanceConditions {
  readonly startsAfter?: Optional<Date>
  readonly startsBefore?: Optional<Date>
  readonly status?: Optional<readonly MaintenanceStatus[]>
  readonly serviceId?: Optional<string>
}

/**
 * Returns the condition for maintenance that matches.
 * @throws Invalid like `incidentsMatching`.
 */
export function maintenancesMatching(conditions: MaintenanceConditions): Prisma.MaintenanceWhereInput {
  const { serviceId } = conditions
  const startsAt = inRange('starts', conditions.startsAfter, conditions.startsBefore)
  const status = oneOf('status', conditions.status)
  return {
    ...(startsAt && { startsAt }),
    ...(status && { status }),
    ...(serviceId && { services: { some: { serviceId: validIdOrEmpty(serviceId) } } }),
  }
}
