-- CreateEnum
CREATE TYPE "MonitorKind" AS ENUM ('HTTP', 'TCP', 'DNS', 'PING', 'HEARTBEAT', 'BLACKLIST');

-- CreateEnum
CREATE TYPE "MonitorState" AS ENUM ('PENDING', 'UP', 'DEGRADED', 'DOWN', 'PAUSED');

-- CreateEnum
CREATE TYPE "ProbeOutcome" AS ENUM ('UP', 'DEGRADED', 'DOWN', 'UNKNOWN');

-- CreateEnum
CREATE TYPE "PausedBy" AS ENUM ('OWNER', 'TIER');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'SERVICE_STATUS_CHANGED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_PAUSED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_RESUMED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'MONITOR_STATE_CHANGED';

-- AlterTable
ALTER TABLE "Incident" ADD COLUMN     "automatic" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Maintenance" ADD COLUMN     "endedAt" TIMESTAMPTZ(3),
ADD COLUMN     "startedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "Monitor" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "serviceId" TEXT,
    "name" TEXT NOT NULL,
    "kind" "MonitorKind" NOT NULL,
    "options" JSONB NOT NULL,
    "intervalSeconds" INTEGER NOT NULL,
    "timeoutMs" INTEGER NOT NULL,
    "failureThreshold" INTEGER NOT NULL,
    "recoveryThreshold" INTEGER NOT NULL,
    "agreement" INTEGER,
    "state" "MonitorState" NOT NULL DEFAULT 'PENDING',
    "stateSince" TIMESTAMPTZ(3) NOT NULL,
    "pausedBy" "PausedBy",
    "heartbeatHash" TEXT,
    "heartbeatToken" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Monitor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Region" (
    "name" TEXT NOT NULL,
    "lastSeenAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Region_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "Watch" (
    "id" TEXT NOT NULL,
    "monitorId" TEXT NOT NULL,
    "region" TEXT NOT NULL,
    "dueAt" TIMESTAMPTZ(3),
    "state" "MonitorState" NOT NULL DEFAULT 'PENDING',
    "stateSince" TIMESTAMPTZ(3) NOT NULL,
    "recent" JSONB NOT NULL DEFAULT '[]',
    "lastCheckedAt" TIMESTAMPTZ(3),
    "lastKnownAt" TIMESTAMPTZ(3),
    "lastOutcome" "ProbeOutcome",
    "lastMessage" TEXT NOT NULL DEFAULT '',
    "lastLatencyMs" INTEGER,
    "startedAt" TIMESTAMPTZ(3),

    CONSTRAINT "Watch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MonitorInterval" (
    "monitorId" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3),
    "state" "MonitorState" NOT NULL,
    "cause" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "MonitorInterval_pkey" PRIMARY KEY ("monitorId","startedAt")
);

-- CreateTable
CREATE TABLE "MonitorGap" (
    "monitorId" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "MonitorGap_pkey" PRIMARY KEY ("monitorId","startedAt")
);

-- CreateTable
CREATE TABLE "ProbeResult" (
    "monitorId" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "region" TEXT NOT NULL,
    "outcome" "ProbeOutcome" NOT NULL,
    "latencyMs" INTEGER,
    "message" TEXT NOT NULL,
    "detail" JSONB,

    CONSTRAINT "ProbeResult_pkey" PRIMARY KEY ("monitorId","at","region")
);

-- CreateTable
CREATE TABLE "MonitorHour" (
    "monitorId" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "up" INTEGER NOT NULL,
    "degraded" INTEGER NOT NULL,
    "down" INTEGER NOT NULL,
    "unknown" INTEGER NOT NULL,
    "latencies" INTEGER[],

    CONSTRAINT "MonitorHour_pkey" PRIMARY KEY ("monitorId","hour")
);

-- CreateTable
CREATE TABLE "UptimeDay" (
    "subjectId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "organizationId" TEXT NOT NULL,
    "up" INTEGER NOT NULL,
    "degraded" INTEGER NOT NULL,
    "down" INTEGER NOT NULL,
    "unknown" INTEGER NOT NULL,
    "maintenance" INTEGER NOT NULL,

    CONSTRAINT "UptimeDay_pkey" PRIMARY KEY ("subjectId","day")
);

-- CreateTable
CREATE TABLE "IncidentMonitor" (
    "incidentId" TEXT NOT NULL,
    "monitorId" TEXT NOT NULL,
    "joinedAt" TIMESTAMPTZ(3) NOT NULL,
    "leftAt" TIMESTAMPTZ(3),

    CONSTRAINT "IncidentMonitor_pkey" PRIMARY KEY ("incidentId","monitorId")
);

-- CreateTable
CREATE TABLE "SealKey" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "fingerprint" TEXT NOT NULL,

    CONSTRAINT "SealKey_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Monitor_heartbeatHash_key" ON "Monitor"("heartbeatHash");

-- CreateIndex
CREATE INDEX "Monitor_organizationId_createdAt_id_idx" ON "Monitor"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "Monitor_serviceId_idx" ON "Monitor"("serviceId");

-- CreateIndex
CREATE INDEX "Watch_monitorId_idx" ON "Watch"("monitorId");

-- CreateIndex
CREATE INDEX "Watch_region_dueAt_idx" ON "Watch"("region", "dueAt");

-- CreateIndex
CREATE INDEX "UptimeDay_organizationId_idx" ON "UptimeDay"("organizationId");

-- CreateIndex
CREATE INDEX "IncidentMonitor_monitorId_leftAt_idx" ON "IncidentMonitor"("monitorId", "leftAt");

-- AddForeignKey
ALTER TABLE "Monitor" ADD CONSTRAINT "Monitor_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Monitor" ADD CONSTRAINT "Monitor_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Watch" ADD CONSTRAINT "Watch_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MonitorInterval" ADD CONSTRAINT "MonitorInterval_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MonitorGap" ADD CONSTRAINT "MonitorGap_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "MonitorHour" ADD CONSTRAINT "MonitorHour_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentMonitor" ADD CONSTRAINT "IncidentMonitor_incidentId_fkey" FOREIGN KEY ("incidentId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncidentMonitor" ADD CONSTRAINT "IncidentMonitor_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What has run so far ran as planned, as far as is known. A maintenance called off before its start never ran.
UPDATE "Maintenance" SET "startedAt" = "startsAt" WHERE "status" IN ('IN_PROGRESS', 'VERIFYING', 'COMPLETED');
UPDATE "Maintenance" SET "endedAt" = "endsAt" WHERE "status" = 'COMPLETED';
