import { MINUTE, SECOND } from '../../core/time.ts'
import { nextRun } from './cron.ts'
import type { Schedule } from './staleness.ts'
import { freshMs } from './staleness.ts'

/** The reports of a job. */
interface Reports {
  /** The time of its last success or failure. */
  readonly reportedAt: Date
  /** The time of its last start; null: that run has ended. A start before the last result belongs to a reported run. */
  readonly startedAt: Date | null
}

/**
 * Returns when a job becomes late: after its interval or schedule or, while it is running with a time limit, when the
 * run exceeds the limit. A running job with a time limit is not late by its schedule.
 */
export function heartbeatDue(schedule: Schedule, { reportedAt, startedAt }: Reports): Date {
  const isRunning = startedAt !== null && startedAt >= reportedAt
  const runEnd = isRunning ? runEndOf(schedule, startedAt) : null
  return runEnd ?? new Date(reportedAt.getTime() + freshMs(schedule, reportedAt))
}

/** Returns when a run that started at `startedAt` exceeds its time limit; null: there is no limit. */
export function runEndOf({ maxRunSeconds }: Schedule, startedAt: Date): Date | null {
  return maxRunSeconds === null ? null : new Date(startedAt.getTime() + maxRunSeconds * SECOND)
}

/** How much sooner than its schedule a job may report: its clock may differ from ours. */
const EARLY_MS = MINUTE

/**
 * Returns from when on the heartbeat could have come that is missing at its due time: the start of a run that exceeds
 * its limit, the scheduled time, or the second half of the interval.
 */
export function expectedFrom(schedule: Schedule, dueAt: Date, startedAt: Date | null): Date {
  if (startedAt && runEndOf(schedule, startedAt)?.getTime() === dueAt.getTime()) return startedAt
  const { cron, graceSeconds, intervalSeconds } = schedule
  const early = cron ? EARLY_MS : (intervalSeconds * SECOND) / 2
  return new Date(dueAt.getTime() - graceSeconds * SECOND - early)
}

/**
 * Returns whether a heartbeat is late at its due time. One with a cron schedule may not be: the database cannot
 * evaluate schedules, so it may make the heartbeat due early.
 */
export function isLateAt(schedule: Schedule, dueAt: Date, startedAt: Date | null): boolean {
  const { cron, graceSeconds } = schedule
  if (cron === null || (startedAt && runEndOf(schedule, startedAt)?.getTime() === dueAt.getTime())) return true
  const date = dueAt.getTime() - graceSeconds * SECOND
  return nextRun(cron, new Date(date - 1))?.getTime() === date
}
