import { createHash } from 'node:crypto'
import { SECOND } from '../../core/time.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import { heartbeatDue } from './heartbeat-due.ts'
import type { Schedule } from './staleness.ts'

/**
 * Returns when a watch is next due by its interval. Each watch has its own grid of times, which does not drift. The
 * phase of the grid comes from the watch's id, which spreads the load.
 */
export function nextSlot(watchId: string, intervalSeconds: number, after: Date): Date {
  const interval = intervalSeconds * SECOND
  const phase = createHash('sha1').update(watchId).digest().readUInt32BE() % interval
  return new Date(Math.floor((after.getTime() - phase) / interval) * interval + interval + phase)
}

/** Returns the delay before a result that contradicts the state is retried, in seconds. It is at most the interval. */
export function retrySeconds(intervalSeconds: number): number {
  return Math.min(Math.max(5, Math.min(30, Math.floor(intervalSeconds / 3))), intervalSeconds)
}

interface Watched {
  readonly id: string
  readonly schedule: Schedule
  /** The starts of the open runs of a heartbeat's job. */
  readonly runs?: readonly Date[]
  readonly monitor: Pick<Monitor, 'kind'>
}

/**
 * Returns when a watch is due after a probe that started at `at`: a heartbeat when it becomes late, other kinds at the
 * next time of their grid, or sooner for a retry.
 */
export function nextDue({ id, schedule, runs = [], monitor }: Watched, at: Date, retry: boolean, now: Date): Date {
  if (monitor.kind === 'HEARTBEAT') return heartbeatDue(schedule, { reportedAt: at, runs })
  const slot = nextSlot(id, schedule.intervalSeconds, at)
  if (!retry) return slot
  const again = Math.max(at.getTime() + retrySeconds(schedule.intervalSeconds) * SECOND, now.getTime() + SECOND)
  return again < slot.getTime() ? new Date(again) : slot
}
