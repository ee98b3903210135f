import { tierLimits } from '../../account/limits.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { Tier } from '../../generated/prisma/enums.ts'
import type { CronSchedule } from './cron.ts'
import { nextRun } from './cron.ts'

/** The settings of a monitor that determine how long a result stays fresh. */
export interface Schedule {
  /** The effective interval, which is never shorter than the organization's tier allows. */
  readonly intervalSeconds: number
  readonly timeoutMs: number
  /** How late a heartbeat may be, in seconds; 0 for other kinds. */
  readonly graceSeconds: number
  /** The schedule of a heartbeat's job, which replaces the interval; null: none. */
  readonly cron: CronSchedule | null
  /** The time limit of a run of the job, in seconds; null: none. */
  readonly maxRunSeconds: number | null
}

/** Returns the schedule of a monitor on a tier. */
export function scheduleOf(monitor: Pick<Monitor, 'intervalSeconds' | 'timeoutMs' | 'options'>, tier: Tier): Schedule {
  const { intervalSeconds, timeoutMs, options } = monitor
  const stored: HeartbeatSchedule = typeof options === 'object' && options && !Array.isArray(options) ? options : {}
  return {
    intervalSeconds: Math.max(intervalSeconds, tierLimits[tier].minIntervalSeconds),
    timeoutMs,
    graceSeconds: Number(stored.graceSeconds ?? 0),
    cron: stored.schedule ? { expression: String(stored.schedule), timeZone: String(stored.timeZone ?? 'UTC') } : null,
    maxRunSeconds: stored.maxRunSeconds ? Number(stored.maxRunSeconds) : null,
  }
}

/** The stored options of a heartbeat that determine its schedule. */
interface HeartbeatSchedule {
  readonly graceSeconds?: unknown
  readonly schedule?: unknown
  readonly timeZone?: unknown
  readonly maxRunSeconds?: unknown
}

/**
 * Returns how long a known result stays fresh, in milliseconds: the interval or the time until the next scheduled run,
 * plus the grace period of a heartbeat.
 * @param known the time of the result.
 */
export function freshMs({ intervalSeconds, graceSeconds, cron }: Schedule, known: Date): number {
  const next = cron && nextRun(cron, known)
  const untilNext = next ? next.getTime() - known.getTime() : intervalSeconds * SECOND
  return untilNext + graceSeconds * SECOND
}

/**
 * Returns the age at which a known result becomes stale, in milliseconds: the fresh time, the timeout of the next
 * probe, a margin for our own delays, and the time limit of a job that may still be running.
 */
export function staleAfterMs(schedule: Schedule, known: Date): number {
  const { intervalSeconds, timeoutMs, cron, maxRunSeconds } = schedule
  const margin = cron ? MINUTE : Math.max(MINUTE, (intervalSeconds * SECOND) / 2)
  return freshMs(schedule, known) + timeoutMs + margin + (maxRunSeconds ?? 0) * SECOND
}

/** The fields of a watch that determine how long it is fresh. */
export interface WatchFreshness {
  /** The time of the last known result; null: none. */
  readonly lastKnownAt: Date | null
  /** The time of the first UNKNOWN result after that; null: none. */
  readonly unknownSince: Date | null
}

/** The fields of a monitor that determine how many fresh watches it needs, and how long each stays fresh. */
export interface MonitorFreshness {
  readonly schedule: Schedule
  /** The number of regions that must agree; null: one report is enough. */
  readonly agreement: number | null
  /** The start of its state. If too few regions have ever reported, it is unknown from this time. */
  readonly stateSince: Date
}

/** Returns the number of regions that must have a fresh result for the monitor to be known. */
export function regionsNeeded(agreement: number | null): number {
  return agreement ?? 1
}

/**
 * Returns the time until which enough watches were fresh; null: enough are fresh now. A result stays fresh until the
 * next one, which may be a little late, or until an UNKNOWN result.
 * @param allowance returns the age at which a known result becomes stale, in milliseconds.
 */
export function freshUntil(
  watches: readonly WatchFreshness[],
  { schedule, agreement, stateSince }: MonitorFreshness,
  at: Date,
  allowance: Allowance = staleAfterMs,
): Date | null {
  const ends = watches.map((watch) => watchFreshUntil(watch, schedule, at, allowance)).sort((one, other) => other - one)
  const end = ends[regionsNeeded(agreement) - 1] ?? NEVER_FRESH
  if (end === NEVER_FRESH) return stateSince
  return end === STILL_FRESH ? null : new Date(end)
}

/** Returns whether the last known result of a watch is fresh at a time. */
export function isFresh(watch: WatchFreshness, schedule: Schedule, at: Date): boolean {
  return watchFreshUntil(watch, schedule, at, staleAfterMs) === STILL_FRESH
}

/**
 * Returns the time during which too few watches of a monitor were known, if a known result ends it; null: there is
 * none, because enough others are fresh, too few are even with the result, or enough have never reported.
 * @param at the time of the result.
 * @param own its watch before the result.
 * @param others the other watches of the monitor.
 */
export function unknownTimeBefore(
  at: Date,
  own: WatchFreshness,
  others: readonly WatchFreshness[],
  { schedule, agreement }: Pick<MonitorFreshness, 'schedule' | 'agreement'>,
): { readonly startedAt: Date; readonly endedAt: Date } | null {
  const needed = regionsNeeded(agreement)
  const endOf = (watch: WatchFreshness) => watchFreshUntil(watch, schedule, at, staleAfterMs)
  const end = [own, ...others].map(endOf).sort((one, other) => other - one)[needed - 1] ?? NEVER_FRESH
  const fresh = others.filter((watch) => endOf(watch) === STILL_FRESH).length
  if (fresh < needed - 1 || !Number.isFinite(end) || end >= at.getTime()) return null
  return { startedAt: new Date(end), endedAt: at }
}

type Allowance = (schedule: Schedule, known: Date) => number

const NEVER_FRESH = Number.NEGATIVE_INFINITY
const STILL_FRESH = Number.POSITIVE_INFINITY

function watchFreshUntil(
  { lastKnownAt, unknownSince }: WatchFreshness,
  schedule: Schedule,
  at: Date,
  allowance: Allowance,
): number {
  if (lastKnownAt === null) return NEVER_FRESH
  const known = lastKnownAt.getTime()
  const end = known + freshMs(schedule, lastKnownAt)
  if (unknownSince !== null) return Math.max(known, Math.min(unknownSince.getTime(), end))
  return at.getTime() - known <= allowance(schedule, lastKnownAt) ? STILL_FRESH : end
}

/**
 * Returns when a monitor became stale, once it has been stale long enough to report; null: its state is known, or was
 * until recently.
 * @param hasWorker whether any worker is running. Without a worker, a missing result cannot be just late.
 */
export function staleSince(
  watches: readonly WatchFreshness[],
  monitor: MonitorFreshness,
  at: Date,
  hasWorker: boolean,
): Date | null {
  const allowance = hasWorker ? staleAfterMs : freshMs
  const lastKnown = enoughKnownAt(watches, monitor.agreement) ?? monitor.stateSince
  if (at.getTime() - lastKnown.getTime() <= allowance(monitor.schedule, lastKnown)) return null
  return freshUntil(watches, monitor, at, allowance)
}

/** Returns the latest time from which enough watches have a known result; null: never. */
export function enoughKnownAt(watches: readonly WatchFreshness[], agreement: number | null): Date | null {
  const times = watches.flatMap(({ lastKnownAt }) => lastKnownAt ?? []).sort((one, other) => +other - +one)
  return times[regionsNeeded(agreement) - 1] ?? null
}
