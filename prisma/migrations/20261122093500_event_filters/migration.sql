-- CreateIndex
CREATE INDEX "Event_organizationId_kind_seq_idx" ON "Event"("organizationId", "kind", "seq");

-- CreateIndex
CREATE INDEX "Event_organizationId_actorKeyId_seq_idx" ON "Event"("organizationId", "actorKeyId", "seq");

-- CreateIndex
CREATE INDEX "Event_organizationId_at_seq_idx" ON "Event"("organizationId", "at", "seq");
