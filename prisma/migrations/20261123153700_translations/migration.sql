-- AlterTable
ALTER TABLE "Incident" ADD COLUMN     "titles" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "IncidentUpdate" ADD COLUMN     "translations" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "Maintenance" ADD COLUMN     "titles" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "MaintenanceSeries" ADD COLUMN     "translations" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "MaintenanceUpdate" ADD COLUMN     "translations" JSONB NOT NULL DEFAULT '{}';
