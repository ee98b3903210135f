import type { Database } from '../core/context.ts'

/**
 * Points the alerts of an incident to the one that it was merged into. A person has changed the incident, so its alerts
 * no longer resolve it.
 */
export async function moveIncidentAlerts(db: Database, from: string, to: string): Promise<void> {
  await db.$executeRaw`
    UPDATE "IncomingGroup" SET "incidentId" = ${to}, "incidentVersion" = 0 WHERE "incidentId" = ${from}`
}
