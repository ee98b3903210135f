import type { Database } from '../../core/context.ts'
import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { PageState } from '../../status/page/page-state.ts'
import type { IncidentWithTimeline, MaintenanceWithTimeline } from '../../status/timeline/timeline-reader.ts'
import { incidentUpdateServices, incidentUpdates, services } from '../../status/views.ts'
import { readLastChanges } from '../last-changes.ts'
import type { Zone } from '../time-format.ts'
import { zoneOf } from '../time-format.ts'
import type { PostmortemFields } from './postmortem.ts'
import { readPostmortems } from './postmortem.ts'

/** The input of Statuspage's documents. */
export interface StatuspageSource {
  readonly state: PageState
  /** The incidents and maintenances of the document. */
  readonly incidents: readonly IncidentWithTimeline[]
  readonly maintenances: readonly MaintenanceWithTimeline[]
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  readonly zone: Zone
  /** When each service, group, incident and maintenance last changed, by id. */
  readonly changes: ReadonlyMap<string, Date>
  /** The statuses that incident updates set for services. */
  readonly impacts: ServiceImpacts
  /** The published post-mortems, by incident id. */
  readonly postmortems: ReadonlyMap<string, PostmortemFields>
  /** The ids of monitored services. */
  readonly monitoredServices: ReadonlySet<string>
}

/** Reads what the documents need beyond the page's state and the given incidents and maintenances. */
export async function readStatuspageSource(
  db: Database,
  given: Pick<StatuspageSource, 'state' | 'incidents' | 'maintenances' | 'url'>,
): Promise<StatuspageSource> {
  const { organization, services, groups } = given.state
  const organizationId = organization.id
  const subjects = [...services, ...groups, ...given.incidents, ...given.maintenances]
  return {
    ...given,
    zone: zoneOf(organization.timeZone),
    changes: await readLastChanges(
      db,
      organizationId,
      subjects.map(({ id }) => id),
    ),
    impacts: await readImpacts(db, given.incidents),
    postmortems: await readPostmortems(db, organizationId, given.incidents),
    monitoredServices: new Set(services.flatMap(({ id, monitored }) => (monitored ? [id] : []))),
  }
}

/** The statuses that the updates of incidents set for services. */
export interface ServiceImpacts {
  /** By the id of the update. */
  readonly byUpdate: ReadonlyMap<string, readonly ServiceImpact[]>
  /** The statuses before the oldest update that was read, by incident id; absent for complete timelines. */
  readonly beforeOldest: ReadonlyMap<string, readonly ServiceImpact[]>
  /** The first update with the status `MONITORING`, by incident id. */
  readonly monitoredAt: ReadonlyMap<string, Date>
}

interface ServiceImpact {
  readonly serviceId: string
  readonly status: ServiceStatus
}

async function readImpacts(db: Database, incidents: readonly IncidentWithTimeline[]): Promise<ServiceImpacts> {
  if (incidents.length === 0) return { byUpdate: new Map(), beforeOldest: new Map(), monitoredAt: new Map() }
  const wanted = incidents.flatMap(({ updates, services }) =>
    services.flatMap(({ serviceId }) => updates.map(({ id }) => ({ id, serviceId }))),
  )
  const byUpdate = await db.$queryRaw<({ readonly of: string } & ServiceImpact)[]>`
    SELECT "updateId" AS of, "serviceId", link.status::text
    FROM unnest(${wanted.map(({ id }) => id)}::text[], ${wanted.map(({ serviceId }) => serviceId)}::text[]) AS wanted(id, service)
    JOIN ${incidentUpdateServices} AS link ON "updateId" = wanted.id AND "serviceId" = service
    JOIN ${services} AS shown ON shown.id = service ORDER BY position`
  const cut = incidents.flatMap(({ id, updates, updateCount }) => {
    const oldest = updates.at(-1)
    return oldest !== undefined && updates.length < updateCount ? [{ id, at: oldest.createdAt }] : []
  })
  const before = await db.$queryRaw<({ readonly of: string } & ServiceImpact)[]>`
    SELECT DISTINCT ON (cut.id, "serviceId") cut.id AS of, "serviceId",
      CASE WHEN EXISTS (SELECT 1 FROM ${incidentUpdates} AS later WHERE later."incidentId" = cut.id
        AND later.status = 'RESOLVED' AND later."createdAt" >= earlier."createdAt" AND later."createdAt" < cut.at)
      THEN 'OPERATIONAL' ELSE link.status::text END AS status
    FROM unnest(${cut.map(({ id }) => id)}::text[], ${cut.map(({ at }) => at)}::timestamptz[]) AS cut(id, at)
    JOIN ${incidentUpdates} AS earlier ON earlier."incidentId" = cut.id AND earlier."createdAt" < cut.at
    JOIN ${incidentUpdateServices} AS link ON link."updateId" = earlier.id
    ORDER BY cut.id, "serviceId", earlier."createdAt" DESC`
  const monitored = await db.incidentUpdate.groupBy({
    by: ['incidentId'],
    where: { incidentId: { in: incidents.map(({ id }) => id) }, status: 'MONITORING' },
    _min: { createdAt: true },
  })
  return {
    byUpdate: groupById(byUpdate),
    beforeOldest: groupById(before),
    monitoredAt: new Map(
      monitored.flatMap(({ incidentId, _min }) => (_min.createdAt ? [[incidentId, _min.createdAt]] : [])),
    ),
  }
}

function groupById(rows: readonly ({ readonly of: string } & ServiceImpact)[]): Map<string, ServiceImpact[]> {
  const groups = new Map<string, ServiceImpact[]>()
  for (const { of, serviceId, status } of rows) {
    const group = groups.get(of)
    if (group) group.push({ serviceId, status })
    else groups.set(of, [{ serviceId, status }])
  }
  return groups
}
