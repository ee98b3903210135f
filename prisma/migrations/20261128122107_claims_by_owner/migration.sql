-- DropIndex
DROP INDEX "PushDelivery_organizationId_idx";

-- CreateIndex
CREATE INDEX "AlertDelivery_organizationId_dueAt_id_idx" ON "AlertDelivery"("organizationId", "dueAt", "id") WHERE ("dueAt" IS NOT NULL);

-- CreateIndex
CREATE INDEX "AlertDelivery_channelId_thread_position_idx" ON "AlertDelivery"("channelId", "thread", "position") WHERE ("status" = 'PENDING');

-- CreateIndex
CREATE INDEX "Delivery_organizationId_dueAt_id_idx" ON "Delivery"("organizationId", "dueAt", "id") WHERE ("dueAt" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Delivery_subscriberId_subjectId_seq_idx" ON "Delivery"("subscriberId", "subjectId", "seq") WHERE ("status" = 'PENDING');

-- CreateIndex
CREATE INDEX "PushDelivery_organizationId_dueAt_id_idx" ON "PushDelivery"("organizationId", "dueAt", "id");
