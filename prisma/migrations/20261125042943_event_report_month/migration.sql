-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "reportMonth" TEXT;
