-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "pageId" TEXT NOT NULL DEFAULT ('pag_'::text || "left"(replace((gen_random_uuid())::text, '-'::text, ''::text), 24));

-- CreateIndex
CREATE UNIQUE INDEX "Organization_pageId_key" ON "Organization"("pageId");
