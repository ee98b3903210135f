import type { MonitorState } from '../../generated/prisma/enums.ts'
import type { GroupOptions } from './group.ts'

/** A member of a group. */
export interface GroupMember {
  readonly id: string
  readonly name: string
  readonly state: MonitorState
  readonly stateSince: Date
  /** When its state became unknown; null: it is known. */
  readonly unknownSince: Date | null
  /** When its state last became known again; null: it does not matter. */
  readonly knownSince: Date | null
}

/** The current state of a group. */
export interface GroupStanding {
  readonly state: MonitorState
  readonly stateSince: Date
  readonly unknownSince: Date | null
  /** The earliest time at which a new state can start: when the group was created, changed or resumed. */
  readonly earliest: Date
}

type KnownState = 'UP' | 'DEGRADED' | 'DOWN'

/**
 * The state of a group, derived from its members. UNKNOWN: it depends on a member whose state is unknown. PENDING: it
 * depends on a member without a result. EMPTY: no member is active.
 */
export type GroupVerdict =
  /**
   * @property since when the state started. @property knownSince when the group became known, if it was unknown before.
   */
  | { readonly kind: 'KNOWN'; readonly state: KnownState; readonly since: Date; readonly knownSince: Date }
  | { readonly kind: 'UNKNOWN'; readonly since: Date }
  | { readonly kind: 'PENDING' }
  | { readonly kind: 'EMPTY'; readonly since: Date }

type Rule = Pick<GroupOptions, 'require' | 'count'>

/** The number of members in each state. OPEN: the state is unknown or pending. */
type Counts = Record<KnownState | 'OPEN', number>

/**
 * Derives the state of a group. If n members must be up, it is the state of the n-th best active member; paused members
 * do not count. The state is known if unknown and pending members cannot change it.
 */
export function judgeGroup(all: readonly GroupMember[], rule: Rule, group: GroupStanding, now: Date): GroupVerdict {
  const members = all.filter(({ state }) => state !== 'PAUSED')
  const pausedAt = all.flatMap(({ state, stateSince }) => (state === 'PAUSED' ? [stateSince.getTime()] : []))
  const earliest = Math.max(group.earliest.getTime(), ...pausedAt)
  const within = (time: number, from: number) => new Date(Math.min(Math.max(time, from), Math.max(from, now.getTime())))
  if (members.length === 0) {
    const emptied = pausedAt.length === 0 ? now.getTime() : earliest
    return { kind: 'EMPTY', since: within(emptied, group.stateSince.getTime()) }
  }

  const needed = neededOf(rule, members.length)
  const counts = countsOf(members.map(knownStateOf))
  const state = verdictOf(counts, needed)
  if (state === null) {
    if (members.every(({ unknownSince }) => unknownSince === null)) return { kind: 'PENDING' }
    return { kind: 'UNKNOWN', since: within(undecidedSince(members, needed), group.stateSince.getTime()) }
  }
  const begun = decidedSince(members, needed, ({ stateSince }) => stateSince)
  const isBetter = severity[state] < severityOf(group.state)
  const since = within(begun, isBetter ? Math.max(earliest, group.stateSince.getTime()) : earliest)
  const known = decidedSince(members, needed, ({ stateSince, knownSince }) => knownSince ?? stateSince)
  return {
    ...{ kind: 'KNOWN', state },
    since: state === group.state ? group.stateSince : since,
    knownSince: within(known, (group.unknownSince ?? group.stateSince).getTime()),
  }
}

/**
 * Returns how many of the active members must be up: at most all of them, so that paused members do not make a group
 * fail.
 */
export function neededOf({ require, count = 1 }: Rule, active: number): number {
  if (require === 'ALL') return active
  return require === 'ANY' ? 1 : Math.min(count, active)
}

/** Returns the state of the n-th best member; null: it depends on unknown or pending members. */
function verdictOf({ UP, DEGRADED, OPEN }: Counts, needed: number): KnownState | null {
  const best = nthBest(UP + OPEN, DEGRADED, needed)
  return best === nthBest(UP, DEGRADED, needed) ? best : null
}

function nthBest(up: number, degraded: number, n: number): KnownState {
  if (up >= n) return 'UP'
  return up + degraded >= n ? 'DEGRADED' : 'DOWN'
}

function countsOf(states: readonly (KnownState | null)[]): Counts {
  const counts: Counts = { UP: 0, DEGRADED: 0, DOWN: 0, OPEN: 0 }
  for (const state of states) counts[state ?? 'OPEN'] += 1
  return counts
}

/** Returns the state of a member; null: it is unknown or pending. */
function knownStateOf({ state, unknownSince }: Pick<GroupMember, 'state' | 'unknownSince'>): KnownState | null {
  return state in severity && unknownSince === null ? (state as KnownState) : null
}

/** Returns the time from which the current states of the members determine the group's state, in epoch milliseconds. */
function decidedSince(members: readonly GroupMember[], needed: number, from: (member: GroupMember) => Date): number {
  const counts = countsOf(members.map(() => null))
  const known = members.flatMap((member) => {
    const state = knownStateOf(member)
    return state === null ? [] : [{ state, at: from(member).getTime() }]
  })
  for (const { state, at } of known.sort((one, other) => one.at - other.at)) {
    counts.OPEN -= 1
    counts[state] += 1
    if (verdictOf(counts, needed) !== null) return at
  }
  return Number.NEGATIVE_INFINITY
}

/**
 * Returns the time from which the group's state depends on unknown members, in epoch milliseconds. The earlier states
 * of members are not known here, so each may have been up or down.
 */
function undecidedSince(members: readonly GroupMember[], needed: number): number {
  const counts: Counts = { UP: 0, DEGRADED: 0, DOWN: 0, OPEN: 0 }
  let earlier = members.length
  let since: number | null = null
  for (const { at, from, to } of changesOf(members)) {
    if (from === null) earlier -= 1
    else counts[from] -= 1
    counts[to] += 1
    const isOpen = [0, earlier].every((up) => verdictOf({ ...counts, UP: counts.UP + up }, needed) === null)
    since = isOpen ? (since ?? at) : null
  }
  return since ?? Number.NEGATIVE_INFINITY
}

/** A change of a member's state. OPEN: the state is unknown or pending. */
interface GroupMemberChange {
  readonly at: number
  /** The state before the change; null: it may have been any. */
  readonly from: keyof Counts | null
  readonly to: keyof Counts
}

/** Returns the changes that led to the current states of members, in order of time. */
function changesOf(members: readonly GroupMember[]): GroupMemberChange[] {
  const changes = members.flatMap(({ state, stateSince, unknownSince }): GroupMemberChange[] => {
    const begun = knownStateOf({ state, unknownSince: null }) ?? 'OPEN'
    const change = { at: stateSince.getTime(), from: null, to: begun } as const
    return unknownSince === null ? [change] : [change, { at: unknownSince.getTime(), from: begun, to: 'OPEN' }]
  })
  return changes.sort((one, other) => one.at - other.at)
}

const severity: Readonly<Record<KnownState, number>> = { UP: 0, DEGRADED: 1, DOWN: 2 }
const severityOf = (state: MonitorState) => (severity as Partial<Record<MonitorState, number>>)[state] ?? 0
