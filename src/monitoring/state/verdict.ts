import type { Context } from '../../core/context.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Monitor } from '../../generated/prisma/client.ts'
import type { ProbeOutcome } from '../../generated/prisma/enums.ts'
import { groupCause } from '../group/group-cause.ts'
import type { GroupParts } from '../group/group-store.ts'
import { groupOptionsOf } from '../group/group-store.ts'
import { monitorEvent, statusEvents } from '../monitor-events.ts'
import { enterState } from '../uptime/state-intervals.ts'
import type { Stability } from '../watch/stability.ts'
import { instabilityInWords } from '../watch/stability.ts'
import { joinIncident, leaveIncident } from './incident.ts'
import type { JudgedMonitor, Verdict } from './judge-evidence.ts'

/**
 * Writes the verdict on a monitor within the transaction of a change: its state, then its incident. Returns the new
 * events, of which those of its service come last.
 */
export async function writeVerdict(
  tx: Context,
  { monitor, next, unstable, group }: JudgedMonitor,
): Promise<NewEvent[]> {
  if (next === null) return []
  // The events of staleness were written before.
  const before = { ...monitor, unknownSince: null }
  const cause = group ? groupCauseOf(monitor, next, group) : await causeOf(tx, monitor, next, unstable)
  const events = [...(await writeState(tx, before, next, cause)), ...(await writeIncident(tx, before, next, cause))]
  return [...events, ...(await statusEvents(tx, before, { ...before, state: next.state }))]
}

/** Writes a new state. */
async function writeState(
  tx: Context,
  monitor: Monitor,
  { state, since }: Verdict,
  cause: string,
): Promise<NewEvent[]> {
  if (state === monitor.state) return []
  await enterState(tx, monitor, state, since, cause)
  return [{ ...monitorEvent('MONITOR_STATE_CHANGED', monitor), since }]
}

/** Lets a monitor leave its incident when it is no longer down, and join one while it is. */
async function writeIncident(
  tx: Context,
  monitor: Monitor,
  { state, since }: Verdict,
  cause: string,
): Promise<NewEvent[]> {
  if (state === 'DOWN') return joinIncident(tx, monitor, { since, cause })
  if (monitor.state !== 'DOWN') return []
  return leaveIncident(tx, monitor, state === 'PENDING' ? 'CHANGED' : 'RECOVERED', since)
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
