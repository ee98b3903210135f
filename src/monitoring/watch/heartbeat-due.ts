import { MINUTE, SECOND } from '../../core/time.ts'
import { nextRun } from './cron.ts'
import type { Schedule } from './staleness.ts'
import { freshMs } from './staleness.ts'

/** The reports of a job. */
interface Reports {
  /** The time of its last result: a success, a failure, or that it was late. */
  readonly reportedAt: Date
  /** The starts of its open runs. */
  readonly runs: readonly Date[]
}

/**
 * Returns when a job becomes late: after its interval or schedule or, while it is running with a time limit, when the
 * first of its runs exceeds the limit. A running job with a time limit is not late by its schedule. A run that exceeded
 * its limit before the last result has been reported, and counts no more.
 */
export function heartbeatDue(schedule: Schedule, { reportedAt, runs }: Reports): Date {
  const ends = runs.map((startedAt) => runEndOf(schedule, startedAt)?.getTime() ?? 0)
  const ahead = ends.filter((end) => end > reportedAt.getTime())
  if (ahead.length > 0) return new Date(Math.min(...ahead))
  return new Date(reportedAt.getTime() + freshMs(schedule, reportedAt))
}

/** Returns the start of the run that exceeds its limit at a due time; undefined: the job is due for another reason. */
export function runDueAt(schedule: Schedule, dueAt: Date, runs: readonly Date[]): Date | undefined {
  return runs.find((startedAt) => runEndOf(schedule, startedAt)?.getTime() === dueAt.getTime())
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
export function expectedFrom(schedule: Schedule, dueAt: Date, runs: readonly Date[]): Date {
  const startedAt = runDueAt(schedule, dueAt, runs)
  if (startedAt) return startedAt
  const { cron, graceSeconds, intervalSeconds } = schedule
  const early = cron ? EARLY_MS : (intervalSeconds * SECOND) / 2
  return new Date(dueAt.getTime() - graceSeconds * SECOND - early)
}

/**
 * Returns whether a heartbeat is late at its due time. One with a cron schedule may not be: the database cannot
 * evaluate schedules, so it may make the heartbeat due early.
 */
export function isLateAt(schedule: Schedule, dueAt: Date, runs: readonly Date[]): boolean {
  const { cron, graceSeconds } = schedule
  if (cron === null || runDueAt(schedule, dueAt, runs)) return true
  const date = dueAt.getTime() - graceSeconds * SECOND
  return nextRun(cron, new Date(date - 1))?.getTime() === date
}
