import type { Database } from '../../context.ts'
import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { PageState } from '../../status/page-state.ts'
import type { IncidentStory, MaintenanceStory } from '../../status/story.ts'
import { readLastChange, readLastChanges } from '../changes.ts'
import type { Zone } from '../zone.ts'
import { zoneOf } from '../zone.ts'

/** What Statuspage's documents are written of. */
export interface StatuspageSource {
  readonly state: PageState
  /** The incidents and maintenances to tell of. */
  readonly incidents: readonly IncidentStory[]
  readonly maintenances: readonly MaintenanceStory[]
  /** The public address of the page, without a slash at its end. */
  readonly url: string
  readonly zone: Zone
  /** When the page last changed, and each thing on it, by its id. */
  readonly changedAt: Date
  readonly changes: ReadonlyMap<string, Date>
  /** What the entries of the incidents' timelines said of services. */
  readonly impacts: Impacts
  /** The ids of those services that are monitored. */
  readonly watched: ReadonlySet<string>
}

/** Reads what the page's state does not tell of its services and of the given incidents and maintenances. */
export async function readSource(
  db: Database,
  told: Pick<StatuspageSource, 'state' | 'incidents' | 'maintenances' | 'url'>,
): Promise<StatuspageSource> {
  const { organization, services, groups } = told.state
  const organizationId = organization.id
  const things = [...services, ...groups, ...told.incidents, ...told.maintenances]
  const watched = await db.monitor.findMany({
    where: { organizationId, serviceId: { not: null } },
    select: { serviceId: true },
    distinct: ['serviceId'],
  })
  return {
    ...told,
    zone: zoneOf(organization.timeZone),
    changedAt: await readLastChange(db, organizationId),
    changes: await readLastChanges(
      db,
      organizationId,
      things.map(({ id }) => id),
    ),
    impacts: await readImpacts(db, told.incidents),
    watched: new Set(watched.flatMap(({ serviceId }) => serviceId ?? [])),
  }
}

/** What was said of services in incidents, as far as their stories go. */
export interface Impacts {
  /** By the id of the entry that said it. */
  readonly said: ReadonlyMap<string, readonly Impact[]>
  /** What had been said before the oldest entry of a story that is not whole, by the incident's id. */
  readonly before: ReadonlyMap<string, readonly Impact[]>
  /** When each incident first was said to be monitored, by its id. */
  readonly monitoredAt: ReadonlyMap<string, Date>
}

interface Impact {
  readonly serviceId: string
  readonly status: ServiceStatus
}

async function readImpacts(db: Database, incidents: readonly IncidentStory[]): Promise<Impacts> {
  const wanted = incidents.flatMap(({ updates, services }) =>
    services.flatMap(({ serviceId }) => updates.map(({ id }) => ({ id, serviceId }))),
  )
  const said = await db.$queryRaw<({ readonly of: string } & Impact)[]>`
    SELECT "updateId" AS of, "serviceId", "IncidentUpdateService".status::text
    FROM unnest(${wanted.map(({ id }) => id)}::text[], ${wanted.map(({ serviceId }) => serviceId)}::text[]) AS wanted(id, service)
    JOIN "IncidentUpdateService" ON "updateId" = wanted.id AND "serviceId" = service
    JOIN "Service" ON "Service".id = service ORDER BY position`
  const cut = incidents.flatMap(({ id, updates, updateCount }) => {
    const oldest = updates.at(-1)
    return oldest !== undefined && updates.length < updateCount ? [{ id, at: oldest.createdAt }] : []
  })
  const before = await db.$queryRaw<({ readonly of: string } & Impact)[]>`
    SELECT DISTINCT ON (cut.id, "serviceId") cut.id AS of, "serviceId",
      CASE WHEN EXISTS (SELECT 1 FROM "IncidentUpdate" AS later WHERE later."incidentId" = cut.id
        AND later.status = 'RESOLVED' AND later."createdAt" >= entry."createdAt" AND later."createdAt" < cut.at)
      THEN 'OPERATIONAL' ELSE link.status::text END AS status
    FROM unnest(${cut.map(({ id }) => id)}::text[], ${cut.map(({ at }) => at)}::timestamptz[]) AS cut(id, at)
    JOIN "IncidentUpdate" AS entry ON entry."incidentId" = cut.id AND entry."createdAt" < cut.at
    JOIN "IncidentUpdateService" AS link ON link."updateId" = entry.id
    ORDER BY cut.id, "serviceId", entry."createdAt" DESC`
  const monitored = await db.incidentUpdate.groupBy({
    by: ['incidentId'],
    where: { incidentId: { in: incidents.map(({ id }) => id) }, status: 'MONITORING' },
    _min: { createdAt: true },
  })
  return {
    said: grouped(said),
    before: grouped(before),
    monitoredAt: new Map(
      monitored.flatMap(({ incidentId, _min }) => (_min.createdAt ? [[incidentId, _min.createdAt]] : [])),
    ),
  }
}

function grouped(rows: readonly ({ readonly of: string } & Impact)[]): Map<string, Impact[]> {
  const groups = new Map<string, Impact[]>()
  for (const { of, serviceId, status } of rows) {
    const known = groups.get(of)
    if (known) known.push({ serviceId, status })
    else groups.set(of, [{ serviceId, status }])
  }
  return groups
}
