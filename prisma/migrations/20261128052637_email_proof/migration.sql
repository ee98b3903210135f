-- AlterTable
ALTER TABLE "ApiKey" ADD COLUMN     "createdById" TEXT;

-- AlterTable
ALTER TABLE "Invitation" ADD COLUMN     "mailedHash" TEXT;

-- AlterTable
ALTER TABLE "PageToken" ADD COLUMN     "createdById" TEXT;

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "emailProvenAt" TIMESTAMPTZ(3),
ADD COLUMN     "generation" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "ApiKey_createdById_idx" ON "ApiKey"("createdById");

-- CreateIndex
CREATE UNIQUE INDEX "Invitation_mailedHash_key" ON "Invitation"("mailedHash");

-- CreateIndex
CREATE INDEX "PageToken_createdById_idx" ON "PageToken"("createdById");

-- AddForeignKey
ALTER TABLE "PageToken" ADD CONSTRAINT "PageToken_createdById_fkey" FOREIGN KEY ("createdById") REFERENCES "User"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApiKey" ADD CONSTRAINT "ApiKey_createdById_fkey" FOREIGN KEY ("createdById") REFERENCES "User"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- The log knows who created the existing keys and read tokens. No address is proven yet: nothing recorded how it was shown.
UPDATE "ApiKey" SET "createdById" = created."actorUserId" FROM "Event" AS created
  WHERE created."organizationId" = "ApiKey"."organizationId" AND created."subjectId" = "ApiKey".id
    AND created.kind = 'API_KEY_CREATED' AND created."actorUserId" IN (SELECT id FROM "User");
UPDATE "PageToken" SET "createdById" = created."actorUserId" FROM "Event" AS created
  WHERE created."organizationId" = "PageToken"."organizationId" AND created."subjectId" = "PageToken".id
    AND created.kind = 'PAGE_TOKEN_CREATED' AND created."actorUserId" IN (SELECT id FROM "User");
