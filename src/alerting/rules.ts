import { MINUTE } from '../core/time.ts'
import type { AlertChange, AlertSilence } from '../generated/prisma/enums.ts'

/** A monitor that fails again within this time has the same alert (contract §6). */
export const FLAPPING_MS = 30 * MINUTE
/** From this beginning on, changes of one alert are no longer told one by one. */
const FLAPPING_FROM = 3
/** How long a flapping monitor must keep its state until that is told. */
const SETTLED_MS = 10 * MINUTE

/** What decides whether an alert is told. */
export interface Circumstances {
  /** Whether the service of the monitor is under maintenance. */
  readonly underMaintenance: boolean
  /** Whether a monitor that it depends on is down. */
  readonly parentDown: boolean
  /** How often the alert has begun. */
  readonly count: number
  /** Whether the monitor keeps its state for long enough. */
  readonly settled: boolean
}

/**
 * Returns why nobody is notified of a failing monitor; null: those concerned are. What is planned comes before what is told as
 * flapping, because it ends later.
 */
export function silenceOf({ underMaintenance, parentDown, count, settled }: Circumstances): AlertSilence | null {
  if (underMaintenance) return 'MAINTENANCE'
  if (parentDown) return 'PARENT_DOWN'
  return count >= FLAPPING_FROM && !settled ? 'FLAPPING' : null
}

/** An alert, as far as the next thing to tell depends on it. */
export interface Attention {
  readonly endedAt: Date | null
  readonly acknowledgedAt: Date | null
  readonly silence: AlertSilence | null
}

/** Returns whether an alert still asks for somebody's attention: then it is reminded of, and escalated. */
export function needsAttention({ endedAt, acknowledgedAt, silence }: Attention): boolean {
  return endedAt === null && acknowledgedAt === null && silence === null
}

/** Returns the changes of which a channel must want one to be told of a change. */
export const wantedFor: Readonly<Record<AlertChange, readonly AlertChange[]>> = {
  DOWN: ['DOWN'],
  DEGRADED: ['DEGRADED'],
  UP: ['UP'],
  UNKNOWN: ['UNKNOWN'],
  // A certificate that ends soon is told to those who want to know of degraded monitors, and so on.
  CERTIFICATE: ['CERTIFICATE', 'DEGRADED'],
  LISTED: ['LISTED', 'DOWN'],
  DELISTED: ['DELISTED', 'UP'],
  WORKER_SILENT: ['WORKER_SILENT', 'UNKNOWN'],
  BUDGET_BURNING: ['BUDGET_BURNING'],
  BUDGET_RECOVERED: ['BUDGET_RECOVERED'],
}

/** How long a message to people waits for more, and at most, in milliseconds. */
export const GATHER_MS = 15_000
export const MAX_GATHER_MS = MINUTE

/** Returns when an alert that is silent for a reason is looked at again; null: it is not silent. */
export function nextLook(silence: AlertSilence | null, now: Date): Date | null {
  if (silence === null) return null
  return new Date(now.getTime() + (silence === 'FLAPPING' ? SETTLED_MS : MINUTE))
}
