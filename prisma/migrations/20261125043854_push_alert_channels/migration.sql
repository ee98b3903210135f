-- AlterEnum
ALTER TYPE "AlertChannelKind" ADD VALUE 'PUSH';

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "pushChannelAt" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "PushDelivery" ADD COLUMN     "alertDeliveryId" TEXT;
