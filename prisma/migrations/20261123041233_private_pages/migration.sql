-- CreateEnum
CREATE TYPE "PageAccessKind" AS ENUM ('PUBLIC', 'PASSWORD', 'MEMBERS', 'MAIL_DOMAIN', 'ADDRESSES');

-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'PAGE_ACCESS_CHANGED';
ALTER TYPE "EventKind" ADD VALUE 'PAGE_TOKEN_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'PAGE_TOKEN_REVOKED';

-- AlterEnum
ALTER TYPE "TokenPurpose" ADD VALUE 'PAGE_ACCESS';

-- CreateTable
CREATE TABLE "PageAccess" (
    "pageId" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "kind" "PageAccessKind" NOT NULL,
    "passwordHash" TEXT,
    "mailDomains" TEXT[],
    "ranges" TEXT[],
    "generation" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "PageAccess_pkey" PRIMARY KEY ("pageId")
);

-- CreateTable
CREATE TABLE "PageToken" (
    "id" TEXT NOT NULL,
    "pageId" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),

    CONSTRAINT "PageToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "PageAccess_organizationId_idx" ON "PageAccess"("organizationId");

-- CreateIndex
CREATE UNIQUE INDEX "PageToken_hash_key" ON "PageToken"("hash");

-- CreateIndex
CREATE INDEX "PageToken_pageId_createdAt_id_idx" ON "PageToken"("pageId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "PageToken_organizationId_idx" ON "PageToken"("organizationId");

-- AddForeignKey
ALTER TABLE "PageAccess" ADD CONSTRAINT "PageAccess_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PageToken" ADD CONSTRAINT "PageToken_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
