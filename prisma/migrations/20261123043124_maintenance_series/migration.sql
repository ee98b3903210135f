-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_SERIES_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_SERIES_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_SERIES_ENDED';
ALTER TYPE "EventKind" ADD VALUE 'MAINTENANCE_SERIES_DELETED';

-- AlterTable
ALTER TABLE "Maintenance" ADD COLUMN     "detached" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "nominalStartsAt" TIMESTAMPTZ(3),
ADD COLUMN     "seriesId" TEXT;

-- CreateTable
CREATE TABLE "MaintenanceSeries" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "timeZone" TEXT NOT NULL,
    "firstStart" TEXT NOT NULL,
    "anchor" TEXT NOT NULL,
    "durationMinutes" INTEGER NOT NULL,
    "rule" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3),
    "skipped" TEXT[],
    "tellSubscribers" BOOLEAN NOT NULL DEFAULT true,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "MaintenanceSeries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MaintenanceSeriesService" (
    "seriesId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,

    CONSTRAINT "MaintenanceSeriesService_pkey" PRIMARY KEY ("seriesId","serviceId")
);

-- CreateIndex
CREATE INDEX "MaintenanceSeries_organizationId_createdAt_id_idx" ON "MaintenanceSeries"("organizationId", "createdAt" DESC, "id");

-- CreateIndex
CREATE INDEX "MaintenanceSeries_dueAt_idx" ON "MaintenanceSeries"("dueAt");

-- CreateIndex
CREATE INDEX "MaintenanceSeriesService_serviceId_idx" ON "MaintenanceSeriesService"("serviceId");

-- CreateIndex
CREATE UNIQUE INDEX "Maintenance_seriesId_nominalStartsAt_key" ON "Maintenance"("seriesId", "nominalStartsAt");

-- AddForeignKey
ALTER TABLE "Maintenance" ADD CONSTRAINT "Maintenance_seriesId_fkey" FOREIGN KEY ("seriesId") REFERENCES "MaintenanceSeries"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MaintenanceSeries" ADD CONSTRAINT "MaintenanceSeries_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MaintenanceSeriesService" ADD CONSTRAINT "MaintenanceSeriesService_seriesId_fkey" FOREIGN KEY ("seriesId") REFERENCES "MaintenanceSeries"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MaintenanceSeriesService" ADD CONSTRAINT "MaintenanceSeriesService_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;
