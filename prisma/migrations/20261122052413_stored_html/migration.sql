-- AlterTable
ALTER TABLE "IncidentUpdate" ADD COLUMN     "html" TEXT,
ADD COLUMN     "htmlVersion" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "MaintenanceUpdate" ADD COLUMN     "html" TEXT,
ADD COLUMN     "htmlVersion" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "IncidentUpdate_htmlVersion_idx" ON "IncidentUpdate"("htmlVersion");

-- CreateIndex
CREATE INDEX "MaintenanceUpdate_htmlVersion_idx" ON "MaintenanceUpdate"("htmlVersion");
