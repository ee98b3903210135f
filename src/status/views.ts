import { Prisma } from '../generated/prisma/client.ts'

// What other rooms may read of services, incidents and maintenance, as tables for their statements: `FROM ${services} AS
// service`. PostgreSQL merges these queries into the statement, so they cost nothing.

/** Services. */
export const services = Prisma.sql`(
  SELECT id, "organizationId", "groupId", name, position, "statusOverride", "statedAt", "createdAt" FROM "Service")`

/** Incidents, whoever can see them. */
export const incidents = Prisma.sql`(
  SELECT id, "organizationId", title, titles, status, impact, visibility, automatic, "startedAt", "resolvedAt" FROM "Incident")`

/** The services that incidents affect now. */
export const incidentServices = Prisma.sql`(SELECT "incidentId", "serviceId", status FROM "IncidentService")`

/** The monitors that have joined incidents. */
export const incidentMonitors = Prisma.sql`(SELECT "incidentId", "monitorId", "joinedAt", "leftAt" FROM "IncidentMonitor")`

/** The updates of incidents. */
export const incidentUpdates = Prisma.sql`(SELECT id, "incidentId", status, "createdAt" FROM "IncidentUpdate")`

/** The statuses that updates of incidents set for services. */
export const incidentUpdateServices = Prisma.sql`(SELECT "updateId", "serviceId", status FROM "IncidentUpdateService")`

/** Post-mortems; the id is that of the incident. */
export const postmortems = Prisma.sql`(
  SELECT id, "organizationId", message, html, translations, "publishedAt", "editedAt" FROM "Postmortem")`

/** Maintenance. */
export const maintenances = Prisma.sql`(
  SELECT id, "organizationId", title, titles, status, "startsAt", "endsAt", "startedAt", "endedAt" FROM "Maintenance")`

/** The services that maintenance affects. */
export const maintenanceServices = Prisma.sql`(SELECT "maintenanceId", "serviceId" FROM "MaintenanceService")`
