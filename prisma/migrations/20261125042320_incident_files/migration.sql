-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_FILE_ADDED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_FILE_DELETED';

-- CreateTable
CREATE TABLE "IncidentFile" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "incidentId" TEXT NOT NULL,
    "updateId" TEXT,
    "noteId" TEXT,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "alt" TEXT NOT NULL DEFAULT '',
    "width" INTEGER,
    "height" INTEGER,
    "content" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IncidentFile_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "IncidentFile_incidentId_createdAt_idx" ON "IncidentFile"("incidentId", "createdAt");

-- CreateIndex
CREATE INDEX "IncidentFile_updateId_idx" ON "IncidentFile"("updateId");

-- CreateIndex
CREATE INDEX "IncidentFile_noteId_idx" ON "IncidentFile"("noteId");

-- CreateIndex
CREATE INDEX "IncidentFile_organizationId_idx" ON "IncidentFile"("organizationId");

-- AddForeignKey
ALTER TABLE "IncidentFile" ADD CONSTRAINT "IncidentFile_incidentId_fkey" FOREIGN KEY ("incidentId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentFile" ADD CONSTRAINT "IncidentFile_updateId_fkey" FOREIGN KEY ("updateId") REFERENCES "IncidentUpdate"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentFile" ADD CONSTRAINT "IncidentFile_noteId_fkey" FOREIGN KEY ("noteId") REFERENCES "IncidentNote"("id") ON DELETE CASCADE ON UPDATE CASCADE;
