-- AlterEnum
-- This migration adds more than one value to an enum.
-- With PostgreSQL versions 11 and earlier, this is not possible
-- in a single migration. This can be worked around by creating
-- multiple migrations, each migration adding only one value to
-- the enum.


ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_DRAFTED';
ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_PUBLISHED';
ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_UPDATED';
ALTER TYPE "EventKind" ADD VALUE 'POSTMORTEM_WITHDRAWN';

-- CreateTable
CREATE TABLE "Postmortem" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "html" TEXT,
    "htmlVersion" INTEGER NOT NULL DEFAULT 0,
    "translations" JSONB NOT NULL DEFAULT '{}',
    "publishedAt" TIMESTAMPTZ(3),
    "editedAt" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Postmortem_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Postmortem_htmlVersion_idx" ON "Postmortem"("htmlVersion");

-- AddForeignKey
ALTER TABLE "Postmortem" ADD CONSTRAINT "Postmortem_id_fkey" FOREIGN KEY ("id") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;
