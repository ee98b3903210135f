import type { Database } from '../core/context.ts'
import { publicKinds } from '../event-log/audience.ts'
import { events } from '../event-log/views.ts'
import { incidentServices, incidents, maintenanceServices } from '../status/views.ts'

/**
 * Returns the time of the newest public event about each of an organization's services, groups, incidents and
 * maintenances, by id. An event about an incident or a maintenance counts for its services too; private events, such as
 * those of a post-mortem's draft, must not change a public time. Runs one statement.
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
      UNION ALL SELECT wanted.id, "incidentId" FROM wanted JOIN ${incidentServices} AS incidentServices ON "serviceId" = wanted.id
        JOIN ${incidents} AS incident ON incident.id = "incidentId" AND visibility = 'PUBLIC'
      UNION ALL SELECT id, "maintenanceId" FROM wanted JOIN ${maintenanceServices} AS maintenanceServices ON "serviceId" = id
    )
    SELECT id, max(at) AS at FROM subject CROSS JOIN LATERAL (
      SELECT at FROM ${events} AS events
      WHERE "organizationId" = ${organizationId} AND "subjectId" = subject."subjectId"
        AND kind::text = ANY (${publicKinds}::text[]) ORDER BY seq DESC LIMIT 1
    ) AS last GROUP BY id`
  return new Map(rows.map(({ id, at }) => [id, at]))
}
