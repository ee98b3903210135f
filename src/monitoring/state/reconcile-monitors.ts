import { ofLiveOrganization, withTier } from '../../account/views.ts'
import type { Context } from '../../core/context.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Monitor, Watch } from '../../generated/prisma/client.ts'
import type { MonitorState, ProbeOutcome } from '../../generated/prisma/enums.ts'
import { groupCause } from '../group/group-cause.ts'
import { levelsAbove } from '../group/group-graph.ts'
import type { GroupParts } from '../group/group-store.ts'
import { groupOptionsOf, readGroupParts, readGroups } from '../group/group-store.ts'
import type { GroupMember } from '../group/judge-group.ts'
import { judgeGroup } from '../group/judge-group.ts'
import { monitorEvent, statusEvents } from '../monitor-events.ts'
import { enterState } from '../uptime/state-intervals.ts'
import { judgeMonitor } from '../watch/judge.ts'
import { hasLiveRegion } from '../watch/live-region.ts'
import type { Stability } from '../watch/stability.ts'
import { instabilityInWords, readStability } from '../watch/stability.ts'
import type { Schedule } from '../watch/staleness.ts'
import { enoughKnownAt, scheduleOf, staleAfterMs } from '../watch/staleness.ts'
import type { Dependency, Parent } from './dependency.ts'
import { judgeDependency } from './dependency.ts'
import { parentsSelect, probeNow, readParents, unblock } from './dependency-store.ts'
import { joinIncident, leaveIncident } from './incident.ts'
import type { StalenessChange } from './staleness-change.ts'
import {
  logStaleness,
  serviceStalenessEvents,
  stalenessChangeOf,
  stalenessReason,
  staleServices,
  writeStaleness,
} from './staleness-change.ts'

/**
 * Reconciles monitors of an organization with their watches, and the groups that contain them, in one transaction:
 * state, state interval, staleness, incident and events. Compares states instead of applying changes, so it is
 * idempotent and safe to run concurrently; after a crash, the next result completes the work. Returns whether it made
 * parents due, because a monitor that depends on them fails.
 */
export async function reconcileMonitors(
  ctx: ChangeContext,
  organizationId: string,
  ids: readonly string[],
): Promise<boolean> {
  // Judges without a lock first, because regions may disagree for a long time without any change to write.
  const due = (await judgeMonitors(ctx, ids)).filter((each) => !isReconciled(each)).map(({ monitor }) => monitor.id)
  if (due.length === 0) return false
  const reconciled = await change(ctx, organizationId, async (tx) => {
    const found = await judgeMonitors(tx, due)
    const events = await writeAll(tx, found)
    const changed = found.filter(changesState).map(({ monitor }) => monitor.id)
    return [found, ...events, ...(await reconcileGroups(tx, organizationId, changed))]
  })
  logStaleness(ctx, organizationId, reconciled)
  const parentIds = reconciled.flatMap(({ dependency }) => (dependency?.kind === 'HELD' ? dependency.parentIds : []))
  if (parentIds.length > 0) await probeNow(ctx, parentIds)
  return parentIds.length > 0
}

/**
 * Reconciles changed groups, and the groups that contain changed monitors, directly or through other groups. Runs in
 * the transaction of the change, so that a group never lags behind its members. Returns the new events.
 * @param earliest when the member lists of the groups changed; absent: they did not. New states start no earlier.
 */
export async function reconcileGroups(
  tx: Context,
  organizationId: string,
  changedIds: readonly string[],
  earliest?: Date,
): Promise<NewEvent[]> {
  if (changedIds.length === 0) return []
  const levels = levelsAbove(await readGroups(tx, organizationId), changedIds)
  if (levels.length === 0) return []
  const judging = await readJudging(tx, levels.flat())
  const events: NewEvent[] = []
  for (const level of levels) {
    const found = judging.judge(level, earliest).filter((each) => !isReconciled(each))
    events.push(...(await writeAll(tx, found)))
    for (const each of found) judging.changed.set(each.monitor.id, memberAfter(each))
  }
  return events
}

