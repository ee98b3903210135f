import type { Database } from '../../core/context.ts'

/** Lets the subscribers of an incident follow the one that it was merged into. */
export async function moveIncidentFollowers(db: Database, from: string, to: string): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "SubscriberIncident" ("subscriberId", "incidentId")
    SELECT "subscriberId", ${to} FROM "SubscriberIncident" WHERE "incidentId" = ${from} ON CONFLICT DO NOTHING`
  await db.$executeRaw`DELETE FROM "SubscriberIncident" WHERE "incidentId" = ${from}`
}
