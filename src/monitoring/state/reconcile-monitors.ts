import type { Context } from '../../core/context.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import { levelsAbove } from '../group/group-graph.ts'
import { readGroups } from '../group/group-store.ts'
import { probeNow, writeDependency } from './dependency-store.ts'
import type { JudgedMonitor } from './judge-evidence.ts'
import { changesState, isReconciled, memberAfter } from './judge-evidence.ts'
import { readEvidence } from './read-evidence.ts'
import { logStaleness, writeAllStaleness } from './staleness-change.ts'
import { writeVerdict } from './verdict.ts'

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
  const due = (await readEvidence(ctx, ids))
    .judge(ids)
    .filter((each) => !isReconciled(each))
    .map(({ monitor }) => monitor.id)
  if (due.length === 0) return false
  const reconciled = await change(ctx, organizationId, async (tx) => {
    const found = (await readEvidence(tx, due)).judge(due)
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
  const evidence = await readEvidence(tx, levels.flat())
  const events: NewEvent[] = []
  for (const level of levels) {
    const found = evidence.judge(level, earliest).filter((each) => !isReconciled(each))
    events.push(...(await writeAll(tx, found)))
    for (const each of found) evidence.changed.set(each.monitor.id, memberAfter(each))
  }
  return events
}

/** Writes the judged changes within the transaction of a change, concern by concern. Returns the new events. */
async function writeAll(tx: Context, found: readonly JudgedMonitor[]): Promise<NewEvent[]> {
  const events = await writeAllStaleness(tx, found)
  for (const { monitor, dependency } of found) if (dependency) await writeDependency(tx, monitor, dependency)
  for (const judged of found) events.push(...(await writeVerdict(tx, judged)))
  return events
}
