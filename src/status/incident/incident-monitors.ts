import type { Context } from '../../core/context.ts'
import type { Incident } from '../../generated/prisma/client.ts'

type Db = Pick<Context, 'db'>

/** Adds a monitor that is down to an incident, or again after it has left. */
export async function addMonitor(
  { db, now }: Pick<Context, 'db' | 'now'>,
  incidentId: string,
  monitorId: string,
): Promise<void> {
  await db.incidentMonitor.upsert({
    where: { incidentId_monitorId: { incidentId, monitorId } },
    create: { incidentId, monitorId, joinedAt: now() },
    update: { joinedAt: now(), leftAt: null },
  })
}

/** Records that a monitor has left an incident. */
export async function removeMonitor(
  { db, now }: Pick<Context, 'db' | 'now'>,
  incidentId: string,
  monitorId: string,
): Promise<void> {
  await db.incidentMonitor.update({
    where: { incidentId_monitorId: { incidentId, monitorId } },
    data: { leftAt: now() },
  })
}

/** An incident with the monitors that are in it. */
export interface JoinedIncident {
  readonly incident: Incident
  readonly monitorIds: readonly string[]
}

/** Returns the incidents that a monitor is in, in the order in which it joined them. */
export async function incidentsOfMonitor({ db }: Db, monitorId: string): Promise<JoinedIncident[]> {
  const joined = await db.incidentMonitor.findMany({
    where: { monitorId, leftAt: null },
    include: { incident: { include: { monitors: { where: { leftAt: null } } } } },
    orderBy: { joinedAt: 'asc' },
  })
  return joined.map(({ incident: { monitors, ...incident } }) => ({
    incident,
    monitorIds: monitors.map((each) => each.monitorId),
  }))
}

/** Returns whether a monitor is in an incident. */
export async function isInIncident({ db }: Db, monitorId: string): Promise<boolean> {
  return (await db.incidentMonitor.count({ where: { monitorId, leftAt: null } })) > 0
}

/** Returns the incident that a monitor joined last, if it still affects a service; null: none. */
export async function lastIncidentOfMonitor(
  { db }: Db,
  monitorId: string,
  serviceId: string,
): Promise<Incident | null> {
  const last = await db.incidentMonitor.findFirst({
    where: { monitorId },
    orderBy: { joinedAt: 'desc' },
    include: { incident: { include: { services: { where: { serviceId } } } } },
  })
  if (last === null) return null
  const { services, ...incident } = last.incident
  return services.length > 0 ? incident : null
}

/** Finds the unresolved incident of a service that a monitor joins: an automatic one if possible, and of those the newest. */
export function openIncidentOf({ db }: Db, serviceId: string): Promise<Incident | null> {
  return db.incident.findFirst({
    where: { status: { not: 'RESOLVED' }, visibility: 'PUBLIC', services: { some: { serviceId } } },
    orderBy: [{ automatic: 'desc' }, { startedAt: 'desc' }, { id: 'asc' }],
  })
}
