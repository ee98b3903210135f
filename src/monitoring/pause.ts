import { requireScope } from '../account/access.ts'
import { tierLimits } from '../account/plan.ts'
import type { Context } from '../context.ts'
import { TierLimitReached } from '../errors.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
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
    const events = await pause(tx, monitor, 'OWNER', 'Paused by its owner.')
    return [await ownMonitor(tx, organizationId, id), ...events]
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
    const { tier } = await tx.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const limit = tierLimits[tier].monitors
    const running = await tx.db.monitor.count({ where: { organizationId, pausedBy: null } })
    if (running >= limit) {
      throw new TierLimitReached(`The tier ${tier} has ${limit} monitors, and as many are running.`, limit)
    }
    const events = await resume(tx, monitor)
    return [await ownMonitor(tx, organizationId, id), ...events]
  })
}

/** Pauses a monitor, in the transaction of a change. @param cause why, for its history. Gives what has happened. */
export async function pause(tx: Context, monitor: Monitor, by: PausedBy, cause: string): Promise<NewEvent[]> {
  await tx.db.monitor.update({ where: { id: monitor.id }, data: { pausedBy: by, version: { increment: 1 } } })
  const paused = monitorEvent('MONITOR_PAUSED', monitor)
  if (monitor.pausedBy !== null) return [paused]
  await closeWatches(tx, monitor)
  await enterState(tx, monitor, 'PAUSED', tx.now(), cause)
  const left = await leaveIncident(tx, monitor, 'PAUSED')
  return [paused, ...left, ...(await statusEvents(tx, monitor, { ...monitor, state: 'PAUSED' }))]
}

/** Has a paused monitor watched again, in the transaction of a change. Gives what has happened. */
export async function resume(tx: Context, monitor: Monitor): Promise<NewEvent[]> {
  await tx.db.monitor.update({ where: { id: monitor.id }, data: { pausedBy: null, version: { increment: 1 } } })
  await openWatches(tx, monitor, isAnywhere(monitor.kind), await firstDue(tx, monitor))
  await enterState(tx, monitor, 'PENDING', tx.now())
  return [monitorEvent('MONITOR_RESUMED', monitor)]
}
