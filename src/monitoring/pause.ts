import { requireScope } from '../account/access.ts'
import { tierLimits } from '../account/plan.ts'
import { tierOf } from '../account/tier.ts'
import type { Context } from '../context.ts'
import { TierLimitReached } from '../errors.ts'
import type { Changed } from '../eventlog/change.ts'
import { change } from '../eventlog/change.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { PausedBy } from '../generated/prisma/enums.ts'
import { monitorEvent, ownMonitor, statusEvents } from './guard.ts'
import { firstDue } from './heartbeat.ts'
import { leaveIncident } from './incident.ts'
import { enterState } from './interval.ts'
import { isAnywhere } from './probes.ts'
import { closeWatches, openWatches } from './watch.ts'

/**
 * Pauses a monitor: it is watched no longer, and the time counts for no uptime. One that the limit of a tier had paused is
 * from then on paused by its owner. Needs a key with scope WRITE.
 * @throws NotFound when the organization has no such monitor.
 */
export async function pauseMonitor(ctx: Context, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    if (monitor.pausedBy === 'OWNER') return [monitor]
    return pause(tx, monitor, 'OWNER', 'Paused by its owner.')
  })
}

/**
 * Has a paused monitor watched again, whoever paused it; what it was before is forgotten. Needs a key with scope WRITE.
 * @throws NotFound, and TierLimitReached when as many run already as the tier allows.
 */
export async function resumeMonitor(ctx: Context, id: string): Promise<Monitor> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const monitor = await ownMonitor(tx, organizationId, id)
    if (monitor.pausedBy === null) return [monitor]
    const tier = await tierOf(tx, organizationId)
    const limit = tierLimits[tier].monitors
    const running = await tx.db.monitor.count({ where: { organizationId, pausedBy: null } })
    if (running >= limit) {
      throw new TierLimitReached(`The tier ${tier} has ${limit} monitors, and as many are running.`, limit)
    }
    return resume(tx, monitor)
  })
}

/** Pauses a monitor, in the transaction of a change. @param cause why, for its history. Gives what has happened. */
export async function pause(tx: Context, monitor: Monitor, by: PausedBy, cause: string): Promise<Changed<Monitor>> {
  const data = { pausedBy: by, version: { increment: 1 } }
  const event = monitorEvent('MONITOR_PAUSED', monitor)
  if (monitor.pausedBy !== null) return [await tx.db.monitor.update({ where: { id: monitor.id }, data }), event]
  await closeWatches(tx, monitor)
  const paused = await enterState(tx, monitor, 'PAUSED', tx.now(), cause, data)
  const left = await leaveIncident(tx, monitor, 'PAUSED')
  return [paused, event, ...left, ...(await statusEvents(tx, monitor, paused))]
}

/** Has a paused monitor watched again, in the transaction of a change. Gives what has happened. */
export async function resume(tx: Context, monitor: Monitor): Promise<Changed<Monitor>> {
  await openWatches(tx, monitor, isAnywhere(monitor.kind), await firstDue(tx, monitor))
  const data = { pausedBy: null, version: { increment: 1 } }
  return [await enterState(tx, monitor, 'PENDING', tx.now(), '', data), monitorEvent('MONITOR_RESUMED', monitor)]
}
