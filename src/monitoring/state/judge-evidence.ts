import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import type { MonitorState } from '../../generated/prisma/enums.ts'
import type { GroupParts } from '../group/group-store.ts'
import { groupOptionsOf } from '../group/group-store.ts'
import type { GroupMember } from '../group/judge-group.ts'
import { judgeGroup } from '../group/judge-group.ts'
import { judgeMonitor } from '../watch/judge.ts'
import type { Stability } from '../watch/stability.ts'
import { readStability } from '../watch/stability.ts'
import type { Schedule } from '../watch/staleness.ts'
import { enoughKnownAt, staleAfterMs } from '../watch/staleness.ts'
import type { Dependency, Parent } from './dependency.ts'
import { judgeDependency } from './dependency.ts'
import type { NamedParent, StalenessChange } from './staleness-change.ts'
import { stalenessChangeOf, stalenessReason } from './staleness-change.ts'

/** Everything that determines the state of a monitor. */
export interface MonitorEvidence {
  readonly monitor: Monitor
  readonly watches: readonly Watch[]
  readonly schedule: Schedule
  readonly parents: readonly (Parent & NamedParent)[]
  /** Its members, if it is a group; null: it is none. */
  readonly group: GroupParts | null
}

/** The moment of a judgement. */
export interface Moment {
  readonly at: Date
  /** Whether any worker is running. */
  readonly hasWorker: boolean
  /** When the member list of a group changed; absent: it did not. A new state starts no earlier. */
  readonly earliest?: Date | undefined
}

/** A state and its start. */
export interface Verdict {
  readonly state: MonitorState
  readonly since: Date
}

/** A monitor with the changes to write. */
export interface JudgedMonitor {
  readonly monitor: Monitor
  /** The new state; null: too few watches or members are known, so the state does not change. */
  readonly next: Verdict | null
  /** The change of staleness to write; null: none. */
  readonly staleness: StalenessChange | null
  readonly reason: string
  /** The new effect of its parents; null: unchanged. */
  readonly dependency: Dependency | null
  /** The counts of a region in which it is unstable; undefined: it is stable. */
  readonly unstable: Stability | undefined
  /** The members of a group; null: it is not a group. */
  readonly group: GroupParts | null
}

/** Judges a monitor by its watches, or by its members if it is a group, and by its parents. */
export function judgeEvidence(evidence: MonitorEvidence, moment: Moment): JudgedMonitor {
  const { monitor, watches, schedule, parents, group } = evidence
  const own = group ? judgedByMembers(monitor, group, moment) : judgedByWatches(evidence, moment)
  const { dependency, next, staleness } = withParents(evidence, own, moment.at)
  const unstable = watches.map(({ stability }) => readStability(stability)).find((each) => each.unstable)
  const members = group?.members ?? null
  const reason = staleness ? stalenessReason({ ...monitor, parents, members }, watches, schedule, moment.at) : ''
  return { monitor, next, staleness, reason, dependency, unstable, group }
}

/** Judges a monitor by its watches. */
function judgedByWatches({ monitor, watches, schedule }: MonitorEvidence, { at, hasWorker }: Moment): Own {
  const staleMs = staleAfterMs(schedule, enoughKnownAt(watches, null) ?? at)
  return {
    next: judgeMonitor(watches, { ...monitor, staleAfterMs: staleMs }, at),
    staleness: () => stalenessChangeOf(monitor, judged(monitor, watches), schedule, at, hasWorker),
  }
}

/** The verdict on a monitor from its own watches or members, regardless of its parents. */
interface Own {
  readonly next: Verdict | null
  readonly staleness: () => StalenessChange | null
}

