-- AlterEnum
ALTER TYPE "AlertSilence" ADD VALUE 'PARENT_DOWN';

-- AlterTable
ALTER TABLE "Monitor" ADD COLUMN     "blockedSince" TIMESTAMPTZ(3),
ADD COLUMN     "heldSince" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "MonitorDependency" (
    "monitorId" TEXT NOT NULL,
    "parentId" TEXT NOT NULL,

    CONSTRAINT "MonitorDependency_pkey" PRIMARY KEY ("monitorId","parentId")
);

-- CreateIndex
CREATE INDEX "MonitorDependency_parentId_idx" ON "MonitorDependency"("parentId");

-- AddForeignKey
ALTER TABLE "MonitorDependency" ADD CONSTRAINT "MonitorDependency_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MonitorDependency" ADD CONSTRAINT "MonitorDependency_parentId_fkey" FOREIGN KEY ("parentId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;
