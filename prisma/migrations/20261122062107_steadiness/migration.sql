-- AlterTable
ALTER TABLE "Watch" ADD COLUMN     "steadiness" JSONB NOT NULL DEFAULT '{}';
