-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'MANAGED_OBJECT_LOCKED';
ALTER TYPE "EventKind" ADD VALUE 'MANAGED_OBJECT_UNLOCKED';

-- AlterTable
ALTER TABLE "ManagedObject" ADD COLUMN     "locksMembers" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "unlockedAt" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "ManagedObject_organizationId_objectId_idx" ON "ManagedObject"("organizationId", "objectId");
