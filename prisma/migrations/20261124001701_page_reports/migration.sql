-- AlterEnum
ALTER TYPE "EventKind" ADD VALUE 'REPORT_CREATED';

-- AlterEnum
ALTER TYPE "Topic" ADD VALUE 'REPORTS';

-- AlterTable
ALTER TABLE "Page" ADD COLUMN     "publishesReports" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "reportedMonth" TEXT;

-- CreateTable
CREATE TABLE "PageReport" (
    "pageId" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PageReport_pkey" PRIMARY KEY ("pageId","month")
);

-- AddForeignKey
ALTER TABLE "PageReport" ADD CONSTRAINT "PageReport_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;
