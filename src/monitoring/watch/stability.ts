import { HOUR, MINUTE } from '../../core/time.ts'

/** The outcomes of a watch in the last hour, without outages. */
export interface Stability {
  /** Whether many scattered probes failed, so that the target is unreliable without being down. */
  readonly unstable: boolean
  /** The counts of the last hour by interval, oldest first. */
  readonly intervals: readonly Interval[]
}

/** The start of an interval in epoch milliseconds, its number of probes, and its number of failed probes. */
type Interval = readonly [start: number, probes: number, failures: number]

/** No probes counted yet. */
export const stable: Stability = { unstable: false, intervals: [] }

const INTERVAL_MS = 5 * MINUTE
const MAX_INTERVALS = HOUR / INTERVAL_MS + 1
/** The minimum number of probes for a meaningful failure rate. */
const MIN_PROBES = 10
/**
 * A watch becomes unstable above this failure rate, and stable below the next one. They differ so that it does not
 * flap.
 */
const UNSTABLE_ABOVE = 1 / 10
const STABLE_BELOW = 1 / 20

/** Counts a successful probe and the failures right before it, which were no outage. */
export function countResult(before: Stability, failuresBefore: number, at: Date): Stability {
  const now = at.getTime()
  const start = Math.floor(now / INTERVAL_MS) * INTERVAL_MS
  // Intervals may lie in the future if the clock was set back.
  const past = before.intervals.filter(([begin]) => begin > now - HOUR && begin < start)
  const [, probes = 0, failures = 0] = before.intervals.find(([begin]) => begin === start) ?? []
  const intervals = [...past, [start, probes + failuresBefore + 1, failures + failuresBefore] as const]
  const all = sumOf(intervals)
  const share = all.failures / all.probes
  const unstable = all.probes >= MIN_PROBES && (before.unstable ? share >= STABLE_BELOW : share > UNSTABLE_ABOVE)
  return { unstable, intervals }
}

/** Describes why a watch is unstable: `Unstable: 14 of 60 probes failed in the last hour`. */
export function instabilityInWords({ intervals }: Stability): string {
  const { probes, failures } = sumOf(intervals)
  return `Unstable: ${failures} of ${probes} probes failed in the last hour`
}

function sumOf(intervals: readonly Interval[]) {
  return {
    probes: intervals.reduce((sum, [, probes]) => sum + probes, 0),
    failures: intervals.reduce((sum, [, , failures]) => sum + failures, 0),
  }
}

/** Reads the counts stored with a watch; malformed data counts as none. */
export function readStability(json: unknown): Stability {
  if (typeof json !== 'object' || json === null || !('intervals' in json)) return stable
  const { intervals } = json
  if (!Array.isArray(intervals) || !intervals.every(isInterval)) return stable
  return { unstable: 'unstable' in json && json.unstable === true, intervals: intervals.slice(-MAX_INTERVALS) }
}

function isInterval(value: unknown): value is Interval {
  return Array.isArray(value) && value.length === 3 && value.every((each) => Number.isSafeInteger(each) && each >= 0)
}
