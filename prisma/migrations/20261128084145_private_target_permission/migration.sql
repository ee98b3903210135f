-- AlterEnum
ALTER TYPE "EventKind" ADD VALUE 'PRIVATE_TARGETS_ALLOWED';
ALTER TYPE "EventKind" ADD VALUE 'PRIVATE_TARGETS_WITHDRAWN';

-- AlterTable
ALTER TABLE "Subscriber" ADD COLUMN     "isOwnChoice" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "PrivateTargetPermission" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT,
    "grantedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PrivateTargetPermission_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "PrivateTargetPermission_organizationId_key" ON "PrivateTargetPermission"("organizationId");

-- AddForeignKey
ALTER TABLE "PrivateTargetPermission" ADD CONSTRAINT "PrivateTargetPermission_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
