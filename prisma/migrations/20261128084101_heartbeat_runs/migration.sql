-- CreateTable
CREATE TABLE "HeartbeatRun" (
    "watchId" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "HeartbeatRun_pkey" PRIMARY KEY ("watchId","runId")
);

-- AddForeignKey
ALTER TABLE "HeartbeatRun" ADD CONSTRAINT "HeartbeatRun_watchId_fkey" FOREIGN KEY ("watchId") REFERENCES "Watch"("id") ON DELETE CASCADE ON UPDATE CASCADE;
