import type { MonitorState, ProbeOutcome } from '../generated/prisma/enums.ts'
import type { Steadiness } from './steadiness.ts'
import { countCheck, steady } from './steadiness.ts'
import { vouchersNeeded } from './vouching.ts'

/** A known outcome and the time of its check, in epoch milliseconds. */
export type Seen = readonly [outcome: Known, at: number]

type Known = Exclude<ProbeOutcome, 'UNKNOWN'>
type Judged = Exclude<MonitorState, 'PAUSED'>

/** What is remembered of a watch from one check to the next. */
export interface Memory {
  readonly state: Judged
  readonly stateSince: Date
  /** The newest known outcomes, oldest first. */
  readonly recent: readonly Seen[]
  readonly steadiness: Steadiness
}

/** How many results in a row change a state: both from 1 to MOST_IN_A_ROW. */
export interface Thresholds {
  readonly failureThreshold: number
  readonly recoveryThreshold: number
}

/** The highest threshold, and so the most outcomes that need to be remembered. */
export const MOST_IN_A_ROW = 10

export interface Judgement {
  readonly memory: Memory
  /** Whether the check contradicts the state without changing it: it is then made again sooner than the interval. */
  readonly retry: boolean
}

/**
 * What a watch is after one more check (contract §6). An unknown outcome changes nothing. A state begins with the first
 * check of the streak that led to it; by a clock that was set back it never begins after the check that decided. One that
 * is up and unstable is degraded.
 */
export function judge(memory: Memory, outcome: ProbeOutcome, at: Date, thresholds: Thresholds): Judgement {
  if (outcome === 'UNKNOWN') return { memory, retry: false }
  const recent = [...memory.recent, [outcome, at.getTime()] as const].slice(-MOST_IN_A_ROW)
  const steadiness = steadinessAfter(memory, outcome, at)
  const next = steadied(stateAfter(memory.state, recent, thresholds), memory, steadiness, at)
  const state = next?.state ?? memory.state
  // What fails here and there is not found out sooner by asking more often.
  const retry = outcome !== state && !(outcome === 'UP' && steadiness.unstable)
  if (next === null) return { memory: { ...memory, recent, steadiness }, retry }
  const earliest = Math.min(memory.stateSince.getTime(), at.getTime())
  const stateSince = new Date(Math.max(Math.min(next.since, at.getTime()), earliest))
  // An outage is told as such: what failed in it is not counted once more.
  return { memory: { state, stateSince, recent, steadiness: state === 'DOWN' ? steady : steadiness }, retry }
}

function steadinessAfter({ state, recent, steadiness }: Memory, outcome: Known, at: Date): Steadiness {
  if (state === 'DOWN') return steady
  return outcome === 'DOWN' ? steadiness : countCheck(steadiness, streak(recent, isDown).length, at)
}

/** A change of state, unless it is another because the watch is unstable, or was until now. */
function steadied(change: Change | null, before: Memory, { unstable }: Steadiness, at: Date): Change | null {
  if ((change?.state ?? before.state) !== 'UP') return change
  if (unstable) return before.state === 'DEGRADED' ? null : { state: 'DEGRADED', since: at.getTime() }
  // It is stable again by this check, and not by the first of those that did not fail.
  return change && before.steadiness.unstable ? { ...change, since: at.getTime() } : change
}

interface Change {
  readonly state: Judged
  /** The time of the first check of the streak. */
  readonly since: number
}

/** The state that the newest outcomes lead to; null: they leave it as it is. */
function stateAfter(state: Judged, recent: readonly Seen[], thresholds: Thresholds): Change | null {
  const { failureThreshold, recoveryThreshold } = thresholds
  const failed = streak(recent, isDown)
  const impaired = streak(recent, isNotUp)
  const recovered = streak(recent, isNotDown)
  const healthy = streak(recent, isUp)
  const better = healthy.length >= recoveryThreshold ? 'UP' : 'DEGRADED'
  if (state === 'DOWN') return recovered.length >= recoveryThreshold ? begun(better, recovered) : null
  if (failed.length >= failureThreshold) return begun('DOWN', failed)
  switch (state) {
    case 'PENDING':
      return failed.length > 0 ? null : begun(healthy.length > 0 ? 'UP' : 'DEGRADED', recent.slice(-1))
    case 'UP':
      return impaired.length >= failureThreshold ? begun('DEGRADED', impaired) : null
    case 'DEGRADED':
      return better === 'UP' ? begun('UP', healthy) : null
  }
}

function begun(state: Judged, [first]: readonly Seen[]): Change | null {
  return first === undefined ? null : { state, since: first[1] }
}

