-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "tellSubscribers" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "Maintenance" ADD COLUMN     "tellSubscribers" BOOLEAN NOT NULL DEFAULT true;
