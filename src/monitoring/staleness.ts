import { tierLimits } from '../account/plan.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { Tier } from '../generated/prisma/enums.ts'

/** The settings of a monitor that decide how long a result stays fresh. */
export interface Schedule {
  /** The effective interval: never shorter than the organization's tier allows. */
  readonly intervalSeconds: number
  readonly timeoutMs: number
  /** How late a heartbeat may be; 0 for other kinds. */
  readonly graceSeconds: number
}

/** Returns the schedule of a monitor on a tier. */
export function scheduleOf(monitor: Pick<Monitor, 'intervalSeconds' | 'timeoutMs' | 'options'>, tier: Tier): Schedule {
  const { intervalSeconds, timeoutMs, options } = monitor
  const grace =
    typeof options === 'object' && options && 'graceSeconds' in options ? Number(options['graceSeconds']) : 0
  return {
    intervalSeconds: Math.max(intervalSeconds, tierLimits[tier].minIntervalSeconds),
    timeoutMs,
    graceSeconds: grace,
  }
}

/** Returns how long a known result stays fresh, in milliseconds: the interval, for a heartbeat also its grace. */
export function freshMs({ intervalSeconds, graceSeconds }: Schedule): number {
  return (intervalSeconds + graceSeconds) * SECOND
}

/**
 * Returns the age at which a known result becomes stale, in milliseconds: fresh time, timeout of the next probe, and a
 * margin for our own delays.
 */
export function staleAfterMs(schedule: Schedule): number {
  return freshMs(schedule) + schedule.timeoutMs + Math.max(MINUTE, (schedule.intervalSeconds * SECOND) / 2)
}

/** The fields of a watch that decide until when it is fresh. */
export interface WatchFreshness {
  /** The time of the last known result; null: there was none. */
  readonly lastKnownAt: Date | null
  /** The first UNKNOWN result after that; null: there was none. */
  readonly unknownSince: Date | null
}

/** The fields of a monitor that decide how many fresh watches it needs, and how long each stays fresh. */
export interface MonitorFreshness {
  readonly schedule: Schedule
  /** How many regions must agree; null: one report is enough. */
  readonly agreement: number | null
  /** The start of its state: it is unknown from then on when too few regions have ever reported. */
  readonly stateSince: Date
}

/** Returns how many regions must have a fresh result for a monitor to be known. */
export function regionsNeeded(agreement: number | null): number {
  return agreement ?? 1
}

/**
 * Returns since when too few watches are fresh; null: enough are. A result stays fresh until the next one, which may be
 * a little late, or until an UNKNOWN result.
 * @param allowance the age at which a known result becomes stale, in milliseconds.
 */
export function freshUntil(
  watches: readonly WatchFreshness[],
  { schedule, agreement, stateSince }: MonitorFreshness,
  at: Date,
  allowance = staleAfterMs(schedule),
): Date | null {
  const ends = watches.map((watch) => watchFreshUntil(watch, schedule, at, allowance)).sort((one, other) => other - one)
  const end = ends[regionsNeeded(agreement) - 1] ?? NEVER_FRESH
  if (end === NEVER_FRESH) return stateSince
  return end === STILL_FRESH ? null : new Date(end)
}

const NEVER_FRESH = Number.NEGATIVE_INFINITY
const STILL_FRESH = Number.POSITIVE_INFINITY

function watchFreshUntil(
  { lastKnownAt, unknownSince }: WatchFreshness,
  schedule: Schedule,
  at: Date,
  allowance: number,
): number {
  if (lastKnownAt === null) return NEVER_FRESH
  const known = lastKnownAt.getTime()
  const end = known + freshMs(schedule)
  if (unknownSince !== null) return Math.max(known, Math.min(unknownSince.getTime(), end))
  return at.getTime() - known <= allowance ? STILL_FRESH : end
}

/**
 * Returns since when a monitor has been stale, once that has lasted long enough to report. Null: something is known, or
 * was a short while ago.
 * @param watched whether any worker is running; without workers no result is merely late.
 */
export function staleSince(
  watches: readonly WatchFreshness[],
  monitor: MonitorFreshness,
  at: Date,
  watched: boolean,
): Date | null {
  const allowance = watched ? staleAfterMs(monitor.schedule) : freshMs(monitor.schedule)
  const lastKnown = enoughKnownAt(watches, monitor.agreement) ?? monitor.stateSince
  if (at.getTime() - lastKnown.getTime() <= allowance) return null
  return freshUntil(watches, monitor, at, allowance)
}

/** Returns the latest time at which enough watches had a known result since; null: never. */
export function enoughKnownAt(watches: readonly WatchFreshness[], agreement: number | null): Date | null {
  const times = watches.flatMap(({ lastKnownAt }) => lastKnownAt ?? []).sort((one, other) => +other - +one)
  return times[regionsNeeded(agreement) - 1] ?? null
}
