import type { Database } from '../context.ts'
import { isPublicKind } from '../eventlog/event.ts'
import { EventKind } from '../generated/prisma/enums.ts'

const publicKinds = Object.values(EventKind).filter(isPublicKind)

/** When anything that an organization's page shows last changed: by its log, or when it was made. */
export async function readLastChange(db: Database, organizationId: string): Promise<Date> {
  const { createdAt, events } = await db.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: {
      createdAt: true,
      events: { where: { kind: { in: publicKinds } }, orderBy: { seq: 'desc' }, take: 1, select: { at: true } },
    },
  })
  return events[0]?.at ?? createdAt
}

/**
 * When something last happened to each of an organization's services, groups, incidents and maintenances that are named by
 * their ids. What happens to an incident or a maintenance happens to its services as well. One statement.
 */
export async function readLastChanges(
  db: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await db.$queryRaw<{ id: string; at: Date }[]>`
    WITH wanted AS (
      SELECT unnest(${[...ids]}::text[]) AS id
    ), subject AS (
      SELECT id, id AS "subjectId" FROM wanted
      UNION ALL SELECT id, "incidentId" FROM wanted JOIN "IncidentService" ON "serviceId" = id
      UNION ALL SELECT id, "maintenanceId" FROM wanted JOIN "MaintenanceService" ON "serviceId" = id
    )
    SELECT id, max(at) AS at FROM subject CROSS JOIN LATERAL (
      SELECT at FROM "Event"
      WHERE "organizationId" = ${organizationId} AND "subjectId" = subject."subjectId" ORDER BY seq DESC LIMIT 1
    ) AS last GROUP BY id`
  return new Map(rows.map(({ id, at }) => [id, at]))
}
