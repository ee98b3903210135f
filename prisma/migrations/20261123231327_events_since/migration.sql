-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "eventsSince" TIMESTAMPTZ(3);