/** Judges a group by its members. */
function judgedByMembers(monitor: Monitor, group: GroupParts, { at, earliest: changedAt = new Date(0) }: Moment): Own {
  const earliest = new Date(Math.max(Number(group.begunAt), Number(changedAt)))
  const verdict = judgeGroup(group.members, groupOptionsOf(monitor), { ...monitor, earliest }, at)
  const { unknownSince, blockedSince } = monitor
  const ended = (knownAt: Date): StalenessChange | null => {
    if (unknownSince === null) return null
    const end = blockedSince === null ? knownAt : at
    return { kind: 'ENDED', since: unknownSince, at: new Date(Math.max(Number(end), Number(unknownSince))) }
  }
  switch (verdict.kind) {
    case 'KNOWN':
      return { next: verdict, staleness: () => ended(verdict.knownSince) }
    case 'UNKNOWN': {
      const began = { kind: 'BEGAN', since: verdict.since } as const
      return { next: null, staleness: () => (unknownSince === null ? began : null) }
    }
    case 'PENDING':
      return { next: null, staleness: () => null }
    case 'EMPTY': {
      const next = monitor.state === 'PENDING' ? null : { state: 'PENDING' as const, since: verdict.since }
      return { next, staleness: () => ended(verdict.since) }
    }
  }
}

/**
 * Applies the effect of parents. A group needs no new probes after its parents recover, because its members determine
 * its state.
 */
function withParents(
  { monitor, watches, parents, group }: MonitorEvidence,
  { next, staleness }: Own,
  at: Date,
): Pick<JudgedMonitor, 'dependency' | 'next' | 'staleness'> {
  const dependency = judgeDependency(parents, { ...monitor, watches }, next, at)
  const isFree = dependency.kind === 'FREE' && (monitor.blockedSince === null || group !== null)
  const isKept = dependency.kind === 'FREE' && group !== null
  return {
    dependency: isChanged(monitor, dependency) ? dependency : null,
    next: isFree ? next : null,
    staleness: isKept ? staleness() : stalenessWith(dependency, monitor, staleness),
  }
}

/**
 * Returns the watches that can make a monitor known: an unknown one needs watches with a state, not just the first
 * failure of a streak.
 */
const judged = <W extends Pick<Watch, 'state'>>({ unknownSince }: Monitor, watches: readonly W[]): readonly W[] =>
  unknownSince === null ? watches : watches.filter(({ state }) => state !== 'PENDING')

/**
 * Returns the change of staleness; null: none. A monitor stays unknown while a parent is down and until it has been
 * probed again.
 */
function stalenessWith(
  dependency: Dependency,
  { blockedSince, unknownSince }: Monitor,
  own: () => StalenessChange | null,
): StalenessChange | null {
  if (dependency.kind === 'BLOCKED') return unknownSince === null ? { kind: 'BEGAN', since: dependency.since } : null
  return blockedSince === null ? own() : null
}

function isChanged({ blockedSince, heldSince }: Monitor, { kind }: Dependency): boolean {
  return (kind === 'BLOCKED') !== (blockedSince !== null) || (kind === 'HELD') !== (heldSince !== null)
}

/**
 * Returns whether there is nothing to write. A DOWN monitor is never reconciled, because its incident may be missing.
 */
export function isReconciled({ monitor, next, staleness, dependency }: JudgedMonitor): boolean {
  if (dependency !== null) return false
  return staleness === null && (next === null || (next.state === monitor.state && next.state !== 'DOWN'))
}

/** Returns whether a change affects the groups that contain the monitor. */
export const changesState = ({ monitor, next, staleness }: JudgedMonitor) =>
  staleness !== null || (next !== null && next.state !== monitor.state)

/** Returns the changed fields of a monitor for the groups that contain it. */
export function memberAfter({ monitor, next, staleness }: JudgedMonitor): Partial<GroupMember> {
  const ended = staleness?.kind === 'ENDED' ? { unknownSince: null, knownSince: staleness.at } : {}
  return {
    ...(next && { state: next.state, stateSince: next.since }),
    ...(staleness?.kind === 'BEGAN' ? { unknownSince: staleness.since } : ended),
    ...(next?.state === 'PENDING' && monitor.state !== 'PENDING' && { unknownSince: null }),
  }
}
