-- CreateEnum
CREATE TYPE "UptimeSource" AS ENUM ('MONITORS', 'INCIDENTS');

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "uptimeSource" "UptimeSource" NOT NULL DEFAULT 'MONITORS';
