import { MINUTE } from '../core/time.ts'
import type { AlertChange, AlertSilence } from '../generated/prisma/enums.ts'
import { REOPEN_WITHIN_MS } from '../status/incident/incident.ts'

/** A monitor that fails again within this time is flapping (contract §6): it reopens its alert and its incident. */
export const FLAPPING_MS = REOPEN_WITHIN_MS
/** From this count on, an alert is flapping and its changes are no longer sent one by one. */
const FLAPPING_FROM = 3
/** How long a flapping monitor must keep its state before that state is sent. */
const SETTLED_MS = 10 * MINUTE

/** The facts that decide whether an alert is silent. */
export interface Circumstances {
  /** Whether the monitor's service is under maintenance. */
  readonly underMaintenance: boolean
  /** Whether a parent monitor is down. */
  readonly parentDown: boolean
  /** How often the alert has begun. */
  readonly count: number
  /** Whether the monitor has kept its state for SETTLED_MS. */
  readonly settled: boolean
}

/**
 * Returns why an alert of a failing monitor is silent, or null if it is not. Maintenance and parents come before flapping, because
 * they last longer.
 */
export function silenceOf({ underMaintenance, parentDown, count, settled }: Circumstances): AlertSilence | null {
  if (underMaintenance) return 'MAINTENANCE'
  if (parentDown) return 'PARENT_DOWN'
  return count >= FLAPPING_FROM && !settled ? 'FLAPPING' : null
}

/** The columns of an alert on which its follow-up depends. */
export interface Attention {
  readonly endedAt: Date | null
  readonly acknowledgedAt: Date | null
  readonly silence: AlertSilence | null
}

/** Returns whether an alert still needs a response, so that reminders and escalation continue. */
export function needsFollowUp({ endedAt, acknowledgedAt, silence }: Attention): boolean {
  return endedAt === null && acknowledgedAt === null && silence === null
}

/** For each change, the settings of a channel that select it. */
export const wantedFor: Readonly<Record<AlertChange, readonly AlertChange[]>> = {
  DOWN: ['DOWN'],
  DEGRADED: ['DEGRADED'],
  UP: ['UP'],
  UNKNOWN: ['UNKNOWN'],
  // The general settings include the special ones: DEGRADED, for example, includes expiring certificates.
  CERTIFICATE: ['CERTIFICATE', 'DEGRADED'],
  LISTED: ['LISTED', 'DOWN'],
  DELISTED: ['DELISTED', 'UP'],
  WORKER_SILENT: ['WORKER_SILENT', 'UNKNOWN'],
  BUDGET_BURNING: ['BUDGET_BURNING'],
  BUDGET_RECOVERED: ['BUDGET_RECOVERED'],
}

/** How long a message to people waits for further alerts after the last one, and in total, in milliseconds. */
export const GATHER_MS = 15_000
export const MAX_GATHER_MS = MINUTE

/** Returns when to review an alert's silence, or null if it is not silent. */
export function nextReview(silence: AlertSilence | null, now: Date): Date | null {
  if (silence === null) return null
  return new Date(now.getTime() + (silence === 'FLAPPING' ? SETTLED_MS : MINUTE))
}
