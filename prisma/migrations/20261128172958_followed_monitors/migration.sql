-- CreateTable
CREATE TABLE "StalenessScan" (
    "id" INTEGER NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,
    "wholeDueAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StalenessScan_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "FollowedMonitor" (
    "monitorId" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "FollowedMonitor_pkey" PRIMARY KEY ("monitorId")
);

-- CreateIndex
CREATE INDEX "Monitor_unknownSince_idx" ON "Monitor"("unknownSince") WHERE ("unknownSince" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Watch_unknownSince_idx" ON "Watch"("unknownSince") WHERE ("unknownSince" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "FollowedMonitor" ADD CONSTRAINT "FollowedMonitor_monitorId_fkey" FOREIGN KEY ("monitorId") REFERENCES "Monitor"("id") ON DELETE CASCADE ON UPDATE CASCADE;
