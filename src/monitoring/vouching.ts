import { tierLimits } from '../account/plan.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'
import { MINUTE, SECOND } from '../time.ts'

/** How often a monitor is checked, as far as it tells how long a check is good for. */
export interface Rhythm {
  /** As it is in effect: never shorter than the organization's tier allows. */
  readonly intervalSeconds: number
  readonly timeoutMs: number
  /** How late a heartbeat may be; 0 for every other kind. */
  readonly graceSeconds: number
}

/** The rhythm of a monitor of an organization with this tier. */
export function rhythmOf(monitor: Pick<Monitor, 'intervalSeconds' | 'timeoutMs' | 'options'>, tier: Tier): Rhythm {
  const { intervalSeconds, timeoutMs, options } = monitor
  const grace =
    typeof options === 'object' && options && 'graceSeconds' in options ? Number(options['graceSeconds']) : 0
  return {
    intervalSeconds: Math.max(intervalSeconds, tierLimits[tier].minIntervalSeconds),
    timeoutMs,
    graceSeconds: grace,
  }
}

/** For how long a known check vouches, in milliseconds: its interval, a heartbeat also for its grace. */
export function vouchedMs({ intervalSeconds, graceSeconds }: Rhythm): number {
  return (intervalSeconds + graceSeconds) * SECOND
}

/**
 * How long after a known check the next one has to come, in milliseconds: a probe may take its time after what the check
 * vouches for, and a little more for our own lateness.
 */
export function allowanceMs(rhythm: Rhythm): number {
  return vouchedMs(rhythm) + rhythm.timeoutMs + Math.max(MINUTE, (rhythm.intervalSeconds * SECOND) / 2)
}

/**
 * From when on nothing is known of a monitor at a moment, its last known check having been at `lastKnownAt`; null: that
 * check, or the next one, which may be a little late, still stands for it.
 */
export function silentSince(rhythm: Rhythm, lastKnownAt: Date, at: Date): Date | null {
  const silence = at.getTime() - lastKnownAt.getTime()
  return silence > allowanceMs(rhythm) ? new Date(lastKnownAt.getTime() + vouchedMs(rhythm)) : null
}
