-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'ALERT_CHANNEL_TESTED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_OPENED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_REMINDED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_ESCALATED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_ENDED';
ALTER TYPE "EventKind" ADD VALUE 'INCOMING_ALERT_REFUSED';
