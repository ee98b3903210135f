import type { Context } from '../../core/context.ts'
import type { Service } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ServiceStatus } from '../../generated/prisma/enums.ts'

/**
 * Records that these incidents have stated the status of the services that they name: since their start, but not before
 * the services were created. Drafts and suggestions state nothing, and neither do incidents that only monitors write on.
 * Call it in the change of the incidents, after it is written.
 */
export function stateByIncidents(tx: Context, ids: readonly string[]): Promise<void> {
  return record(
    tx,
    Prisma.sql`
      SELECT link."serviceId" AS id, min(incident."startedAt") AS at
      FROM "Incident" AS incident JOIN "IncidentService" AS link ON link."incidentId" = incident.id
      WHERE incident.id = ANY (${[...ids]}::text[]) AND ${isStatement}
      GROUP BY 1`,
  )
}

/** Records, like `stateByIncidents`, the maintenances that have begun; a plan states nothing about today. */
export function stateByMaintenances(tx: Context, ids: readonly string[]): Promise<void> {
  return record(
    tx,
    Prisma.sql`
      SELECT link."serviceId" AS id, min(maintenance."startedAt") AS at
      FROM "Maintenance" AS maintenance JOIN "MaintenanceService" AS link ON link."maintenanceId" = maintenance.id
      WHERE maintenance.id = ANY (${[...ids]}::text[]) AND maintenance."startedAt" IS NOT NULL
      GROUP BY 1`,
  )
}

async function record({ db }: Context, said: Prisma.Sql): Promise<void> {
  await db.$queryRaw(recordStatements(said))
}

/**
 * Returns the SQL that records statements, where they are earlier than the known ones.
 * @param said selects services by `id`, and times `at`.
 */
export function recordStatements(said: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    UPDATE "Service" AS service SET "statedAt" = greatest(service."createdAt", said.at) FROM (${said}) AS said
    WHERE service.id = said.id
      AND (service."statedAt" IS NULL OR service."statedAt" > greatest(service."createdAt", said.at))`
}

/** Selects incidents that state something: public ones, unless only monitors write on them. */
export const isStatement = Prisma.sql`NOT incident.automatic AND incident.visibility = 'PUBLIC'`

/**
 * Returns the override with which people state a status: none for OPERATIONAL, so that incidents and monitors can still
 * change it.
 */
export function overrideOf(status: ServiceStatus): ServiceStatus | null {
  return status === 'OPERATIONAL' ? null : status
}

/** Returns the status that people have stated by hand, without incidents and maintenance; null: none. */
export function statedStatus({ statedAt, statusOverride }: Pick<Service, 'statedAt' | 'statusOverride'>) {
  return statusOverride ?? (statedAt === null ? null : 'OPERATIONAL')
}
