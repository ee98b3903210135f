-- AlterEnum
ALTER TYPE "EventKind" ADD VALUE 'INCIDENT_MERGED';

-- AlterEnum
ALTER TYPE "IncidentVisibility" ADD VALUE 'MERGED';

-- AlterTable
ALTER TABLE "Incident" ADD COLUMN     "mergedIntoId" TEXT;

-- CreateIndex
CREATE INDEX "Incident_mergedIntoId_idx" ON "Incident"("mergedIntoId");

-- AddForeignKey
ALTER TABLE "Incident" ADD CONSTRAINT "Incident_mergedIntoId_fkey" FOREIGN KEY ("mergedIntoId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;
