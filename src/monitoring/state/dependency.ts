import { MINUTE } from '../../core/time.ts'
import type { MonitorKind, MonitorState, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { severityOf } from '../watch/severity.ts'

/** The maximum number of monitors that a monitor may depend on. */
export const MAX_PARENTS = 10

/** The maximum time, in milliseconds, that a worse state waits for the parents to be probed. */
export const MAX_HOLD_MS = 2 * MINUTE

/** A monitor that another one depends on. */
export interface Parent {
  readonly id: string
  readonly kind: MonitorKind
  readonly state: MonitorState
  readonly stateSince: Date
  /** When the first of its own parents went down; null: none is down. */
  readonly blockedSince: Date | null
  readonly watches: readonly LastResult[]
  /** The probed members of a group, direct or through other groups; absent: not a group. */
  readonly leaves?: readonly Parent[]
}

/** The last result of a watch. */
interface LastResult {
  readonly lastKnownAt: Date | null
  readonly lastOutcome: ProbeOutcome | null
}

/** A monitor that depends on others. */
export interface Dependent {
  readonly state: MonitorState
  readonly stateSince: Date
  /** When a worse state was first held back; null: none is held back. */
  readonly heldSince: Date | null
  readonly watches: readonly LastResult[]
}

/**
 * The effect of parents on a monitor. FREE: its own results count. BLOCKED: a parent is down, so the state of the
 * monitor is unknown. HELD: its worse state is held back until its parents have been probed, because one of them may
 * have failed first.
 */
export type Dependency =
  | { readonly kind: 'FREE' }
  | { readonly kind: 'BLOCKED'; readonly since: Date }
  | { readonly kind: 'HELD'; readonly since: Date; readonly parentIds: readonly string[] }

/**
 * Returns the effect of the parents on a monitor.
 * @param next the state that its own results call for; null: no change.
 */
export function judgeDependency(
  parents: readonly Parent[],
  monitor: Dependent,
  next: { readonly state: MonitorState; readonly since: Date } | null,
  now: Date,
): Dependency {
  const worse = next !== null && severityOf(next.state) > severityOf(monitor.state) ? next : null
  const downSince = parents.flatMap((parent) => downSinceOf(parent) ?? [])
  if (downSince.length > 0) return { kind: 'BLOCKED', since: unknownFrom(monitor, [...downSince, worse?.since ?? now]) }
  if (worse === null) return { kind: 'FREE' }
  const since = monitor.heldSince ?? now
  if (now.getTime() - since.getTime() >= MAX_HOLD_MS) return { kind: 'FREE' }
  const probed = parents.flatMap((parent) => (parent.state === 'PAUSED' ? [] : (parent.leaves ?? [parent])))
  const parentIds = [...new Set(probed.filter((parent) => mayBeFailing(parent, since)).map(({ id }) => id))]
  return parentIds.length === 0 ? { kind: 'FREE' } : { kind: 'HELD', since, parentIds }
}

/** Returns whether a parent, or one of its own parents, is down. */
export const isUnavailable = (parent: Pick<Parent, 'state' | 'stateSince' | 'blockedSince'>): boolean =>
  downSinceOf(parent) !== null

/** Returns when a parent, or one of its own parents, went down; null: none is down. */
function downSinceOf({
  state,
  stateSince,
  blockedSince,
}: Pick<Parent, 'state' | 'stateSince' | 'blockedSince'>): Date | null {
  if (state === 'PAUSED') return null
  return blockedSince ?? (state === 'DOWN' ? stateSince : null)
}

/**
 * Returns when the state of a monitor became unknown: at the first failure of a parent, but not before its own last
 * good result.
 */
function unknownFrom({ stateSince, watches }: Dependent, failures: readonly Date[]): Date {
  const good = watches.flatMap((watch) => (isGood(watch) ? Number(watch.lastKnownAt) : []))
  return new Date(Math.max(Number(stateSince), ...good, Math.min(...failures.map(Number))))
}

/**
 * Returns whether a parent that is not DOWN yet may have failed: at least half of its regions have no good result since
 * a time. Ignores heartbeats, because they cannot be probed early.
 */
function mayBeFailing({ kind, state, watches }: Parent, since: Date): boolean {
  if (kind === 'HEARTBEAT' || state === 'PAUSED') return false
  const reporting = watches.filter(({ lastKnownAt }) => lastKnownAt !== null)
  const good = reporting.filter((watch) => isGood(watch) && Number(watch.lastKnownAt) >= since.getTime())
  return reporting.length > 0 && 2 * good.length <= reporting.length
}

const isGood = ({ lastKnownAt, lastOutcome }: LastResult) =>
  lastKnownAt !== null && (lastOutcome === 'UP' || lastOutcome === 'DEGRADED')
