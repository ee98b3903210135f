-- CreateEnum
CREATE TYPE "IntegrationKind" AS ENUM ('ALERTMANAGER', 'GRAFANA', 'PAGERDUTY', 'PAGERDUTY_EVENTS', 'DATADOG', 'SENTRY', 'SNS', 'UPTIME_KUMA', 'GENERIC');

-- CreateEnum
CREATE TYPE "IncomingMode" AS ENUM ('SUGGEST', 'DRAFT', 'PUBLISH');

-- CreateEnum
CREATE TYPE "IncomingStatus" AS ENUM ('PENDING', 'DONE', 'IGNORED', 'REFUSED');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'INTEGRATION_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'INTEGRATION_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'INTEGRATION_DELETED';

-- CreateTable
CREATE TABLE "Integration" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" "IntegrationKind" NOT NULL,
    "hash" TEXT NOT NULL,
    "signingSecret" TEXT,
    "rules" JSONB NOT NULL,
    "paths" JSONB NOT NULL DEFAULT '{}',
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "lastReceivedAt" TIMESTAMPTZ(3),
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "Integration_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "IncomingBody" (
    "id" TEXT NOT NULL,
    "integrationId" TEXT NOT NULL,
    "position" SERIAL NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "body" TEXT NOT NULL,
    "status" "IncomingStatus" NOT NULL DEFAULT 'PENDING',
    "note" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "IncomingBody_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "IncomingGroup" (
    "integrationId" TEXT NOT NULL,
    "keyHash" TEXT NOT NULL,
    "isFiring" BOOLEAN NOT NULL,
    "routing" TEXT NOT NULL,
    "incidentId" TEXT,
    "incidentVersion" INTEGER NOT NULL DEFAULT 0,
    "firedAt" TIMESTAMPTZ(3) NOT NULL,
    "resolvedAt" TIMESTAMPTZ(3),

    CONSTRAINT "IncomingGroup_pkey" PRIMARY KEY ("integrationId","keyHash")
);

-- CreateIndex
CREATE UNIQUE INDEX "Integration_hash_key" ON "Integration"("hash");

-- CreateIndex
CREATE INDEX "Integration_organizationId_createdAt_id_idx" ON "Integration"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "Integration_dueAt_idx" ON "Integration"("dueAt");

-- CreateIndex
CREATE INDEX "IncomingBody_integrationId_position_idx" ON "IncomingBody"("integrationId", "position");

-- CreateIndex
CREATE INDEX "IncomingBody_integrationId_status_position_idx" ON "IncomingBody"("integrationId", "status", "position");

-- CreateIndex
CREATE INDEX "IncomingBody_receivedAt_idx" ON "IncomingBody"("receivedAt");

-- CreateIndex
CREATE INDEX "IncomingGroup_integrationId_incidentId_idx" ON "IncomingGroup"("integrationId", "incidentId");

-- CreateIndex
CREATE INDEX "IncomingGroup_resolvedAt_idx" ON "IncomingGroup"("resolvedAt");

-- AddForeignKey
ALTER TABLE "Integration" ADD CONSTRAINT "Integration_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncomingBody" ADD CONSTRAINT "IncomingBody_integrationId_fkey" FOREIGN KEY ("integrationId") REFERENCES "Integration"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IncomingGroup" ADD CONSTRAINT "IncomingGroup_integrationId_fkey" FOREIGN KEY ("integrationId") REFERENCES "Integration"("id") ON DELETE CASCADE ON UPDATE CASCADE;