/** Returns the changed fields of a monitor for the groups that contain it. */
function memberAfter({ monitor, next, staleness }: JudgedMonitor): Partial<GroupMember> {
  const ended = staleness?.kind === 'ENDED' ? { unknownSince: null, knownSince: staleness.at } : {}
  return {
    ...(next && { state: next.state, stateSince: next.since }),
    ...(staleness?.kind === 'BEGAN' ? { unknownSince: staleness.since } : ended),
    ...(next?.state === 'PENDING' && monitor.state !== 'PENDING' && { unknownSince: null }),
  }
}

/** Writes the judged changes within the transaction of a change. Returns the new events. */
async function writeAll(tx: Context, found: readonly JudgedMonitor[]): Promise<NewEvent[]> {
  const services = found.flatMap(({ monitor, staleness }) => (staleness === null ? [] : (monitor.serviceId ?? [])))
  const before = await staleServices(tx, services)
  const events: NewEvent[] = []
  for (const { monitor, staleness } of found)
    if (staleness) events.push(...(await writeStaleness(tx, monitor, staleness)))
  events.push(...(await serviceStalenessEvents(tx, services, before)))
  for (const judged of found) {
    const { monitor, next, dependency } = judged
    if (dependency) await writeDependency(tx, monitor, dependency)
    // The staleness events were added above.
    if (next) events.push(...(await applyVerdict(tx, { ...monitor, unknownSince: null }, next, judged)))
  }
  return events
}

/** Returns whether a change affects the groups that contain the monitor. */
const changesState = ({ monitor, next, staleness }: JudgedMonitor) =>
  staleness !== null || (next !== null && next.state !== monitor.state)

async function writeDependency(tx: Context, monitor: Monitor, dependency: Dependency): Promise<void> {
  if (dependency.kind === 'FREE' && monitor.blockedSince !== null) return unblock(tx, monitor)
  const since = dependency.kind === 'FREE' ? null : dependency.since
  const isBlocked = dependency.kind === 'BLOCKED'
  const data = { blockedSince: isBlocked ? since : null, heldSince: isBlocked ? null : since }
  await tx.db.monitor.update({ where: { id: monitor.id }, data })
}

async function applyVerdict(
  tx: Context,
  monitor: Monitor,
  next: Verdict,
  { unstable, group }: Pick<JudgedMonitor, 'unstable' | 'group'>,
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const cause = group ? groupCauseOf(monitor, next, group) : await causeOf(tx, monitor, next, unstable)
  const after = { ...monitor, state: next.state, stateSince: next.since }
  if (next.state !== monitor.state) {
    await enterState(tx, monitor, next.state, next.since, cause)
    events.push({ ...monitorEvent('MONITOR_STATE_CHANGED', monitor), since: next.since })
    const reason = next.state === 'PENDING' ? 'CHANGED' : 'RECOVERED'
    if (monitor.state === 'DOWN') events.push(...(await leaveIncident(tx, monitor, reason, next.since)))
  }
  if (next.state === 'DOWN') events.push(...(await joinIncident(tx, after, { since: next.since, cause })))
  return [...events, ...(await statusEvents(tx, monitor, after))]
}

interface Verdict {
  readonly state: MonitorState
  readonly since: Date
}

