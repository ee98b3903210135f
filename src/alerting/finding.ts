import type { Context } from '../core/context.ts'
import type { Event, Monitor } from '../generated/prisma/client.ts'
import type { AlertChange, EventKind, MonitorKind, MonitorState } from '../generated/prisma/enums.ts'
import { isCertificateProblem } from '../monitoring/probe/certificate-expiry.ts'

/** What an event says of a monitor: what is wrong with it, that it is up, or that it is not watched any more. */
export type Finding =
  | {
      readonly kind: 'WRONG'
      readonly change: AlertChange
      readonly state: MonitorState
      readonly since: Date
      readonly message: string
    }
  | { readonly kind: 'UP'; readonly change: AlertChange; readonly since: Date }
  | { readonly kind: 'CLOSED'; readonly state: MonitorState; readonly message: string }

/** The kinds of events that can be about an alert. */
export const alertingKinds: ReadonlySet<EventKind> = new Set<EventKind>([
  'MONITOR_STATE_CHANGED',
  'MONITOR_UNKNOWN',
  'MONITOR_KNOWN',
  'MONITOR_PAUSED',
  'MONITOR_UPDATED',
  'MONITOR_DELETED',
])

/** Returns what an event says of its monitor; null: nothing that an alert tells. */
export async function findingOf(
  { db }: Pick<Context, 'db'>,
  event: Event,
  monitor: Monitor | null,
): Promise<Finding | null> {
  if (monitor === null) return { kind: 'CLOSED', state: 'PAUSED', message: 'The monitor was deleted.' }
  if (event.kind === 'MONITOR_UNKNOWN') return unknown(db, monitor, event.since ?? event.at)
  const { state, since, cause } = await stateAt(db, event, monitor)
  if (state === 'PAUSED') return { kind: 'CLOSED', state, message: 'The monitor was paused.' }
  if (state === 'PENDING') {
    // A monitor that was changed begins anew; the one that is new had no alert.
    return { kind: 'CLOSED', state, message: 'The monitor was changed, so its earlier results no longer apply.' }
  }
  if (event.kind === 'MONITOR_UPDATED' || event.kind === 'MONITOR_PAUSED') return null
  if (state === 'UP') return { kind: 'UP', change: monitor.kind === 'BLACKLIST' ? 'DELISTED' : 'UP', since }
  return { kind: 'WRONG', change: changeOf(monitor.kind, state, cause), state, since, message: cause }
}

/** Returns the change that a failing state is. */
function changeOf(kind: MonitorKind, state: 'DOWN' | 'DEGRADED', cause: string): AlertChange {
  if (kind === 'BLACKLIST' && state === 'DOWN') return 'LISTED'
  if ((kind === 'HTTP' || kind === 'TCP') && isCertificateProblem(cause)) return 'CERTIFICATE'
  return state
}

/** Returns the state into which an event brought a monitor; the current one where later events have replaced it. */
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

/** Tells a worker that is silent from probes that find nothing out. */
async function unknown(db: Context['db'], { id, state }: Monitor, since: Date): Promise<Finding> {
  const failing = await db.watch.findFirst({
    where: { monitorId: id, unknownSince: { not: null } },
    orderBy: { unknownSince: 'asc' },
    select: { lastMessage: true },
  })
  return {
    kind: 'WRONG',
    change: failing === null ? 'WORKER_SILENT' : 'UNKNOWN',
    state,
    since,
    message: failing?.lastMessage ?? 'No worker probes it.',
  }
}
