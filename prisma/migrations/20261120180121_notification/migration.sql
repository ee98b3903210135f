-- CreateEnum
CREATE TYPE "ChannelKind" AS ENUM ('EMAIL', 'WEBHOOK', 'SLACK', 'DISCORD', 'TEAMS', 'TELEGRAM');

-- CreateEnum
CREATE TYPE "Topic" AS ENUM ('INCIDENTS', 'MAINTENANCES', 'SERVICE_STATUS');

-- CreateEnum
CREATE TYPE "StopReason" AS ENUM ('UNSUBSCRIBED', 'GONE', 'BOUNCED', 'COMPLAINED');

-- CreateEnum
CREATE TYPE "DeliveryStatus" AS ENUM ('PENDING', 'DELIVERED', 'FAILED', 'CANCELLED');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'SUBSCRIBERS_IMPORTED';
ALTER TYPE "EventKind" ADD VALUE 'SUBSCRIBER_DELETED';

-- CreateTable
CREATE TABLE "Subscriber" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "channel" "ChannelKind" NOT NULL,
    "address" TEXT NOT NULL,
    "addressHash" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "tokenHash" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "secret" TEXT,
    "formerSecret" TEXT,
    "formerSecretUntil" TIMESTAMPTZ(3),
    "topics" "Topic"[],
    "allServices" BOOLEAN NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "confirmableUntil" TIMESTAMPTZ(3) NOT NULL,
    "confirmedAt" TIMESTAMPTZ(3),
    "sinceSeq" INTEGER NOT NULL DEFAULT 0,
    "bounces" INTEGER NOT NULL DEFAULT 0,
    "stoppedAt" TIMESTAMPTZ(3),
    "stopReason" "StopReason",

    CONSTRAINT "Subscriber_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SubscriberService" (
    "subscriberId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,

    CONSTRAINT "SubscriberService_pkey" PRIMARY KEY ("subscriberId","serviceId")
);

-- CreateTable
CREATE TABLE "Dispatch" (
    "organizationId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,

    CONSTRAINT "Dispatch_pkey" PRIMARY KEY ("organizationId")
);

-- CreateTable
CREATE TABLE "Notice" (
    "organizationId" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "content" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Notice_pkey" PRIMARY KEY ("organizationId","seq")
);

-- CreateTable
CREATE TABLE "Delivery" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "subscriberId" TEXT NOT NULL,
    "channel" "ChannelKind" NOT NULL,
    "seq" INTEGER,
    "subjectId" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "status" "DeliveryStatus" NOT NULL DEFAULT 'PENDING',
    "dueAt" TIMESTAMPTZ(3),
    "attempts" JSONB NOT NULL DEFAULT '[]',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Subscriber_tokenHash_key" ON "Subscriber"("tokenHash");

-- CreateIndex
CREATE INDEX "Subscriber_organizationId_createdAt_id_idx" ON "Subscriber"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "Subscriber_addressHash_idx" ON "Subscriber"("addressHash");

-- CreateIndex
CREATE UNIQUE INDEX "Subscriber_organizationId_addressHash_key" ON "Subscriber"("organizationId", "addressHash");

-- CreateIndex
CREATE INDEX "SubscriberService_serviceId_idx" ON "SubscriberService"("serviceId");

-- CreateIndex
CREATE INDEX "Notice_createdAt_idx" ON "Notice"("createdAt");

-- CreateIndex
CREATE INDEX "Delivery_dueAt_idx" ON "Delivery"("dueAt");

-- CreateIndex
CREATE INDEX "Delivery_organizationId_createdAt_id_idx" ON "Delivery"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Delivery_subscriberId_seq_key" ON "Delivery"("subscriberId", "seq");

-- AddForeignKey
ALTER TABLE "Subscriber" ADD CONSTRAINT "Subscriber_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SubscriberService" ADD CONSTRAINT "SubscriberService_subscriberId_fkey" FOREIGN KEY ("subscriberId") REFERENCES "Subscriber"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SubscriberService" ADD CONSTRAINT "SubscriberService_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Dispatch" ADD CONSTRAINT "Dispatch_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_subscriberId_fkey" FOREIGN KEY ("subscriberId") REFERENCES "Subscriber"("id") ON DELETE CASCADE ON UPDATE CASCADE;
