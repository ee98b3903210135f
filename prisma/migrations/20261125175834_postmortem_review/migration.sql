-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_REVIEW_REQUESTED';
ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_REVIEWED';
ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_REVIEW_CANCELLED';

-- AlterTable
ALTER TABLE "Postmortem" ADD COLUMN     "editedById" TEXT,
ADD COLUMN     "reviewRequestedAt" TIMESTAMPTZ(3),
ADD COLUMN     "reviewRequestedById" TEXT,
ADD COLUMN     "reviewedAt" TIMESTAMPTZ(3),
ADD COLUMN     "reviewedById" TEXT;

-- CreateIndex
CREATE INDEX "Postmortem_organizationId_reviewRequestedAt_idx" ON "Postmortem"("organizationId", "reviewRequestedAt");
