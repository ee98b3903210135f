-- AlterTable
ALTER TABLE "AlertDelivery" ADD COLUMN     "deferredUntil" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "Delivery_endedAt_idx" ON "Delivery"("endedAt") WHERE ("endedAt" IS NOT NULL);
