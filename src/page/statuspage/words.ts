import type { MaintenanceStatus } from '../../generated/prisma/enums.ts'
import type { Indicator, PageStatus } from '../../status/shown-status.ts'

/** A status of ours as Statuspage writes it: `PARTIAL_OUTAGE` → `partial_outage`. */
export function inSmall<T extends string>(word: T): Lowercase<T> {
  return word.toLowerCase() as Lowercase<T>
}

/** A maintenance's status in Statuspage's words, which know none that is cancelled: it ends like any other. */
export function maintenanceStatus(status: MaintenanceStatus): Lowercase<Exclude<MaintenanceStatus, 'CANCELLED'>> {
  return inSmall(status === 'CANCELLED' ? 'COMPLETED' : status)
}

/** The status of a page as a whole. */
export interface Rollup {
  readonly indicator: Lowercase<Indicator>
  readonly description: string
}

/** A page's status in Statuspage's own words, by which some readers tell what it is. */
export function rollupOf({ indicator, shown, description }: PageStatus): Rollup {
  // It has no word for silence.
  return { indicator: inSmall(indicator), description: shown === 'UNKNOWN' ? description : descriptions[indicator] }
}

const descriptions = {
  NONE: 'All Systems Operational',
  MINOR: 'Partially Degraded Service',
  MAJOR: 'Partial System Outage',
  CRITICAL: 'Major Service Outage',
  MAINTENANCE: 'Service Under Maintenance',
} as const satisfies Record<Indicator, string>
