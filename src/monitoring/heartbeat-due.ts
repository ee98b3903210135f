import { SECOND } from '../core/time.ts'
import { nextRun } from './cron.ts'
import type { Schedule } from './staleness.ts'
import { freshMs } from './staleness.ts'

/** What a job has reported. */
interface Reports {
  /** The time of its last result, whatever it was. */
  readonly reportedAt: Date
  /** The time of its last start; null: it has ended since. Before the last result: that run was told of. */
  readonly startedAt: Date | null
}

/**
 * Returns when a job is late: by its interval or schedule, or, while it is running and its run is limited, when that run has
 * lasted too long. Who has started in time is not late by the schedule.
 */
export function heartbeatDue(schedule: Schedule, { reportedAt, startedAt }: Reports): Date {
  const isRunning = startedAt !== null && startedAt >= reportedAt
  const runEnd = isRunning ? runEndOf(schedule, startedAt) : null
  return runEnd ?? new Date(reportedAt.getTime() + freshMs(schedule, reportedAt))
}

/** Returns when a run that began at `startedAt` has lasted too long; null: never. */
export function runEndOf({ maxRunSeconds }: Schedule, startedAt: Date): Date | null {
  return maxRunSeconds === null ? null : new Date(startedAt.getTime() + maxRunSeconds * SECOND)
}

/**
 * Returns whether a heartbeat with a cron schedule is late at the time at which it became due. Otherwise only its schedule was to
 * be looked up: the database, which cannot, made it due at once.
 */
export function isLateAt(schedule: Schedule, dueAt: Date, startedAt: Date | null): boolean {
  const { cron, graceSeconds } = schedule
  if (cron === null || (startedAt && runEndOf(schedule, startedAt)?.getTime() === dueAt.getTime())) return true
  const date = dueAt.getTime() - graceSeconds * SECOND
  return nextRun(cron, new Date(date - 1))?.getTime() === date
}
