-- AlterTable
ALTER TABLE "AlertChannel" ADD COLUMN     "quietWindows" JSONB NOT NULL DEFAULT '[]';
