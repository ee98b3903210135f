import type { MonitorState, ProbeOutcome } from '../../generated/prisma/enums.ts'

/** What is known of a monitor when a result of it is stored. */
export interface MonitorFacts {
  readonly state: MonitorState
  readonly hasService: boolean
  /** Whether it is in an incident and under maintenance. Read only for monitors that are down, else false. */
  readonly isInIncident: boolean
  readonly isUnderMaintenance: boolean
  /** Whether it is marked as stale. */
  readonly isStale: boolean
  /** Whether a parent of it is down. */
  readonly isBlocked: boolean
}

/**
 * Returns whether a monitor that is down has no incident, but should have one: its incident was not opened because of a
 * crash or a maintenance that has ended, or a person has detached it.
 */
export function lacksIncident(monitor: MonitorFacts, outcome: ProbeOutcome): boolean {
  const { state, hasService, isInIncident, isUnderMaintenance } = monitor
  return state === 'DOWN' && outcome === 'DOWN' && hasService && !isInIncident && !isUnderMaintenance
}

/** Returns whether a result may make a stale monitor known. One that is blocked stays stale until its parents are up. */
export function mayEndStaleness({ isStale, isBlocked }: MonitorFacts, outcome: ProbeOutcome): boolean {
  return isStale && !isBlocked && outcome !== 'UNKNOWN'
}
