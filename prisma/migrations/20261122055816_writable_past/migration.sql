-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_BACKFILLED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_UPDATE_BACKFILLED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_UPDATE_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_UPDATE_EDITED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_UPDATE_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_DELETED';

-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "entryId" TEXT;

-- AlterTable
ALTER TABLE "MaintenanceUpdate" ADD COLUMN     "editedAt" TIMESTAMPTZ(3),
ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- Which entry each event has written, of those that are still to be turned into deliveries: until now one each, in their order.
UPDATE "Event" AS event SET "entryId" = entry.id
FROM (
  SELECT "organizationId", seq, "subjectId", row_number() OVER (PARTITION BY "subjectId" ORDER BY seq) AS place
  FROM "Event" WHERE kind IN ('INCIDENT_CREATED', 'INCIDENT_UPDATE_POSTED')
) AS placed
JOIN (
  SELECT id, "incidentId", row_number() OVER (PARTITION BY "incidentId" ORDER BY "createdAt", id) AS place
  FROM "IncidentUpdate"
) AS entry ON entry."incidentId" = placed."subjectId" AND entry.place = placed.place
JOIN "Dispatch" AS position ON position."organizationId" = placed."organizationId" AND placed.seq > position.seq
WHERE event."organizationId" = placed."organizationId" AND event.seq = placed.seq;

-- As above; one that has started when it was planned has one entry for both events, and RESCHEDULED comes after the newest.
UPDATE "Event" AS event SET "entryId" = entry.id
FROM (
  SELECT "organizationId", seq, "subjectId", kind, count(*) FILTER (WHERE kind <> 'MAINTENANCE_RESCHEDULED')
    OVER (PARTITION BY "subjectId" ORDER BY seq) AS place
  FROM "Event" WHERE kind IN ('MAINTENANCE_SCHEDULED', 'MAINTENANCE_RESCHEDULED', 'MAINTENANCE_UPDATE_POSTED',
    'MAINTENANCE_STARTED', 'MAINTENANCE_COMPLETED', 'MAINTENANCE_CANCELLED')
) AS placed
JOIN (
  SELECT id, "maintenanceId", row_number() OVER (PARTITION BY "maintenanceId" ORDER BY "createdAt", id) AS place,
    first_value(status) OVER (PARTITION BY "maintenanceId" ORDER BY "createdAt", id) = 'IN_PROGRESS' AS "atOnce"
  FROM "MaintenanceUpdate"
) AS entry ON entry."maintenanceId" = placed."subjectId"
  AND entry.place = placed.place - CASE WHEN entry."atOnce" AND placed.kind <> 'MAINTENANCE_SCHEDULED' THEN 1 ELSE 0 END
JOIN "Dispatch" AS position ON position."organizationId" = placed."organizationId" AND placed.seq > position.seq
WHERE event."organizationId" = placed."organizationId" AND event.seq = placed.seq
  AND NOT (entry."atOnce" AND placed.kind = 'MAINTENANCE_STARTED');
