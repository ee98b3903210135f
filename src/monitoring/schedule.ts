import { createHash } from 'node:crypto'
import type { Monitor } from '../generated/prisma/client.ts'
import { SECOND } from '../time.ts'
import type { Rhythm } from './vouching.ts'
import { vouchedMs } from './vouching.ts'

/**
 * The next time a watch is due by its interval: on a grid of its own, so that it does not drift, whose phase is taken from
 * its id, so that the load is spread.
 */
export function nextSlot(watchId: string, intervalSeconds: number, after: Date): Date {
  const interval = intervalSeconds * SECOND
  const phase = createHash('sha1').update(watchId).digest().readUInt32BE() % interval
  return new Date(Math.floor((after.getTime() - phase) / interval) * interval + interval + phase)
}

/** How soon a result that contradicts the state is probed again, in seconds: sooner than the interval, and not at once. */
export function retrySeconds(intervalSeconds: number): number {
  return Math.min(Math.max(5, Math.min(30, Math.floor(intervalSeconds / 3))), intervalSeconds)
}

/**
 * When a watch is due after a check that began at `at`, as of now: a heartbeat when it is late, everything else at its next
 * slot, or sooner when the check contradicts the state.
 */
export function nextDue(
  { id, rhythm, monitor }: { readonly id: string; readonly rhythm: Rhythm; readonly monitor: Pick<Monitor, 'kind'> },
  at: Date,
  retry: boolean,
  now: Date,
): Date {
  if (monitor.kind === 'HEARTBEAT') return new Date(at.getTime() + vouchedMs(rhythm))
  const slot = nextSlot(id, rhythm.intervalSeconds, at)
  if (!retry) return slot
  const again = Math.max(at.getTime() + retrySeconds(rhythm.intervalSeconds) * SECOND, now.getTime() + SECOND)
  return again < slot.getTime() ? new Date(again) : slot
}