const isUp = ([outcome]: Seen) => outcome === 'UP'
const isDown = ([outcome]: Seen) => outcome === 'DOWN'
const isNotUp = (seen: Seen) => !isUp(seen)
const isNotDown = (seen: Seen) => !isDown(seen)

/** The newest outcomes that are all such, oldest first. */
function streak(recent: readonly Seen[], such: (seen: Seen) => boolean): readonly Seen[] {
  return recent.slice(recent.findLastIndex((seen) => !such(seen)) + 1)
}

/** The outcomes that a watch's row remembers; what is malformed there is as good as forgotten. */
export function readRecent(json: unknown): Seen[] {
  if (!Array.isArray(json)) return []
  return json.every(isSeen) ? json.slice(-MOST_IN_A_ROW) : []
}

function isSeen(value: unknown): value is Seen {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [outcome, at] = value
  return ['UP', 'DEGRADED', 'DOWN'].includes(outcome) && Number.isFinite(at) && Math.abs(at) <= LAST_TIME
}

/** The last millisecond of a Date (ECMAScript, "Time Values and Time Range"). */
const LAST_TIME = 8.64e15

/** A watch as far as its monitor is judged by it. */
export interface Report {
  readonly state: MonitorState
  readonly stateSince: Date
  /** When something was last known from there. */
  readonly lastKnownAt: Date | null
}

/** A monitor before it is judged anew. */
export interface Standing {
  readonly state: MonitorState
  readonly stateSince: Date
  /** How many regions must find it down; null: a strict majority of those that report. */
  readonly agreement: number | null
  /** How old what was known last may be before its region reports no more, in milliseconds. */
  readonly allowanceMs: number
}

/**
 * What a monitor is by what its regions report: DOWN when enough of them find it down, else DEGRADED when enough find it
 * at least degraded, else UP. It begins when the last region came that makes them enough, or when it is found out that one
 * has gone silent, for what that said before was true then. A region that found it bad and fell silent has not found it
 * better: it still counts against a recovery. Null, which leaves it what it is: fewer regions report than have to agree.
 */
export function judgeMonitor(
  reports: readonly Report[],
  standing: Standing,
  now: Date,
): { readonly state: MonitorState; readonly since: Date } | null {
  const knowing = reports.filter(({ state, lastKnownAt }) => state in badness && lastKnownAt !== null)
  const heard = knowing.filter(({ lastKnownAt }) => now.getTime() - Number(lastKnownAt) <= standing.allowanceMs)
  if (heard.length < vouchersNeeded(standing.agreement)) return null
  const found = verdictOf(heard, standing.agreement)
  const isBetter = badness[found] < badnessOf(standing.state)
  const counting = isBetter
    ? knowing.filter((each) => heard.includes(each) || badnessOf(each.state) > badness[found])
    : heard
  const verdict = verdictOf(counting, standing.agreement)
  const state = badness[verdict] > badnessOf(standing.state) && isBetter ? standing.state : verdict
  if (state === standing.state) return { state, since: standing.stateSince }

  const wasWorse = badnessOf(standing.state) > badnessOf(state)
  const since = wasWorse
    ? times(counting.filter((each) => badnessOf(each.state) < badnessOf(standing.state))).at(-1)
    : times(atLeast(counting, state))[state === 'UP' ? 0 : enoughOf(counting, standing.agreement) - 1]
  const start = standing.stateSince.getTime()
  const plausible = since !== undefined && (since > start || (since === start && standing.state === 'PENDING'))
  return { state, since: new Date(plausible ? Math.min(since, now.getTime()) : now.getTime()) }
}

/** What enough of the regions find, which are not fewer than have to agree. */
function verdictOf(reports: readonly Report[], agreement: number | null): keyof typeof badness {
  const enough = enoughOf(reports, agreement)
  return (['DOWN', 'DEGRADED'] as const).find((each) => atLeast(reports, each).length >= enough) ?? 'UP'
}

const enoughOf = (reports: readonly Report[], agreement: number | null) =>
  agreement ?? Math.floor(reports.length / 2) + 1
const atLeast = (reports: readonly Report[], least: MonitorState) =>
  reports.filter(({ state }) => badnessOf(state) >= badnessOf(least))
const times = (reports: readonly Report[]) =>
  reports.map(({ stateSince }) => stateSince.getTime()).sort((one, other) => one - other)

const badness: Readonly<Record<'UP' | 'DEGRADED' | 'DOWN', number>> = { UP: 0, DEGRADED: 1, DOWN: 2 }
const badnessOf = (state: MonitorState) => (badness as Partial<Record<MonitorState, number>>)[state] ?? 0
