-- CreateEnum
CREATE TYPE "IncidentVisibility" AS ENUM ('PUBLIC', 'DRAFT', 'SUGGESTED');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_DRAFTED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_DRAFT_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_DISMISSED';

-- AlterTable
ALTER TABLE "Incident" ADD COLUMN     "visibility" "IncidentVisibility" NOT NULL DEFAULT 'PUBLIC';
