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

/** A watch as far as it tells until when its monitor is known. */
export interface Voucher {
  /** When something was last known from there; null: nothing ever was. */
  readonly lastKnownAt: Date | null
  /** The first check after that which found nothing out; null: there was none. */
  readonly unknownSince: Date | null
}

/** A monitor as far as it tells how many of its watches have to vouch for it, and for how long each does. */
export interface Vouched {
  readonly rhythm: Rhythm
  /** How many regions must agree; null: one that reports is enough. */
  readonly agreement: number | null
  /** Since when it has been in its state: from then on it is unknown when fewer have ever reported than have to agree. */
  readonly stateSince: Date
}

/** How many watches have to vouch for a monitor, for anything to be known of it. */
export function vouchersNeeded(agreement: number | null): number {
  return agreement ?? 1
}

/**
 * From when on too few watches vouch for a monitor at a moment; null: enough do. A check stands until the next one, which
 * may be a little late, but not beyond a check that found nothing out.
 * @param allowance how long after a known check the next one has to come, in milliseconds.
 */
export function unvouchedSince(
  watches: readonly Voucher[],
  { rhythm, agreement, stateSince }: Vouched,
  at: Date,
  allowance = allowanceMs(rhythm),
): Date | null {
  const ends = watches.map((watch) => vouchesUntil(watch, rhythm, at, allowance)).sort((one, other) => other - one)
  const end = ends[vouchersNeeded(agreement) - 1] ?? NEVER
  if (end === NEVER) return stateSince
  return end === STILL ? null : new Date(end)
}

const NEVER = Number.NEGATIVE_INFINITY
const STILL = Number.POSITIVE_INFINITY

function vouchesUntil({ lastKnownAt, unknownSince }: Voucher, rhythm: Rhythm, at: Date, allowance: number): number {
  if (lastKnownAt === null) return NEVER
  const known = lastKnownAt.getTime()
  const end = known + vouchedMs(rhythm)
  if (unknownSince !== null) return Math.max(known, Math.min(unknownSince.getTime(), end))
  return at.getTime() - known <= allowance ? STILL : end
}

/**
 * Since when a monitor has been silent: for so long that it has to be told. Null: something is known of it, or was a short
 * while ago.
 * @param watched whether any worker is there. When none is, no check comes late: none comes.
 */
export function silentSince(watches: readonly Voucher[], monitor: Vouched, at: Date, watched: boolean): Date | null {
  const allowance = watched ? allowanceMs(monitor.rhythm) : vouchedMs(monitor.rhythm)
  const lastHeard = enoughKnownAt(watches, monitor.agreement) ?? monitor.stateSince
  if (at.getTime() - lastHeard.getTime() <= allowance) return null
  return unvouchedSince(watches, monitor, at, allowance)
}

/** When so many watches as have to agree last knew something, each at this moment or later; null: they never all did. */
export function enoughKnownAt(watches: readonly Voucher[], agreement: number | null): Date | null {
  const times = watches.flatMap(({ lastKnownAt }) => lastKnownAt ?? []).sort((one, other) => +other - +one)
  return times[vouchersNeeded(agreement) - 1] ?? null
}
