-- CreateEnum
CREATE TYPE "TemplateKind" AS ENUM ('INCIDENT', 'UPDATE', 'MAINTENANCE');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'TEMPLATE_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'TEMPLATE_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'TEMPLATE_DELETED';

-- CreateTable
CREATE TABLE "Template" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "kind" "TemplateKind" NOT NULL,
    "name" TEXT NOT NULL,
    "title" TEXT NOT NULL DEFAULT '',
    "message" TEXT NOT NULL,
    "translations" JSONB NOT NULL DEFAULT '{}',
    "status" "IncidentStatus",
    "impact" "IncidentImpact",
    "tellSubscribers" BOOLEAN NOT NULL DEFAULT true,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Template_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "TemplateService" (
    "templateId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "status" "ServiceStatus",

    CONSTRAINT "TemplateService_pkey" PRIMARY KEY ("templateId","serviceId")
);

-- CreateIndex
CREATE UNIQUE INDEX "Template_organizationId_kind_name_key" ON "Template"("organizationId", "kind", "name");

-- CreateIndex
CREATE INDEX "TemplateService_serviceId_idx" ON "TemplateService"("serviceId");

-- AddForeignKey
ALTER TABLE "Template" ADD CONSTRAINT "Template_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TemplateService" ADD CONSTRAINT "TemplateService_templateId_fkey" FOREIGN KEY ("templateId") REFERENCES "Template"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "TemplateService" ADD CONSTRAINT "TemplateService_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;
