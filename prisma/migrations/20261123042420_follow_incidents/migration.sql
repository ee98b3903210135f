-- CreateTable
CREATE TABLE "SubscriberIncident" (
    "subscriberId" TEXT NOT NULL,
    "incidentId" TEXT NOT NULL,

    CONSTRAINT "SubscriberIncident_pkey" PRIMARY KEY ("subscriberId","incidentId")
);

-- CreateIndex
CREATE INDEX "SubscriberIncident_incidentId_idx" ON "SubscriberIncident"("incidentId");

-- AddForeignKey
ALTER TABLE "SubscriberIncident" ADD CONSTRAINT "SubscriberIncident_subscriberId_fkey" FOREIGN KEY ("subscriberId") REFERENCES "Subscriber"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SubscriberIncident" ADD CONSTRAINT "SubscriberIncident_incidentId_fkey" FOREIGN KEY ("incidentId") REFERENCES "Incident"("id") ON DELETE CASCADE ON UPDATE CASCADE;
