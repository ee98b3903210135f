import type { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type { Indicator, PageStatus } from '../../status/service/shown-status.ts'

/** Converts a status to Statuspage's notation: `PARTIAL_OUTAGE` → `partial_outage`. */
export function lowercase<T extends string>(value: T): Lowercase<T> {
  return value.toLowerCase() as Lowercase<T>
}

/** Converts a maintenance's status. Statuspage has no cancelled status: a cancelled maintenance is `completed`. */
export function maintenanceStatus(status: MaintenanceStatus): Lowercase<Exclude<MaintenanceStatus, 'CANCELLED'>> {
  return lowercase(status === 'CANCELLED' ? 'COMPLETED' : status)
}

/** The overall status of a page. */
export interface Rollup {
  readonly indicator: Lowercase<Indicator>
  readonly description: string
}

/** Converts a page's status to Statuspage's descriptions, which some clients compare. */
export function rollupOf({ kind, indicator, shown, description }: PageStatus): Rollup {
  // Statuspage has no description for missing data, nor for a page without services.
  const isOwn = shown === 'UNKNOWN' || kind === 'NOTHING'
  return { indicator: lowercase(indicator), description: isOwn ? description : descriptions[indicator] }
}

const descriptions = {
  NONE: 'All Systems Operational',
  MINOR: 'Partially Degraded Service',
  MAJOR: 'Partial System Outage',
  CRITICAL: 'Major Service Outage',
  MAINTENANCE: 'Service Under Maintenance',
} as const satisfies Record<Indicator, string>
