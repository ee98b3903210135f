import type { MonitorState, ProbeOutcome } from '../../generated/prisma/enums.ts'
import type { KnownState } from './severity.ts'
import { isKnownState, severityOf } from './severity.ts'
import type { Stability } from './stability.ts'
import { countResult, stable } from './stability.ts'
import { regionsNeeded } from './staleness.ts'

/** A known outcome and the time of its probe, in epoch milliseconds. */
export type RecentOutcome = readonly [outcome: KnownOutcome, at: number]

type KnownOutcome = Exclude<ProbeOutcome, 'UNKNOWN'>
type JudgedState = Exclude<MonitorState, 'PAUSED'>

/** The memory of a watch between probes. */
export interface WatchMemory {
  readonly state: JudgedState
  readonly stateSince: Date
  /** The newest known outcomes, oldest first. */
  readonly recent: readonly RecentOutcome[]
  readonly stability: Stability
}

/** The numbers of consecutive results that change a state, 1 to MAX_THRESHOLD each. */
export interface Thresholds {
  readonly failureThreshold: number
  readonly recoveryThreshold: number
}

/** The maximum threshold, and therefore the number of outcomes to remember. */
export const MAX_THRESHOLD = 10

export interface Judgement {
  readonly memory: WatchMemory
  /**
   * Whether the result contradicts the state without changing it. The probe is then retried before the interval ends.
   */
  readonly retry: boolean
}

/**
 * Returns the state of a watch after a probe result (contract §6). An unknown outcome changes nothing. A state starts
 * at the first result of the streak that caused it, but never after the last result, even if the clock was set back. A
 * watch that is up but unstable is DEGRADED.
 */
export function judge(memory: WatchMemory, outcome: ProbeOutcome, at: Date, thresholds: Thresholds): Judgement {
  if (outcome === 'UNKNOWN') return { memory, retry: false }
  const recent = [...memory.recent, [outcome, at.getTime()] as const].slice(-MAX_THRESHOLD)
  const stability = stabilityAfter(memory, outcome, at)
  const next = adjustedForStability(stateAfter(memory.state, recent, thresholds), memory, stability, at)
  const state = next?.state ?? memory.state
  // Probing an unstable target more often does not help.
  const retry = outcome !== state && !(outcome === 'UP' && stability.unstable)
  if (next === null) return { memory: { ...memory, recent, stability }, retry }
  const earliest = Math.min(memory.stateSince.getTime(), at.getTime())
  const stateSince = new Date(Math.max(Math.min(next.since, at.getTime()), earliest))
  // The failures of an outage do not count towards instability.
  return { memory: { state, stateSince, recent, stability: state === 'DOWN' ? stable : stability }, retry }
}

function stabilityAfter({ state, recent, stability }: WatchMemory, outcome: KnownOutcome, at: Date): Stability {
  if (state === 'DOWN') return stable
  return outcome === 'DOWN' ? stability : countResult(stability, streak(recent, isDown).length, at)
}

/** Adjusts a change of state for instability. */
function adjustedForStability(
  change: Change | null,
  before: WatchMemory,
  { unstable }: Stability,
  at: Date,
): Change | null {
  if ((change?.state ?? before.state) !== 'UP') return change
  if (unstable) return before.state === 'DEGRADED' ? null : { state: 'DEGRADED', since: at.getTime() }
  // The watch becomes stable with this result, not with the first success of the streak.
  return change && before.stability.unstable ? { ...change, since: at.getTime() } : change
}

interface Change {
  readonly state: JudgedState
  /** The time of the first result of the streak. */
  readonly since: number
}

/** Returns the change of state that the newest outcomes cause; null: no change. */
function stateAfter(state: JudgedState, recent: readonly RecentOutcome[], thresholds: Thresholds): Change | null {
  const { failureThreshold, recoveryThreshold } = thresholds
  const failed = streak(recent, isDown)
  const impaired = streak(recent, isNotUp)
  const recovered = streak(recent, isNotDown)
  const healthy = streak(recent, isUp)
  const better = healthy.length >= recoveryThreshold ? 'UP' : 'DEGRADED'
  if (state === 'DOWN') return recovered.length >= recoveryThreshold ? changeAt(better, recovered) : null
  if (failed.length >= failureThreshold) return changeAt('DOWN', failed)
  switch (state) {
    case 'PENDING':
      return failed.length > 0 ? null : changeAt(healthy.length > 0 ? 'UP' : 'DEGRADED', recent.slice(-1))
    case 'UP':
      return impaired.length >= failureThreshold ? changeAt('DEGRADED', impaired) : null
    case 'DEGRADED':
      return better === 'UP' ? changeAt('UP', healthy) : null
  }
}

