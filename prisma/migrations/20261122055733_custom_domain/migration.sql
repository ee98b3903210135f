-- CreateEnum
CREATE TYPE "DomainState" AS ENUM ('PENDING', 'PROVEN', 'LOST');

-- CreateEnum
CREATE TYPE "DomainProof" AS ENUM ('TXT', 'PATH');

-- CreateTable
CREATE TABLE "CustomDomain" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "state" "DomainState" NOT NULL,
    "provenBy" "DomainProof",
    "requestedAt" TIMESTAMPTZ(3) NOT NULL,
    "checkedAt" TIMESTAMPTZ(3),
    "failingSince" TIMESTAMPTZ(3),
    "lostAt" TIMESTAMPTZ(3),
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "CustomDomain_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "CustomDomain_organizationId_key" ON "CustomDomain"("organizationId");

-- CreateIndex
CREATE INDEX "CustomDomain_name_idx" ON "CustomDomain"("name");

-- CreateIndex
CREATE INDEX "CustomDomain_dueAt_idx" ON "CustomDomain"("dueAt");

-- AddForeignKey
ALTER TABLE "CustomDomain" ADD CONSTRAINT "CustomDomain_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Domains that were served without proof are asked for by that, and served again once they are proven.
INSERT INTO "CustomDomain" ("id", "organizationId", "name", "token", "state", "requestedAt", "dueAt")
SELECT 'dom_' || left(md5(gen_random_uuid()::text), 24), "id", "customDomain", replace(gen_random_uuid()::text, '-', ''),
  'PENDING', now(), now()
FROM "Organization" WHERE "customDomain" IS NOT NULL;
UPDATE "Organization" SET "customDomain" = NULL WHERE "customDomain" IS NOT NULL;
