-- CreateTable
CREATE TABLE "VapidKey" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "publicKey" TEXT NOT NULL,
    "privateKey" TEXT NOT NULL,

    CONSTRAINT "VapidKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PushBrowser" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "sessionId" TEXT NOT NULL,
    "endpointHash" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "subscription" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PushBrowser_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PushDelivery" (
    "id" TEXT NOT NULL,
    "browserId" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "subjectId" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PushDelivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "PushBrowser_sessionId_key" ON "PushBrowser"("sessionId");

-- CreateIndex
CREATE UNIQUE INDEX "PushBrowser_endpointHash_key" ON "PushBrowser"("endpointHash");

-- CreateIndex
CREATE INDEX "PushBrowser_userId_idx" ON "PushBrowser"("userId");

-- CreateIndex
CREATE INDEX "PushDelivery_dueAt_idx" ON "PushDelivery"("dueAt");

-- CreateIndex
CREATE INDEX "PushDelivery_browserId_subjectId_idx" ON "PushDelivery"("browserId", "subjectId");

-- CreateIndex
CREATE INDEX "PushDelivery_organizationId_idx" ON "PushDelivery"("organizationId");

-- AddForeignKey
ALTER TABLE "PushBrowser" ADD CONSTRAINT "PushBrowser_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PushBrowser" ADD CONSTRAINT "PushBrowser_sessionId_fkey" FOREIGN KEY ("sessionId") REFERENCES "Session"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PushDelivery" ADD CONSTRAINT "PushDelivery_browserId_fkey" FOREIGN KEY ("browserId") REFERENCES "PushBrowser"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PushDelivery" ADD CONSTRAINT "PushDelivery_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
