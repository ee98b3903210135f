-- CreateEnum
CREATE TYPE "ImportedRecordKind" AS ENUM ('INCIDENT', 'MAINTENANCE', 'SERIES');

-- AlterTable
ALTER TABLE "Incident" ADD COLUMN     "importedAt" TIMESTAMPTZ(3),
ADD COLUMN     "importedFrom" TEXT;

-- AlterTable
ALTER TABLE "Maintenance" ADD COLUMN     "importedAt" TIMESTAMPTZ(3),
ADD COLUMN     "importedFrom" TEXT;

-- CreateTable
CREATE TABLE "ImportedRecord" (
    "organizationId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "kind" "ImportedRecordKind" NOT NULL,
    "recordId" TEXT NOT NULL,
    "objectId" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "importedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ImportedRecord_pkey" PRIMARY KEY ("organizationId","source","kind","recordId")
);

-- AddForeignKey
ALTER TABLE "ImportedRecord" ADD CONSTRAINT "ImportedRecord_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
