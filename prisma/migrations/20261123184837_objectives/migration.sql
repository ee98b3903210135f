-- CreateEnum
CREATE TYPE "CorrectionKind" AS ENUM ('GOOD', 'BAD', 'EXCLUDED');

-- CreateEnum
CREATE TYPE "BurnSpeed" AS ENUM ('FAST', 'SLOW', 'STEADY');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "AlertChange" ADD VALUE 'BUDGET_BURNING';
ALTER TYPE "AlertChange" ADD VALUE 'BUDGET_RECOVERED';

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'OBJECTIVE_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'OBJECTIVE_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'OBJECTIVE_DELETED';
ALTER TYPE "EventKind" ADD VALUE 'OBJECTIVE_BURNING';
ALTER TYPE "EventKind" ADD VALUE 'OBJECTIVE_RECOVERED';
ALTER TYPE "EventKind" ADD VALUE 'UPTIME_CORRECTED';
ALTER TYPE "EventKind" ADD VALUE 'UPTIME_CORRECTION_DELETED';

-- CreateTable
CREATE TABLE "Objective" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "target" INTEGER NOT NULL,
    "windowDays" INTEGER,
    "timeZone" TEXT NOT NULL,
    "burnSpeed" "BurnSpeed",
    "burningSince" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "Objective_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "UptimeCorrection" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "startsAt" TIMESTAMPTZ(3) NOT NULL,
    "endsAt" TIMESTAMPTZ(3) NOT NULL,
    "kind" "CorrectionKind" NOT NULL,
    "reason" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UptimeCorrection_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Objective_organizationId_createdAt_id_idx" ON "Objective"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "Objective_serviceId_idx" ON "Objective"("serviceId");

-- CreateIndex
CREATE INDEX "Objective_dueAt_idx" ON "Objective"("dueAt");

-- CreateIndex
CREATE INDEX "UptimeCorrection_organizationId_createdAt_id_idx" ON "UptimeCorrection"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "UptimeCorrection_serviceId_startsAt_idx" ON "UptimeCorrection"("serviceId", "startsAt");

-- AddForeignKey
ALTER TABLE "Objective" ADD CONSTRAINT "Objective_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Objective" ADD CONSTRAINT "Objective_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UptimeCorrection" ADD CONSTRAINT "UptimeCorrection_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UptimeCorrection" ADD CONSTRAINT "UptimeCorrection_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;
