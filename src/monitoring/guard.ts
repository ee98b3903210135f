import type { Context } from '../context.ts'
import type { NewEvent } from '../eventlog/event.ts'
import type { Monitor, Service } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { own } from '../status/guard.ts'
import type { SelectedCauses } from '../status/shown-status.ts'
import { causesOfStatus, shownBy } from '../status/shown-status.ts'

/** @throws NotFound when the organization has no such monitor. */
export function ownMonitor({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<Monitor> {
  return own('Monitor', id, (known) => db.monitor.findUnique({ where: { id: known, organizationId } }))
}

/** What the organization's log says of its monitor. */
export function monitorEvent(kind: EventKind, { id, name }: Pick<Monitor, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

/** What of a monitor bears on the status of a service. */
type Standing = Pick<Monitor, 'serviceId' | 'state' | 'unknownSince'>

/**
 * What the log says of services whose status a change of a monitor may have changed: those on which it bears, as DEGRADED
 * or DOWN, before or after; or of which nothing was or is known, for it is silent. Call it once that is written.
 * @param after null: it is deleted.
 */
export async function statusEvents(
  { db }: Pick<Context, 'db'>,
  before: Standing,
  after: Standing | null,
): Promise<NewEvent[]> {
  if (
    before.serviceId === after?.serviceId &&
    before.state === after.state &&
    before.unknownSince === after.unknownSince
  ) {
    return []
  }
  const servicesOf = (bears: (each: Standing) => boolean) =>
    [before, after].flatMap((each) => (each?.serviceId && bears(each) ? [each.serviceId] : []))
  const changed = servicesOf(({ state }) => bearing.has(state))
  const silent = servicesOf(({ unknownSince }) => unknownSince !== null)
  if (changed.length + silent.length === 0) return []
  const where = { id: { in: [...changed, ...silent] } }
  const select = { id: true, name: true, ...causesOfStatus } as const
  const services = await db.service.findMany({ where, select, orderBy: { position: 'asc' } })
  return services.map((service) =>
    changed.includes(service.id) ? serviceEvent('SERVICE_STATUS_CHANGED', service) : silenceEvent(service),
  )
}

/** What the log says of a service of which nothing is known any more, or something again. */
export function silenceEvent(service: Pick<Service, 'id' | 'name'> & SelectedCauses): NewEvent {
  const { unknownSince } = shownBy(service)
  if (unknownSince === null) return serviceEvent('SERVICE_KNOWN', service)
  return { ...serviceEvent('SERVICE_UNKNOWN', service), since: unknownSince }
}

function serviceEvent(kind: EventKind, { id, name }: Pick<Service, 'id' | 'name'>): NewEvent {
  return { kind, subjectId: id, subjectName: name }
}

const bearing: ReadonlySet<Monitor['state']> = new Set(['DEGRADED', 'DOWN'])
