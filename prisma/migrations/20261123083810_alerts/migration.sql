-- CreateEnum
CREATE TYPE "AlertChannelKind" AS ENUM ('MAIL', 'WEBHOOK', 'SLACK', 'DISCORD', 'TEAMS', 'TELEGRAM', 'NTFY', 'GOTIFY', 'PUSHOVER', 'PAGERDUTY', 'OPSGENIE', 'MATTERMOST', 'MATRIX');

-- CreateEnum
CREATE TYPE "AlertChange" AS ENUM ('DOWN', 'DEGRADED', 'UP', 'UNKNOWN', 'CERTIFICATE', 'LISTED', 'DELISTED', 'WORKER_SILENT');

-- CreateEnum
CREATE TYPE "AlertSilence" AS ENUM ('MAINTENANCE', 'FLAPPING');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'ALERT_CHANNEL_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_CHANNEL_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_CHANNEL_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'ALERT_ACKNOWLEDGED';

-- CreateTable
CREATE TABLE "AlertChannel" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" "AlertChannelKind" NOT NULL,
    "address" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "secret" TEXT,
    "changes" "AlertChange"[],
    "monitorIds" TEXT[],
    "serviceIds" TEXT[],
    "remindAfterMinutes" INTEGER,
    "escalateToId" TEXT,
    "escalateAfterMinutes" INTEGER,
    "quietFrom" INTEGER,
    "quietTo" INTEGER,
    "quietZone" TEXT,
    "sinceSeq" INTEGER NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AlertChannel_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Alert" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "monitorId" TEXT NOT NULL,
    "monitorName" TEXT NOT NULL,
    "change" "AlertChange" NOT NULL,
    "state" "MonitorState" NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "message" TEXT NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,
    "openedAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "acknowledgedAt" TIMESTAMPTZ(3),
    "acknowledgedBy" TEXT,
    "silence" "AlertSilence",
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "Alert_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AlertRecipient" (
    "alertId" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "notifiedAt" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,
    "remindAt" TIMESTAMPTZ(3),
    "escalateAt" TIMESTAMPTZ(3),

    CONSTRAINT "AlertRecipient_pkey" PRIMARY KEY ("alertId","channelId")
);

-- CreateTable
CREATE TABLE "AlertDelivery" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "channelId" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "position" SERIAL NOT NULL,
    "thread" TEXT NOT NULL,
    "items" JSONB NOT NULL,
    "openUntil" TIMESTAMPTZ(3),
    "tokenHash" TEXT NOT NULL,
    "usedAt" TIMESTAMPTZ(3),
    "status" "DeliveryStatus" NOT NULL DEFAULT 'PENDING',
    "dueAt" TIMESTAMPTZ(3),
    "attempts" JSONB NOT NULL DEFAULT '[]',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "AlertDelivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "AlertChannel_organizationId_createdAt_id_idx" ON "AlertChannel"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "AlertChannel_escalateToId_idx" ON "AlertChannel"("escalateToId");

-- CreateIndex
CREATE INDEX "Alert_organizationId_openedAt_id_idx" ON "Alert"("organizationId", "openedAt", "id");

-- CreateIndex
CREATE INDEX "Alert_organizationId_monitorId_idx" ON "Alert"("organizationId", "monitorId");

-- CreateIndex
CREATE INDEX "Alert_dueAt_idx" ON "Alert"("dueAt");

-- CreateIndex
CREATE INDEX "Alert_endedAt_idx" ON "Alert"("endedAt");

-- CreateIndex
CREATE INDEX "AlertRecipient_channelId_idx" ON "AlertRecipient"("channelId");

-- CreateIndex
CREATE INDEX "AlertRecipient_remindAt_idx" ON "AlertRecipient"("remindAt");

-- CreateIndex
CREATE INDEX "AlertRecipient_escalateAt_idx" ON "AlertRecipient"("escalateAt");

-- CreateIndex
CREATE UNIQUE INDEX "AlertDelivery_tokenHash_key" ON "AlertDelivery"("tokenHash");

-- CreateIndex
CREATE INDEX "AlertDelivery_dueAt_idx" ON "AlertDelivery"("dueAt");

-- CreateIndex
CREATE INDEX "AlertDelivery_channelId_position_idx" ON "AlertDelivery"("channelId", "position");

-- CreateIndex
CREATE INDEX "AlertDelivery_organizationId_createdAt_id_idx" ON "AlertDelivery"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "AlertDelivery_endedAt_idx" ON "AlertDelivery"("endedAt");

-- AddForeignKey
ALTER TABLE "AlertChannel" ADD CONSTRAINT "AlertChannel_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AlertChannel" ADD CONSTRAINT "AlertChannel_escalateToId_fkey" FOREIGN KEY ("escalateToId") REFERENCES "AlertChannel"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Alert" ADD CONSTRAINT "Alert_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AlertRecipient" ADD CONSTRAINT "AlertRecipient_alertId_fkey" FOREIGN KEY ("alertId") REFERENCES "Alert"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AlertRecipient" ADD CONSTRAINT "AlertRecipient_channelId_fkey" FOREIGN KEY ("channelId") REFERENCES "AlertChannel"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AlertDelivery" ADD CONSTRAINT "AlertDelivery_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "AlertDelivery" ADD CONSTRAINT "AlertDelivery_channelId_fkey" FOREIGN KEY ("channelId") REFERENCES "AlertChannel"("id") ON DELETE CASCADE ON UPDATE CASCADE;
