import type { Context } from '../core/context.ts'
import type { NewEvent } from '../event-log/event.ts'
import type { Monitor, Service } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { findOwned } from '../status/ownership.ts'
import type { SelectedCauses } from '../status/service/shown-status.ts'
import { isKnown, knowsNothing, statusCausesSelect, unknownSinceOf } from '../status/service/shown-status.ts'

/** Reads a monitor of an organization. @throws NotFound. */
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
 * Returns events for the services whose status a changed monitor may affect: its old and new service, if the monitor is
 * DEGRADED, DOWN or stale, or is the service's only monitor with a state. Call it after the change is written.
 * @param before the monitor before the change; null: it is new.
 * @param after the monitor after the change; null: it is deleted.
 */
export async function statusEvents(
  { db }: Pick<Context, 'db'>,
  before: ServiceEffect | null,
  after: ServiceEffect | null,
): Promise<NewEvent[]> {
  const isMoved = before?.serviceId !== after?.serviceId
  if (!isMoved && before?.state === after?.state && before?.unknownSince === after?.unknownSince) return []
  const servicesOf = (matches: (each: ServiceEffect) => boolean) =>
    [before, after].flatMap((each) => (each?.serviceId && matches(each) ? [each.serviceId] : []))
  const changed = servicesOf(({ state }) => affecting.has(state))
  const stale = servicesOf(({ unknownSince }) => unknownSince !== null)
  const knows = (each: ServiceEffect | null) => each !== null && isKnown(each)
  const learned = isMoved || knows(before) !== knows(after) ? servicesOf(() => true) : []
  if (changed.length + stale.length + learned.length === 0) return []
  const where = { id: { in: [...changed, ...stale, ...learned] } }
  const select = { id: true, name: true, ...statusCausesSelect } as const
  const services = await db.service.findMany({ where, select, orderBy: { position: 'asc' } })
  return services.flatMap((service) => {
    if (changed.includes(service.id)) return [serviceEvent('SERVICE_STATUS_CHANGED', service)]
    const own = after?.serviceId === service.id && isKnown(after) ? 1 : 0
    const others = service.monitors.filter(isKnown).length - own
    return stale.includes(service.id) || others === 0 ? [stalenessEvent(service)] : []
  })
}

/** Returns events for services that only have new monitors, so that their state is unknown. */
export async function newMonitorEvents(
  { db }: Pick<Context, 'db'>,
  monitors: readonly Pick<Monitor, 'serviceId'>[],
): Promise<NewEvent[]> {
  const ids = [...new Set(monitors.flatMap(({ serviceId }) => serviceId ?? []))]
  if (ids.length === 0) return []
  const select = { id: true, name: true, ...statusCausesSelect } as const
  const services = await db.service.findMany({ where: { id: { in: ids } }, select, orderBy: { position: 'asc' } })
  return services.filter((each) => !each.monitors.some(isKnown)).map(stalenessEvent)
}

/** Creates the event for a service whose state became unknown or known again. */
export function stalenessEvent(service: Pick<Service, 'id' | 'name'> & SelectedCauses): NewEvent {
  const since = unknownSinceOf(service.monitors)
  if (!knowsNothing(service)) return serviceEvent('SERVICE_KNOWN', service)
  return { ...serviceEvent('SERVICE_UNKNOWN', service), ...(since && { since }) }
}

function serviceEvent(kind: EventKind, { id, name }: Pick<Service, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

const affecting: ReadonlySet<Monitor['state']> = new Set(['DEGRADED', 'DOWN'])