function changeAt(state: JudgedState, [first]: readonly RecentOutcome[]): Change | null {
  return first === undefined ? null : { state, since: first[1] }
}

const isUp = ([outcome]: RecentOutcome) => outcome === 'UP'
const isDown = ([outcome]: RecentOutcome) => outcome === 'DOWN'
const isNotUp = (seen: RecentOutcome) => !isUp(seen)
const isNotDown = (seen: RecentOutcome) => !isDown(seen)

/** Returns the newest outcomes that all match, oldest first. */
function streak(recent: readonly RecentOutcome[], matches: (seen: RecentOutcome) => boolean): readonly RecentOutcome[] {
  return recent.slice(recent.findLastIndex((seen) => !matches(seen)) + 1)
}

/** Reads the outcomes stored with a watch; malformed data counts as none. */
export function readRecent(json: unknown): RecentOutcome[] {
  if (!Array.isArray(json)) return []
  return json.every(isRecentOutcome) ? json.slice(-MAX_THRESHOLD) : []
}

function isRecentOutcome(value: unknown): value is RecentOutcome {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [outcome, at] = value
  return ['UP', 'DEGRADED', 'DOWN'].includes(outcome) && Number.isFinite(at) && Math.abs(at) <= MAX_TIME
}

/** The last millisecond of a Date (ECMAScript, "Time Values and Time Range"). */
const MAX_TIME = 8.64e15

/** The fields of a watch that determine the state of its monitor. */
export interface RegionReport {
  readonly state: MonitorState
  readonly stateSince: Date
  /** The time of the last known result. */
  readonly lastKnownAt: Date | null
}

/** The current state of a monitor and its settings. */
export interface MonitorStanding {
  readonly state: MonitorState
  readonly stateSince: Date
  /** The number of regions that must find it down; null: a strict majority of the regions that report. */
  readonly agreement: number | null
  /** The age, in milliseconds, at which the last known result of a region no longer counts. */
  readonly staleAfterMs: number
}

/**
 * Returns the state of a monitor from the reports of its regions: DOWN if enough regions find it down, else DEGRADED if
 * enough find it at least degraded, else UP. The state starts when the last of the required regions reported it. If it
 * changes because a region became stale, it starts now, because the report of that region counted until now. A stale
 * region with a worse report still counts against a recovery. Null: fewer regions report than must agree, so the state
 * does not change.
 */
export function judgeMonitor(
  reports: readonly RegionReport[],
  standing: MonitorStanding,
  now: Date,
): { readonly state: MonitorState; readonly since: Date } | null {
  const known = reports.filter(({ state, lastKnownAt }) => isKnownState(state) && lastKnownAt !== null)
  const fresh = known.filter(({ lastKnownAt }) => now.getTime() - Number(lastKnownAt) <= standing.staleAfterMs)
  if (fresh.length < regionsNeeded(standing.agreement)) return null
  const verdictOfFresh = verdictOf(fresh, standing.agreement)
  const isBetter = severityOf(verdictOfFresh) < severityOf(standing.state)
  const counting = isBetter
    ? known.filter((each) => fresh.includes(each) || severityOf(each.state) > severityOf(verdictOfFresh))
    : fresh
  const verdict = verdictOf(counting, standing.agreement)
  const state = severityOf(verdict) > severityOf(standing.state) && isBetter ? standing.state : verdict
  if (state === standing.state) return { state, since: standing.stateSince }

  const wasWorse = severityOf(standing.state) > severityOf(state)
  const since = wasWorse
    ? times(counting.filter((each) => severityOf(each.state) < severityOf(standing.state))).at(-1)
    : times(atLeast(counting, state))[state === 'UP' ? 0 : enoughOf(counting, standing.agreement) - 1]
  const start = standing.stateSince.getTime()
  const plausible = since !== undefined && (since > start || (since === start && standing.state === 'PENDING'))
  return { state, since: new Date(plausible ? Math.min(since, now.getTime()) : now.getTime()) }
}

/** Returns the worst state that enough regions report. There must be at least as many reports as must agree. */
function verdictOf(reports: readonly RegionReport[], agreement: number | null): KnownState {
  const enough = enoughOf(reports, agreement)
  return (['DOWN', 'DEGRADED'] as const).find((each) => atLeast(reports, each).length >= enough) ?? 'UP'
}

const enoughOf = (reports: readonly RegionReport[], agreement: number | null) =>
  agreement ?? Math.floor(reports.length / 2) + 1
const atLeast = (reports: readonly RegionReport[], minimum: MonitorState) =>
  reports.filter(({ state }) => severityOf(state) >= severityOf(minimum))
const times = (reports: readonly RegionReport[]) =>
  reports.map(({ stateSince }) => stateSince.getTime()).sort((one, other) => one - other)
