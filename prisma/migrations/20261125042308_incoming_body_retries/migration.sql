-- AlterTable
ALTER TABLE "IncomingBody" ADD COLUMN     "failed" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "retryAt" TIMESTAMPTZ(3),
ADD COLUMN     "topicHash" TEXT;
