import type { Context } from '../context.ts'
import { change } from '../eventlog/change.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { MonitorState, ProbeOutcome } from '../generated/prisma/enums.ts'
import { monitorEvent, statusEvents } from './guard.ts'
import { joinIncident, leaveIncident } from './incident.ts'
import { enterState } from './interval.ts'
import { judgeMonitor } from './judge.ts'
import type { Silence } from './silence.ts'
import { logSilence, settleSilence, silenceOf, silentServices, tellOfServices, whySilent } from './silence.ts'
import type { Steadiness } from './steadiness.ts'
import { instabilityInWords, readSteadiness } from './steadiness.ts'
import { allowanceMs, rhythmOf } from './vouching.ts'
import { isAnyoneWatching } from './watch.ts'

/**
 * Brings monitors of an organization in line with what their watches say: a monitor's state and that state's interval,
 * whether anything is known of it, its incident, and what the log tells of it, all in one transaction or not at all. It
 * looks at how things are and not at what has changed, so that whoever does it again, or at the same time, changes nothing;
 * what a crash prevented is done with the next result.
 */
export async function settle(ctx: Context, organizationId: string, ids: readonly string[]): Promise<void> {
  // Regions may differ for long: their monitor is settled then, and its organization need not be held up.
  const due = (await judged(ctx, ids)).filter((each) => !isSettled(each)).map(({ monitor }) => monitor.id)
  if (due.length === 0) return
  const settled = await change(ctx, organizationId, async (tx) => {
    const found = await judged(tx, due)
    const services = found.flatMap(({ monitor, silence }) => (silence === null ? [] : (monitor.serviceId ?? [])))
    const before = await silentServices(tx, services)
    const events: NewEvent[] = []
    for (const { monitor, silence } of found) if (silence) events.push(...(await settleSilence(tx, monitor, silence)))
    events.push(...(await tellOfServices(tx, services, before)))
    for (const { monitor, next, unstable } of found) {
      // Its silence is told by now.
      if (next) events.push(...(await settleOne(tx, { ...monitor, unknownSince: null }, next, unstable)))
    }
    return [found, ...events]
  })
  logSilence(ctx, organizationId, settled)
}

async function settleOne(
  tx: Context,
  monitor: Monitor,
  next: Verdict,
  unstable: Steadiness | undefined,
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const cause = await causeOf(tx, monitor, next, unstable)
  const after = { ...monitor, state: next.state, stateSince: next.since }
  if (next.state !== monitor.state) {
    await enterState(tx, monitor, next.state, next.since, cause)
    events.push(monitorEvent('MONITOR_STATE_CHANGED', monitor))
    if (monitor.state === 'DOWN') events.push(...(await leaveIncident(tx, monitor, 'RECOVERED', next.since)))
  }
  if (next.state === 'DOWN') events.push(...(await joinIncident(tx, after, { since: next.since, cause })))
  return [...events, ...(await statusEvents(tx, monitor, after))]
}

interface Verdict {
  readonly state: MonitorState
  readonly since: Date
}

interface Judged {
  readonly monitor: Monitor
  /** Null: its watches know too little, and it stays what it is. */
  readonly next: Verdict | null
  /** What has to be written of its silence. */
  readonly silence: Silence | null
  readonly why: string
  /** What came of the checks of a region from which it is unstable. */
  readonly unstable: Steadiness | undefined
}

/** Monitors that are not paused, and what their watches make of them. */
async function judged({ db, now }: Pick<Context, 'db' | 'now'>, ids: readonly string[]): Promise<Judged[]> {
  const found = await db.monitor.findMany({
    where: { id: { in: [...ids] }, pausedBy: null, organization: { deletedAt: null } },
    include: { watches: true, organization: { select: { tier: true } } },
    orderBy: { id: 'asc' },
  })
  const at = now()
  const watched = await isAnyoneWatching(db, at)
  return found.map(({ watches, organization, ...monitor }) => {
    const rhythm = rhythmOf(monitor, organization.tier)
    const next = judgeMonitor(watches, { ...monitor, allowanceMs: allowanceMs(rhythm) }, at)
    const silence = silenceOf(monitor, watches, rhythm, at, watched)
    const unstable = watches.map(({ steadiness }) => readSteadiness(steadiness)).find((each) => each.unstable)
    return { monitor, next, silence, why: silence ? whySilent(monitor, watches, rhythm, at) : '', unstable }
  })
}

/** Whether there is surely nothing to do; an incident that is missing is found in the transaction. */
function isSettled({ monitor, next, silence }: Judged): boolean {
  return silence === null && (next === null || (next.state === monitor.state && next.state !== 'DOWN'))
}

/** What the first check said that found a monitor so, or that it is unstable. */
async function causeOf(
  { db }: Context,
  { id: monitorId }: Monitor,
  { state, since }: Verdict,
  unstable: Steadiness | undefined,
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
