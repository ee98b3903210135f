import { slugText } from '../../account/page/page-settings.ts'
import { organizations, pages } from '../../account/views.ts'
import type { Database } from '../../core/context.ts'
import { typeOfId } from '../../core/id.ts'

/** The sizes of an organization's lists, up to what one request may return. */
export type Sizes = {
  readonly pages: number
  readonly services: number
  readonly serviceGroups: number
  readonly servicesOfGroup: number
  readonly openIncidents: number
  readonly plannedMaintenances: number
  readonly servicesOfIncident: number
  readonly servicesOfUpdate: number
  readonly servicesOfMaintenance: number
  readonly filesOfIncident: number
  /** Of an update or a note. */
  readonly filesOfItem: number
}

/**
 * Reads the maximum sizes among the organizations with these ids and slugs and the owners of these objects, with one
 * statement.
 */
export async function readSizes(
  db: Database,
  {
    ids,
    slugs,
    objects,
  }: { readonly ids: readonly string[]; readonly slugs: readonly string[]; readonly objects: readonly string[] },
): Promise<Sizes> {
  const possible = slugs.filter((slug) => slugText.safeParse(slug).success)
  const known = objects.filter((id) => typeOfId(id) !== null)
  const found = await db.$queryRaw<Sizes[]>`
    WITH named AS (SELECT id FROM ${organizations} AS organizations WHERE id IN (
      SELECT id FROM ${organizations} AS organizations
        WHERE id = ANY (${[...ids, ...known]}) OR slug = ANY (${possible})
      UNION SELECT "organizationId" FROM ${pages} AS pages WHERE id = ANY (${known}) OR slug = ANY (${possible})
      UNION SELECT "organizationId" FROM "ServiceGroup" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "Service" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "Incident" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "IncidentUpdate" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "Maintenance" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "MaintenanceUpdate" WHERE id = ANY (${known})
      UNION SELECT "organizationId" FROM "Monitor" WHERE id = ANY (${known})
    )),
    service AS (SELECT s."organizationId", s."groupId" FROM "Service" s JOIN named n ON n.id = s."organizationId"),
    incident AS (SELECT i.id, i."organizationId", i.status FROM "Incident" i JOIN named n ON n.id = i."organizationId"),
    maintenance AS (
      SELECT m.id, m."organizationId", m.status FROM "Maintenance" m JOIN named n ON n.id = m."organizationId"
    ),
    file AS (
      SELECT f."incidentId", f."updateId", f."noteId" FROM "IncidentFile" f JOIN named n ON n.id = f."organizationId"
    )
    SELECT
      coalesce((
        SELECT max(count) FROM (SELECT count(*) FROM ${pages} AS p JOIN named n ON n.id = p."organizationId" GROUP BY n.id) c
      ), 0)::int AS pages,
      coalesce((SELECT max(count) FROM (SELECT count(*) FROM service GROUP BY "organizationId") c), 0)::int
        AS services,
      coalesce((
        SELECT max(count) FROM (
          SELECT count(*) FROM "ServiceGroup" g JOIN named n ON n.id = g."organizationId" GROUP BY n.id
        ) c
      ), 0)::int AS "serviceGroups",
      coalesce((
        SELECT max(count) FROM (SELECT count(*) FROM service WHERE "groupId" IS NOT NULL GROUP BY "groupId") c
      ), 0)::int AS "servicesOfGroup",
      least(100, coalesce((
        SELECT max(count) FROM (SELECT count(*) FROM incident WHERE status <> 'RESOLVED' GROUP BY "organizationId") c
      ), 0))::int AS "openIncidents",
      least(100, coalesce((
        SELECT max(count) FROM (
          SELECT count(*) FROM maintenance WHERE status NOT IN ('COMPLETED', 'CANCELLED') GROUP BY "organizationId"
        ) c
      ), 0))::int AS "plannedMaintenances",
      coalesce((
        SELECT max(count) FROM (
          SELECT count(*) FROM "IncidentService" s JOIN incident i ON i.id = s."incidentId" GROUP BY i.id
        ) c
      ), 0)::int AS "servicesOfIncident",
      coalesce((
        SELECT max(count) FROM (
          SELECT count(*) FROM incident i JOIN "IncidentUpdate" u ON u."incidentId" = i.id
          JOIN "IncidentUpdateService" s ON s."updateId" = u.id GROUP BY u.id
        ) c
      ), 0)::int AS "servicesOfUpdate",
      coalesce((
        SELECT max(count) FROM (
          SELECT count(*) FROM "MaintenanceService" s JOIN maintenance m ON m.id = s."maintenanceId" GROUP BY m.id
        ) c
      ), 0)::int AS "servicesOfMaintenance",
      coalesce((SELECT max(count) FROM (SELECT count(*) FROM file GROUP BY "incidentId") c), 0)::int AS "filesOfIncident",
      coalesce((SELECT max(count) FROM (SELECT count(*) FROM file GROUP BY "updateId", "noteId") c), 0)::int
        AS "filesOfItem"`
  const [sizes] = found
  if (sizes === undefined) throw new Error('A statement returned no row.')
  return sizes
}
