import type { Context } from '../core/context.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Monitor, Service } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { findOwned } from '../status/ownership.ts'
import type { SelectedCauses } from '../status/shown-status.ts'
import { shownServiceOf, statusCausesSelect } from '../status/shown-status.ts'

/** Reads a monitor of an organization. @throws NotFound when the organization has no such monitor. */
export function ownMonitor({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<Monitor> {
  return findOwned('Monitor', id, (known) => db.monitor.findUnique({ where: { id: known, organizationId } }))
}

/** Creates an event about a monitor. */
export function monitorEvent(kind: EventKind, { id, name }: Pick<Monitor, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

/** The fields of a monitor that affect the status of its service. */
type ServiceEffect = Pick<Monitor, 'serviceId' | 'state' | 'unknownSince'>

/**
 * Returns events for services whose status a changed monitor may affect: its service before and after while it is
 * DEGRADED or DOWN, or while nothing is known of it. Call it after the change is written.
 * @param after null when the monitor is deleted.
 */
export async function statusEvents(
  { db }: Pick<Context, 'db'>,
  before: ServiceEffect,
  after: ServiceEffect | null,
): Promise<NewEvent[]> {
  if (
    before.serviceId === after?.serviceId &&
    before.state === after.state &&
    before.unknownSince === after.unknownSince
  ) {
    return []
  }
  const servicesOf = (bears: (each: ServiceEffect) => boolean) =>
    [before, after].flatMap((each) => (each?.serviceId && bears(each) ? [each.serviceId] : []))
  const changed = servicesOf(({ state }) => affecting.has(state))
  const stale = servicesOf(({ unknownSince }) => unknownSince !== null)
  if (changed.length + stale.length === 0) return []
  const where = { id: { in: [...changed, ...stale] } }
  const select = { id: true, name: true, ...statusCausesSelect } as const
  const services = await db.service.findMany({ where, select, orderBy: { position: 'asc' } })
  return services.map((service) =>
    changed.includes(service.id) ? serviceEvent('SERVICE_STATUS_CHANGED', service) : stalenessEvent(service),
  )
}

/** Creates the event that a service has become stale, or is known again. */
export function stalenessEvent(service: Pick<Service, 'id' | 'name'> & SelectedCauses): NewEvent {
  const { unknownSince } = shownServiceOf(service)
  if (unknownSince === null) return serviceEvent('SERVICE_KNOWN', service)
  return { ...serviceEvent('SERVICE_UNKNOWN', service), since: unknownSince }
}

function serviceEvent(kind: EventKind, { id, name }: Pick<Service, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

const affecting: ReadonlySet<Monitor['state']> = new Set(['DEGRADED', 'DOWN'])
