-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'SERVICE_UNKNOWN';
ALTER TYPE "EventKind" ADD VALUE 'SERVICE_KNOWN';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_UNKNOWN';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_KNOWN';

-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "since" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Monitor" ADD COLUMN     "unknownSince" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Watch" ADD COLUMN     "unknownSince" TIMESTAMPTZ(3);
