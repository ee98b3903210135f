-- AlterTable: every logo so far is that of the first page.
ALTER TABLE "Logo" DROP CONSTRAINT "Logo_pkey",
ADD COLUMN     "pageId" TEXT;
UPDATE "Logo" SET "pageId" = owner."pageId" FROM "Organization" AS owner WHERE owner.id = "organizationId";
ALTER TABLE "Logo" ALTER COLUMN "pageId" SET NOT NULL,
ADD CONSTRAINT "Logo_pkey" PRIMARY KEY ("pageId");

-- CreateIndex
CREATE INDEX "Logo_organizationId_idx" ON "Logo"("organizationId");

-- AddForeignKey
ALTER TABLE "Logo" ADD CONSTRAINT "Logo_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What deleted pages left behind.
DELETE FROM "PageAccess" WHERE "pageId" NOT IN (SELECT id FROM "Page");
DELETE FROM "PageToken" WHERE "pageId" NOT IN (SELECT id FROM "Page");

-- AddForeignKey
ALTER TABLE "PageAccess" ADD CONSTRAINT "PageAccess_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PageToken" ADD CONSTRAINT "PageToken_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;
