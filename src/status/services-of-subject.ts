import { Prisma } from '../generated/prisma/client.ts'

/**
 * Returns an SQL array with the services of an object of a page; `*` for an incident or a maintenance that affects no
 * service, and nothing for other objects. @param id its id, as SQL.
 */
export const servicesOfSubject = (id: Prisma.Sql): Prisma.Sql => Prisma.sql`CASE split_part(${id}, '_', 1)
  WHEN 'svc' THEN ARRAY[${id}]
  WHEN 'grp' THEN ARRAY(SELECT id FROM "Service" WHERE "groupId" = ${id})
  WHEN 'inc' THEN COALESCE(
    NULLIF(ARRAY(SELECT "serviceId" FROM "IncidentService" WHERE "incidentId" = ${id}), '{}'),
    ARRAY(SELECT '*' FROM "Incident" WHERE id = ${id}))
  WHEN 'mnt' THEN COALESCE(
    NULLIF(ARRAY(SELECT "serviceId" FROM "MaintenanceService" WHERE "maintenanceId" = ${id}), '{}'),
    ARRAY(SELECT '*' FROM "Maintenance" WHERE id = ${id}))
  ELSE '{}'::text[] END`
