import { tierLimits } from '../../account/limits.ts'
import { tierOf } from '../../account/tier.ts'
import { requireScope } from '../../core/access.ts'
import { TierLimitReached } from '../../core/errors.ts'
import type { ChangeContext, ChangeResult } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { PausedBy } from '../../generated/prisma/enums.ts'
import { firstDue } from '../heartbeat/heartbeat.ts'
import { monitorEvent, ownMonitor, statusEvents } from '../monitor-events.ts'
import { leaveIncident } from '../state/incident.ts'
import { reconcileGroups } from '../state/reconcile-monitors.ts'
import { enterState } from '../uptime/state-intervals.ts'
import { deleteWatches, resetWatches } from './watches.ts'

/**
 * Pauses a monitor. The paused time does not count towards uptime. If the tier's limit paused the monitor before, it
 * counts as paused by its owner from now on. Requires a key with scope WRITE.
 * @throws NotFound when the organization has no such monitor.
 */
export async function pauseMonitor(ctx: ChangeContext, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    if (monitor.pausedBy === 'OWNER') return [monitor]
    return pause(tx, monitor, 'OWNER', 'Paused by its owner.')
  })
}

/**
 * Resumes a monitor that its owner or a tier paused. It becomes PENDING; a group gets the state that results from its
 * members. Requires a key with scope WRITE.
 * @throws NotFound, and TierLimitReached if the tier allows no more running monitors.
 */
export async function resumeMonitor(ctx: ChangeContext, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    if (monitor.pausedBy === null) return [monitor]
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].monitors
    const running = await tx.db.monitor.count({ where: { organizationId, pausedBy: null } })
    if (running >= limit) {
      throw new TierLimitReached(`The ${tier} tier allows ${limit} running monitors, and all are in use.`, limit)
    }
    return resume(tx, monitor)
  })
}

/**
 * Pauses a monitor, in the transaction of a change. Returns the monitor and the new events.
 * @param cause the reason, for the monitor's history.
 */
export async function pause(
  tx: ChangeContext,
  monitor: Monitor,
  by: PausedBy,
  cause: string,
): Promise<ChangeResult<Monitor>> {
  const data = { pausedBy: by, version: { increment: 1 } }
  const event = monitorEvent('MONITOR_PAUSED', monitor)
  if (monitor.pausedBy !== null) return [await tx.db.monitor.update({ where: { id: monitor.id }, data }), event]
  await deleteWatches(tx, monitor)
  const paused = await enterState(tx, monitor, 'PAUSED', tx.now(), cause, data)
  const left = await leaveIncident(tx, monitor, 'PAUSED')
  const events = [event, ...left, ...(await statusEvents(tx, monitor, paused))]
  return [paused, ...events, ...(await reconcileGroups(tx, monitor.organizationId, [monitor.id]))]
}

/** Resumes a paused monitor, in the transaction of a change. Returns the monitor and the new events. */
export async function resume(tx: ChangeContext, monitor: Monitor): Promise<ChangeResult<Monitor>> {
  await resetWatches(tx, monitor, await firstDue(tx, monitor))
  const data = { pausedBy: null, version: { increment: 1 } }
  await enterState(tx, monitor, 'PENDING', tx.now(), '', data)
  const followed = await reconcileGroups(tx, monitor.organizationId, [monitor.id])
  const resumed = await tx.db.monitor.findUniqueOrThrow({ where: { id: monitor.id } })
  return [resumed, monitorEvent('MONITOR_RESUMED', monitor), ...followed]
}