interface JudgedMonitor {
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

/**
 * Reads the active monitors among the ids, and judges them by their watches, or by their members if they are groups.
 */
async function judgeMonitors(ctx: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<JudgedMonitor[]> {
  return (await readJudging(ctx, ids)).judge(ids)
}

/** Monitors that were read from the database and can be judged. */
interface Judging {
  /** The fields of group members that have changed since they were read, by id. */
  readonly changed: Map<string, Partial<GroupMember>>
  /** Judges some of the monitors. @param earliest see `reconcileGroups`. */
  judge(ids: readonly string[], earliest?: Date): JudgedMonitor[]
}

async function readJudging({ db, now }: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<Judging> {
  const found = await db.monitor.findMany({
    where: { id: { in: [...ids] }, pausedBy: null, ...ofLiveOrganization },
    include: { watches: true, ...withTier, dependencies: parentsSelect },
    orderBy: { id: 'asc' },
  })
  const at = now()
  const hasWorker = await hasLiveRegion(db, at)
  const groups = await readGroupParts(
    { db },
    found.filter(({ kind }) => kind === 'GROUP'),
  )
  const parentsOf = await readParents(
    { db },
    found.map((monitor) => ({ ...monitor, parents: monitor.dependencies.map(({ parent }) => parent) })),
  )
  const changed: Judging['changed'] = new Map()
  const partsOf = (id: string): GroupParts | null => {
    const parts = groups.get(id)
    return parts ? { ...parts, members: parts.members.map((each) => ({ ...each, ...changed.get(each.id) })) } : null
  }
  const judgeOne = (
    { watches, organization, dependencies: _, ...monitor }: (typeof found)[number],
    earliest?: Date,
  ): JudgedMonitor => {
    const schedule = scheduleOf(monitor, organization.tier)
    const parents = parentsOf.get(monitor.id) ?? []
    const group = partsOf(monitor.id)
    const own = group
      ? judgedByMembers(monitor, group, at, earliest)
      : judgedByWatches(monitor, watches, schedule, at, hasWorker)
    const { dependency, next, staleness } = withParents(monitor, watches, parents, own, at)
    const unstable = watches.map(({ stability }) => readStability(stability)).find((each) => each.unstable)
    const members = group?.members ?? null
    const reason = staleness ? stalenessReason({ ...monitor, parents, members }, watches, schedule, at) : ''
    return { monitor, next, staleness, reason, dependency, unstable, group }
  }
  return {
    changed,
    judge(some, earliest) {
      const wanted = new Set(some)
      return found.filter(({ id }) => wanted.has(id)).map((each) => judgeOne(each, earliest))
    },
  }
}

/** Judges a monitor by its watches. */
function judgedByWatches(
  monitor: Monitor,
  watches: readonly Watch[],
  schedule: Schedule,
  at: Date,
  hasWorker: boolean,
): Own {
  const staleMs = staleAfterMs(schedule, enoughKnownAt(watches, null) ?? at)
  return {
    next: judgeMonitor(watches, { ...monitor, staleAfterMs: staleMs }, at),
    staleness: () => stalenessChangeOf(monitor, judged(monitor, watches), schedule, at, hasWorker),
    group: null,
  }
}

/** The verdict on a monitor from its own watches or members, regardless of its parents. */
interface Own {
  readonly next: Verdict | null
  readonly staleness: () => StalenessChange | null
  readonly group: GroupParts | null
}

/** Judges a group by its members. */
function judgedByMembers(monitor: Monitor, group: GroupParts, at: Date, changedAt = new Date(0)): Own {
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
      return { next: verdict, staleness: () => ended(verdict.knownSince), group }
    case 'UNKNOWN': {
      const began = { kind: 'BEGAN', since: verdict.since } as const
      return { next: null, staleness: () => (unknownSince === null ? began : null), group }
    }
    case 'PENDING':
      return { next: null, staleness: () => null, group }
    case 'EMPTY': {
      const next = monitor.state === 'PENDING' ? null : { state: 'PENDING' as const, since: verdict.since }
      return { next, staleness: () => ended(verdict.since), group }
    }
  }
}

/**
 * Applies the effect of parents. A group needs no new probes after its parents recover, because its members determine
 * its state.
 */
function withParents(
  monitor: Monitor,
  watches: readonly Watch[],
  parents: readonly Parent[],
  { next, staleness, group }: Own,
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
function isReconciled({ monitor, next, staleness, dependency }: JudgedMonitor): boolean {
  if (dependency !== null) return false
  return staleness === null && (next === null || (next.state === monitor.state && next.state !== 'DOWN'))
}

function groupCauseOf(monitor: Monitor, { state }: Verdict, { members }: GroupParts): string {
  return state === 'DOWN' || state === 'DEGRADED' ? groupCause(members, groupOptionsOf(monitor), state) : ''
}

/** Returns the cause of a state: the message of the first result with it, or that the monitor is unstable. */
async function causeOf(
  { db }: Context,
  { id: monitorId }: Monitor,
  { state, since }: Verdict,
  unstable: Stability | undefined,
): Promise<string> {
  if (state !== 'DOWN' && state !== 'DEGRADED') return ''
  if (state === 'DEGRADED' && unstable) return `${instabilityInWords(unstable)}.`
  const outcomes: ProbeOutcome[] = state === 'DOWN' ? ['DOWN'] : ['DEGRADED', 'DOWN']
  const first = await db.probeResult.findFirst({
    where: { monitorId, at: { gte: since }, outcome: { in: outcomes } },
    orderBy: { at: 'asc' },
    select: { message: true },
  })
  return first?.message ?? ''
}
