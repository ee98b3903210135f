-- CreateTable
CREATE TABLE "HeartbeatReceiver" (
    "id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "lastAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "HeartbeatReceiver_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "HeartbeatGap" (
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "endedAt" TIMESTAMPTZ(3) NOT NULL,
    "isRefusal" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "HeartbeatGap_pkey" PRIMARY KEY ("startedAt")
);

-- CreateIndex
CREATE INDEX "HeartbeatGap_endedAt_idx" ON "HeartbeatGap"("endedAt");
