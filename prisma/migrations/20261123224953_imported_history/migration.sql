-- AlterEnum
ALTER TYPE "EventKind" ADD VALUE 'HISTORY_IMPORTED';

-- CreateTable
CREATE TABLE "ImportedHistory" (
    "serviceId" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "since" DATE NOT NULL,
    "up" INTEGER[],
    "down" INTEGER[],
    "maintenance" INTEGER[],
    "importedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ImportedHistory_pkey" PRIMARY KEY ("serviceId")
);

-- CreateIndex
CREATE INDEX "ImportedHistory_organizationId_idx" ON "ImportedHistory"("organizationId");

-- AddForeignKey
ALTER TABLE "ImportedHistory" ADD CONSTRAINT "ImportedHistory_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;
