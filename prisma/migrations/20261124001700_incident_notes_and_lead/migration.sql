-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_NOTE_ADDED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_NOTE_EDITED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_NOTE_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_LEAD_CHANGED';

-- CreateTable
CREATE TABLE "IncidentNote" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "incidentId" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "html" TEXT,
    "htmlVersion" INTEGER NOT NULL DEFAULT 0,
    "actorKind" "ActorKind" NOT NULL,
    "actorKeyId" TEXT,
    "actorUserId" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "editedAt" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "IncidentNote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "IncidentLead" (
    "incidentId" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IncidentLead_pkey" PRIMARY KEY ("incidentId")
);

-- CreateIndex
CREATE INDEX "IncidentNote_incidentId_createdAt_id_idx" ON "IncidentNote"("incidentId", "createdAt" DESC, "id");

-- CreateIndex
CREATE INDEX "IncidentNote_organizationId_idx" ON "IncidentNote"("organizationId");

-- CreateIndex
CREATE INDEX "IncidentNote_htmlVersion_idx" ON "IncidentNote"("htmlVersion");

-- CreateIndex
CREATE INDEX "IncidentLead_organizationId_userId_idx" ON "IncidentLead"("organizationId", "userId");

-- CreateIndex
CREATE INDEX "Delivery_organizationId_seq_idx" ON "Delivery"("organizationId", "seq");

-- AddForeignKey
ALTER TABLE "IncidentNote" ADD CONSTRAINT "IncidentNote_incidentId_fkey" FOREIGN KEY ("incidentId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentLead" ADD CONSTRAINT "IncidentLead_incidentId_fkey" FOREIGN KEY ("incidentId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentLead" ADD CONSTRAINT "IncidentLead_organizationId_userId_fkey" FOREIGN KEY ("organizationId", "userId") REFERENCES "Membership"("organizationId", "userId") ON DELETE CASCADE ON UPDATE CASCADE;
