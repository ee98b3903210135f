import type { Context } from '../context.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { own } from '../status/guard.ts'

/** @throws NotFound when the organization has no such monitor. */
export function ownMonitor({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<Monitor> {
  return own('Monitor', id, (known) => db.monitor.findUnique({ where: { id: known, organizationId } }))
}

/** What the organization's log says of its monitor. */
export function monitorEvent(kind: EventKind, { id, name }: Pick<Monitor, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

/** What of a monitor bears on the status of a service. */
type Standing = Pick<Monitor, 'serviceId' | 'state'>

/**
 * What the log says of services whose status a change of a monitor may have changed: those on which it bears, as DEGRADED
 * or DOWN, before or after. @param after null: it is deleted.
 */
export async function statusEvents(
  { db }: Pick<Context, 'db'>,
  before: Standing,
  after: Standing | null,
): Promise<NewEvent[]> {
  if (before.serviceId === after?.serviceId && before.state === after.state) return []
  const ids = [before, after].flatMap((each) => (each?.serviceId && bearing.has(each.state) ? [each.serviceId] : []))
  if (ids.length === 0) return []
  const services = await db.service.findMany({ where: { id: { in: ids } }, orderBy: { position: 'asc' } })
  return services.map(({ id, name }) => ({ kind: 'SERVICE_STATUS_CHANGED', subjectId: id, subjectName: name }))
}

const bearing: ReadonlySet<Monitor['state']> = new Set(['DEGRADED', 'DOWN'])
