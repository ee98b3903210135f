import { MINUTE } from '../core/time.ts'
import type { MonitorKind, MonitorState, ProbeOutcome } from '../generated/prisma/enums.ts'

/** How many monitors one may depend on. */
export const MAX_PARENTS = 10

/** How long a worse state waits at most until the parents have been probed, in milliseconds. */
export const MAX_HOLD_MS = 2 * MINUTE

/** A monitor on which another depends. */
export interface Parent {
  readonly id: string
  readonly kind: MonitorKind
  readonly state: MonitorState
  readonly stateSince: Date
  /** Since when a parent of its own is down; null: none is. */
  readonly blockedSince: Date | null
  readonly watches: readonly LastResult[]
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
  /** Since when a worse state waits; null: none does. */
  readonly heldSince: Date | null
  readonly watches: readonly LastResult[]
}

/**
 * What its parents mean for a monitor. FREE: nothing, its own results count. BLOCKED: one of them is down, so nothing is known of it.
 * HELD: its worse state waits until its parents have been probed, because one of them may have failed first.
 */
export type Dependency =
  | { readonly kind: 'FREE' }
  | { readonly kind: 'BLOCKED'; readonly since: Date }
  | { readonly kind: 'HELD'; readonly since: Date; readonly parentIds: readonly string[] }

/**
 * Judges what its parents mean for a monitor.
 * @param next the state that its own results give it; null: they do not change it.
 */
export function judgeDependency(
  parents: readonly Parent[],
  monitor: Dependent,
  next: { readonly state: MonitorState; readonly since: Date } | null,
  now: Date,
): Dependency {
  const worse = next !== null && severity[next.state] > severity[monitor.state] ? next : null
  const downSince = parents.flatMap((parent) => downSinceOf(parent) ?? [])
  if (downSince.length > 0) return { kind: 'BLOCKED', since: unknownFrom(monitor, [...downSince, worse?.since ?? now]) }
  if (worse === null) return { kind: 'FREE' }
  const since = monitor.heldSince ?? now
  if (now.getTime() - since.getTime() >= MAX_HOLD_MS) return { kind: 'FREE' }
  const parentIds = parents.filter((parent) => mayBeFailing(parent, since)).map(({ id }) => id)
  return parentIds.length === 0 ? { kind: 'FREE' } : { kind: 'HELD', since, parentIds }
}

/** Returns whether a parent, or one of its own parents, is down. */
export const isUnavailable = (parent: Pick<Parent, 'state' | 'stateSince' | 'blockedSince'>): boolean =>
  downSinceOf(parent) !== null

/** Returns since when a parent, or one of its own parents, is down; null: none is. */
function downSinceOf({
  state,
  stateSince,
  blockedSince,
}: Pick<Parent, 'state' | 'stateSince' | 'blockedSince'>): Date | null {
  if (state === 'PAUSED') return null
  return blockedSince ?? (state === 'DOWN' ? stateSince : null)
}

/** Returns since when nothing is known of a monitor: from when its first parent failed, but not before its own last good result. */
function unknownFrom({ stateSince, watches }: Dependent, failures: readonly Date[]): Date {
  const good = watches.flatMap((watch) => (isGood(watch) ? Number(watch.lastKnownAt) : []))
  return new Date(Math.max(Number(stateSince), ...good, Math.min(...failures.map(Number))))
}

/**
 * Returns whether a parent may have failed without having been found down yet: most of its regions have had no good result since a
 * time. A job's silence shows only at its next heartbeat, which nothing can hasten.
 */
function mayBeFailing({ kind, state, watches }: Parent, since: Date): boolean {
  if (kind === 'HEARTBEAT' || state === 'PAUSED') return false
  const reporting = watches.filter(({ lastKnownAt }) => lastKnownAt !== null)
  const good = reporting.filter((watch) => isGood(watch) && Number(watch.lastKnownAt) >= since.getTime())
  return reporting.length > 0 && 2 * good.length <= reporting.length
}

const isGood = ({ lastKnownAt, lastOutcome }: LastResult) =>
  lastKnownAt !== null && (lastOutcome === 'UP' || lastOutcome === 'DEGRADED')

const severity = { PENDING: 0, PAUSED: 0, UP: 0, DEGRADED: 1, DOWN: 2 } as const satisfies Record<MonitorState, number>
