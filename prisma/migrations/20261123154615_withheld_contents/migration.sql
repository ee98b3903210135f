-- AlterTable
ALTER TABLE "PageAccess" ADD COLUMN     "changedAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Subscriber" ADD COLUMN     "vouchedAt" TIMESTAMPTZ(3);
