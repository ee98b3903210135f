-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'ORGANIZATION_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'ORGANIZATION_RESTORED';

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "deletedAt" TIMESTAMPTZ(3),
ADD COLUMN     "erasureDueAt" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "Organization_erasureDueAt_idx" ON "Organization"("erasureDueAt");
