import { SECOND } from '../../core/time.ts'
import type { Schedule } from '../state/staleness.ts'
import { freshMs } from '../state/staleness.ts'
import { nextRun } from './cron.ts'

/** The reports of a job. */
interface Reports {
  /** The time of its last success or failure. */
  readonly reportedAt: Date
  /** The time of its last start; null: it has ended since. A start before the last result belongs to a reported run. */
  readonly startedAt: Date | null
}

/**
 * Returns when a job is late: after its interval or schedule or, while it is running with a time limit, when the run exceeds the
 * limit. A job that has started in time is not late by its schedule.
 */
export function heartbeatDue(schedule: Schedule, { reportedAt, startedAt }: Reports): Date {
  const isRunning = startedAt !== null && startedAt >= reportedAt
  const runEnd = isRunning ? runEndOf(schedule, startedAt) : null
  return runEnd ?? new Date(reportedAt.getTime() + freshMs(schedule, reportedAt))
}

/** Returns when a run that began at `startedAt` exceeds its time limit; null: it has none. */
export function runEndOf({ maxRunSeconds }: Schedule, startedAt: Date): Date | null {
  return maxRunSeconds === null ? null : new Date(startedAt.getTime() + maxRunSeconds * SECOND)
}

/**
 * Returns whether a heartbeat with a cron schedule is late at its due time. If not, the database made it due only because it cannot
 * evaluate schedules itself.
 */
export function isLateAt(schedule: Schedule, dueAt: Date, startedAt: Date | null): boolean {
  const { cron, graceSeconds } = schedule
  if (cron === null || (startedAt && runEndOf(schedule, startedAt)?.getTime() === dueAt.getTime())) return true
  const date = dueAt.getTime() - graceSeconds * SECOND
  return nextRun(cron, new Date(date - 1))?.getTime() === date
}
