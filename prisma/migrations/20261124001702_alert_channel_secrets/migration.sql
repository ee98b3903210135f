-- AlterTable
ALTER TABLE "AlertChannel" ADD COLUMN     "formerSecret" TEXT,
ADD COLUMN     "formerSecretUntil" TIMESTAMPTZ(3);
