import type { Context } from '../core/context.ts'
import type { KindFor } from '../event-log/audience.ts'
import { isFor } from '../event-log/audience.ts'
import type { Event, Monitor } from '../generated/prisma/client.ts'
import type { AlertChange, BurnSpeed, EventKind, MonitorKind, MonitorState } from '../generated/prisma/enums.ts'
import { unknownGroupReason } from '../monitoring/group/group-cause.ts'
import { readGroupMembers } from '../monitoring/group/group-store.ts'
import { isCertificateProblem } from '../monitoring/probe/certificate-expiry.ts'

/** The effect of an event on the alert of its monitor or objective: a failure, a recovery, or the end of monitoring. */
export type SubjectChange =
  | {
      readonly kind: 'FAILING'
      readonly change: AlertChange
      readonly state: MonitorState
      readonly since: Date
      readonly message: string
    }
  | { readonly kind: 'RECOVERED'; readonly change: AlertChange; readonly since: Date }
  | { readonly kind: 'CLOSED'; readonly state: MonitorState; readonly message: string }

/** The subject kind of each event that can change an alert. */
const subjects = {
  MONITOR_STATE_CHANGED: 'monitor',
  MONITOR_UNKNOWN: 'monitor',
  MONITOR_KNOWN: 'monitor',
  MONITOR_PAUSED: 'monitor',
  MONITOR_UPDATED: 'monitor',
  MONITOR_DELETED: 'monitor',
  OBJECTIVE_BURNING: 'objective',
  OBJECTIVE_RECOVERED: 'objective',
  OBJECTIVE_DELETED: 'objective',
  SERVICE_DELETED: 'service',
} as const satisfies Record<KindFor<'alerts'>, string>

/** Returns the subject kind of an event that can change an alert, or null for other events. */
export function alertSubjectOf(kind: EventKind): (typeof subjects)[KindFor<'alerts'>] | null {
  return isFor('alerts', kind) ? subjects[kind] : null
}

/** Returns how an event changes the alert of its monitor, or null if it does not. */
export async function monitorChangeOf(
  { db }: Pick<Context, 'db'>,
  event: Event,
  monitor: Monitor | null,
): Promise<SubjectChange | null> {
  if (monitor === null) return { kind: 'CLOSED', state: 'PAUSED', message: 'The monitor was deleted.' }
  if (event.kind === 'MONITOR_UNKNOWN') return unknown(db, monitor, event.since ?? event.at)
  const { state, since, cause } = await stateAt(db, event, monitor)
  if (state === 'PAUSED') return { kind: 'CLOSED', state, message: 'The monitor was paused.' }
  if (state === 'PENDING') {
    // An updated monitor starts over; a new one has no alert.
    return { kind: 'CLOSED', state, message: 'The monitor was changed, so its earlier results no longer apply.' }
  }
  if (event.kind === 'MONITOR_UPDATED' || event.kind === 'MONITOR_PAUSED') return null
  if (state === 'UP') return { kind: 'RECOVERED', change: monitor.kind === 'BLACKLIST' ? 'DELISTED' : 'UP', since }
  return { kind: 'FAILING', change: changeOf(monitor.kind, state, cause), state, since, message: cause }
}

/** Returns the alert change for a failing state. */
function changeOf(kind: MonitorKind, state: 'DOWN' | 'DEGRADED', cause: string): AlertChange {
  if (kind === 'BLACKLIST' && state === 'DOWN') return 'LISTED'
  if (kind !== 'HEARTBEAT' && kind !== 'GROUP' && isCertificateProblem(cause)) return 'CERTIFICATE'
  return state
}

/** Returns the state to which an event changed a monitor, or the current state if later events replaced it. */
async function stateAt(db: Context['db'], { kind, since }: Event, monitor: Monitor) {
  const found = await db.monitorInterval.findFirst({
    where: {
      monitorId: monitor.id,
      ...(kind === 'MONITOR_STATE_CHANGED' && since !== null && { startedAt: since }),
    },
    orderBy: { startedAt: 'desc' },
  })
  return found === null
    ? { state: monitor.state, since: monitor.stateSince, cause: '' }
    : { state: found.state, since: found.startedAt, cause: found.cause }
}

/** Distinguishes monitors without a worker from monitors whose probes give no result. */
async function unknown(db: Context['db'], monitor: Monitor, since: Date): Promise<SubjectChange> {
  const { id, state, kind } = monitor
  if (kind === 'GROUP') {
    const members = await readGroupMembers({ db }, [monitor])
    const message = unknownGroupReason(members.get(id) ?? [])
    return { kind: 'FAILING', change: 'UNKNOWN', state, since, message }
  }
  const failing = await db.watch.findFirst({
    where: { monitorId: id, unknownSince: { not: null } },
    orderBy: { unknownSince: 'asc' },
    select: { lastMessage: true },
  })
  return {
    kind: 'FAILING',
    change: failing === null ? 'WORKER_SILENT' : 'UNKNOWN',
    state,
    since,
    message: failing?.lastMessage ?? 'No worker probes it.',
  }
}

const speeds = {
  FAST: 'fast, as seen over an hour',
  SLOW: 'as seen over 6 hours',
  STEADY: 'as seen over 3 days',
} as const satisfies Record<BurnSpeed, string>

/** Returns how an event changes the alert of its objective, or null if a later event decides. */
export async function objectiveChangeOf(
  { db }: Pick<Context, 'db'>,
  { kind, subjectId, organizationId, at }: Event,
): Promise<SubjectChange | null> {
  const objective = await db.objective.findUnique({ where: { id: subjectId, organizationId } })
  if (objective === null) return { kind: 'CLOSED', state: 'PAUSED', message: 'The objective was deleted.' }
  if (kind === 'OBJECTIVE_RECOVERED') return { kind: 'RECOVERED', change: 'BUDGET_RECOVERED', since: at }
  const { burnSpeed, burningSince } = objective
  if (burnSpeed === null || burningSince === null) return null
  const message = `The error budget is used up too fast: ${speeds[burnSpeed]}.`
  return { kind: 'FAILING', change: 'BUDGET_BURNING', state: 'DEGRADED', since: burningSince, message }
}
