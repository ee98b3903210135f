-- AlterTable
ALTER TABLE "Subscriber" ADD COLUMN     "pageId" TEXT;

-- CreateIndex
CREATE INDEX "Subscriber_pageId_idx" ON "Subscriber"("pageId");

-- AddForeignKey
ALTER TABLE "Subscriber" ADD CONSTRAINT "Subscriber_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;
