import type { Context } from '../core/context.ts'
import { change } from '../event-log/change.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Monitor, Watch } from '../generated/prisma/client.ts'
import type { MonitorState, ProbeOutcome } from '../generated/prisma/enums.ts'
import type { Dependency } from './dependency.ts'
import { judgeDependency } from './dependency.ts'
import { parentsSelect, probeNow, unblock } from './dependency-store.ts'
import { joinIncident, leaveIncident } from './incident.ts'
import { judgeMonitor } from './judge.ts'
import { monitorEvent, statusEvents } from './monitor-events.ts'
import type { Stability } from './stability.ts'
import { instabilityInWords, readStability } from './stability.ts'
import { enoughKnownAt, scheduleOf, staleAfterMs } from './staleness.ts'
import type { StalenessChange } from './staleness-change.ts'
import {
  logStaleness,
  serviceStalenessEvents,
  stalenessChangeOf,
  stalenessReason,
  staleServices,
  writeStaleness,
} from './staleness-change.ts'
import { enterState } from './state-intervals.ts'
import { hasLiveRegion } from './watch.ts'

/**
 * Reconciles monitors of an organization with their watches: state and state interval, staleness, incident and events,
 * in one transaction. It compares states instead of applying changes, so it can be repeated or run concurrently without
 * effect; what a crash prevented is done with the next result. Returns whether it made other monitors due, because one that depends
 * on them fails.
 */
export async function reconcileMonitors(
  ctx: Context,
  organizationId: string,
  ids: readonly string[],
): Promise<boolean> {
  // Regions may disagree for long: then there is nothing to do, and the organization need not be locked.
  const due = (await judgeMonitors(ctx, ids)).filter((each) => !isReconciled(each)).map(({ monitor }) => monitor.id)
  if (due.length === 0) return false
  const reconciled = await change(ctx, organizationId, async (tx) => {
    const found = await judgeMonitors(tx, due)
    const services = found.flatMap(({ monitor, staleness }) => (staleness === null ? [] : (monitor.serviceId ?? [])))
    const before = await staleServices(tx, services)
    const events: NewEvent[] = []
    for (const { monitor, staleness } of found)
      if (staleness) events.push(...(await writeStaleness(tx, monitor, staleness)))
    events.push(...(await serviceStalenessEvents(tx, services, before)))
    for (const { monitor, next, unstable, dependency } of found) {
      if (dependency) await writeDependency(tx, monitor, dependency)
      // The events about staleness are appended above.
      if (next) events.push(...(await applyVerdict(tx, { ...monitor, unknownSince: null }, next, unstable)))
    }
    return [found, ...events]
  })
  logStaleness(ctx, organizationId, reconciled)
  const parentIds = reconciled.flatMap(({ dependency }) => (dependency?.kind === 'HELD' ? dependency.parentIds : []))
  if (parentIds.length > 0) await probeNow(ctx, parentIds)
  return parentIds.length > 0
}

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
  unstable: Stability | undefined,
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const cause = await causeOf(tx, monitor, next, unstable)
  const after = { ...monitor, state: next.state, stateSince: next.since }
  if (next.state !== monitor.state) {
    await enterState(tx, monitor, next.state, next.since, cause)
    events.push({ ...monitorEvent('MONITOR_STATE_CHANGED', monitor), since: next.since })
    if (monitor.state === 'DOWN') events.push(...(await leaveIncident(tx, monitor, 'RECOVERED', next.since)))
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
  /** Null when too few watches know something: the state stays. */
  readonly next: Verdict | null
  /** The change of staleness to write; null: none. */
  readonly staleness: StalenessChange | null
  readonly reason: string
  /** What its parents mean for it now; null: the same as before. */
  readonly dependency: Dependency | null
  /** The counts of a region that finds it unstable. */
  readonly unstable: Stability | undefined
}

/** Reads monitors that are not paused, and judges them by their watches. */
async function judgeMonitors(
  { db, now }: Pick<Context, 'db' | 'now'>,
  ids: readonly string[],
): Promise<JudgedMonitor[]> {
  const found = await db.monitor.findMany({
    where: { id: { in: [...ids] }, pausedBy: null, organization: { deletedAt: null } },
    include: { watches: true, organization: { select: { tier: true } }, dependencies: parentsSelect },
    orderBy: { id: 'asc' },
  })
  const at = now()
  const watched = await hasLiveRegion(db, at)
  return found.map(({ watches, organization, dependencies, ...monitor }) => {
    const schedule = scheduleOf(monitor, organization.tier)
    const verdict = judgeMonitor(
      watches,
      { ...monitor, staleAfterMs: staleAfterMs(schedule, enoughKnownAt(watches, null) ?? at) },
      at,
    )
    const parents = dependencies.map(({ parent }) => parent)
    const dependency = judgeDependency(parents, { ...monitor, watches }, verdict, at)
    const isFree = dependency.kind === 'FREE' && monitor.blockedSince === null
    const next = isFree ? verdict : null
    const staleness = stalenessWith(dependency, monitor, () =>
      stalenessChangeOf(monitor, judged(monitor, watches), schedule, at, watched),
    )
    const unstable = watches.map(({ stability }) => readStability(stability)).find((each) => each.unstable)
    return {
      monitor,
      next,
      staleness,
      reason: staleness ? stalenessReason({ ...monitor, parents }, watches, schedule, at) : '',
      dependency: isChanged(monitor, dependency) ? dependency : null,
      unstable,
    }
  })
}

/** What is unknown is known again once its watches have judged, not at the first failure of a streak. */
const judged = <W extends Pick<Watch, 'state'>>({ unknownSince }: Monitor, watches: readonly W[]): readonly W[] =>
  unknownSince === null ? watches : watches.filter(({ state }) => state !== 'PENDING')

/** Returns the change of staleness: while a parent is down, and until it is probed after that, a monitor stays unknown. */
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

/** Returns whether nothing needs to be done; the transaction finds a missing incident. */
function isReconciled({ monitor, next, staleness, dependency }: JudgedMonitor): boolean {
  if (dependency !== null) return false
  return staleness === null && (next === null || (next.state === monitor.state && next.state !== 'DOWN'))
}

/** Returns why a monitor is in a state: the message of the first result that found it so, or that it is unstable. */
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
