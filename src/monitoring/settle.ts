import type { Context } from '../context.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitorState, ProbeOutcome } from '../generated/prisma/enums.ts'
import { monitorEvent, statusEvents } from './guard.ts'
import { joinIncident, leaveIncident } from './incident.ts'
import { enterState } from './interval.ts'
import { judgeMonitor } from './judge.ts'
import { allowanceMs, rhythmOf } from './vouching.ts'

/**
 * Brings monitors of an organization in line with what their watches say: a monitor's state and that state's interval, its
 * incident, and what the log tells of it, all in one transaction or not at all. It looks at how things are and not at what
 * has changed, so that whoever does it again, or at the same time, changes nothing; what a crash prevented is done with the
 * next result.
 */
export async function settle(ctx: Context, organizationId: string, ids: readonly string[]): Promise<void> {
  // Regions may differ for long: their monitor is settled then, and its organization need not be held up.
  const due = (await judged(ctx, ids)).filter((each) => !isSettled(each)).map(({ monitor }) => monitor.id)
  if (due.length === 0) return
  await change(ctx, organizationId, async (tx) => {
    const events: NewEvent[] = []
    for (const found of await judged(tx, due)) events.push(...(await settleOne(tx, found)))
    return [undefined, ...events]
  })
}

async function settleOne(tx: Context, { monitor, next }: Judged): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const cause = await causeOf(tx, monitor, next)
  const after = { ...monitor, state: next.state, stateSince: next.since }
  if (next.state !== monitor.state) {
    await enterState(tx, monitor, next.state, next.since, cause)
    events.push(monitorEvent('MONITOR_STATE_CHANGED', monitor))
    if (monitor.state === 'DOWN') events.push(...(await leaveIncident(tx, monitor, 'RECOVERED', next.since)))
  }
  if (next.state === 'DOWN') events.push(...(await joinIncident(tx, after, { since: next.since, cause })))
  return [...events, ...(await statusEvents(tx, monitor, after))]
}

interface Judged {
  readonly monitor: Monitor
  readonly next: { readonly state: MonitorState; readonly since: Date }
}

/** Monitors, and what their watches make of them; those of which they know too little are left out, and paused ones. */
async function judged({ db, now }: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<Judged[]> {
  const found = await db.monitor.findMany({
    where: { id: { in: [...ids] }, pausedBy: null },
    include: { watches: true, organization: { select: { tier: true } } },
    orderBy: { id: 'asc' },
  })
  return found.flatMap(({ watches, organization, ...monitor }) => {
    const standing = { ...monitor, allowanceMs: allowanceMs(rhythmOf(monitor, organization.tier)) }
    const next = judgeMonitor(watches, standing, now())
    return next ? [{ monitor, next }] : []
  })
}

/** Whether there is surely nothing to do; an incident that is missing is found in the transaction. */
function isSettled({ monitor, next }: Judged): boolean {
  return next.state === monitor.state && next.state !== 'DOWN'
}

/** What the first check said that found a monitor so. */
async function causeOf({ db }: Context, { id: monitorId }: Monitor, { state, since }: Judged['next']): Promise<string> {
  if (state !== 'DOWN' && state !== 'DEGRADED') return ''
  const outcomes: ProbeOutcome[] = state === 'DOWN' ? ['DOWN'] : ['DEGRADED', 'DOWN']
  const first = await db.probeResult.findFirst({
    where: { monitorId, at: { gte: since }, outcome: { in: outcomes } },
    orderBy: { at: 'asc' },
    select: { message: true },
  })
  return first?.message ?? ''
}
