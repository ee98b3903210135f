-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "checkPlanReminderAt" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "Organization_checkPlanReminderAt_idx" ON "Organization"("checkPlanReminderAt");

-- Who has paid for a plan that has not ended is reminded of its end: within its last week at once, for nobody has been yet.
UPDATE "Organization" SET "checkPlanReminderAt" = "checkPlanUntil" - INTERVAL '168 hours'
WHERE "checkPlan" = 'PRO' AND "checkPlanUntil" > now() AND EXISTS (
  SELECT 1 FROM "CheckPlanInvoice" AS invoice
  WHERE invoice."organizationId" = "Organization".id AND invoice."grantedAt" IS NOT NULL);
