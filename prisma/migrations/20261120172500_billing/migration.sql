-- CreateEnum
CREATE TYPE "PaymentProvider" AS ENUM ('STRIPE', 'BTCPAY');

-- CreateEnum
CREATE TYPE "PaymentOutcome" AS ENUM ('APPLIED', 'IGNORED', 'UNMATCHED');

-- CreateEnum
CREATE TYPE "UnmatchedReason" AS ENUM ('NO_REFERENCE', 'UNKNOWN_ORGANIZATION', 'UNKNOWN_SUBSCRIPTION', 'UNKNOWN_AMOUNT', 'NO_SUBSCRIPTION');

-- CreateEnum
CREATE TYPE "SubscriptionStatus" AS ENUM ('INCOMPLETE', 'INCOMPLETE_EXPIRED', 'TRIALING', 'ACTIVE', 'PAST_DUE', 'UNPAID', 'PAUSED', 'CANCELED');

-- CreateEnum
CREATE TYPE "CheckPlanCurrency" AS ENUM ('BTC', 'LTC');

-- CreateEnum
CREATE TYPE "InvoiceStatus" AS ENUM ('NEW', 'PROCESSING', 'SETTLED', 'EXPIRED', 'INVALID');

-- CreateTable
CREATE TABLE "PaymentEvent" (
    "id" TEXT NOT NULL,
    "provider" "PaymentProvider" NOT NULL,
    "type" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "receivedAt" TIMESTAMPTZ(3) NOT NULL,
    "payload" TEXT NOT NULL,
    "objectId" TEXT,
    "organizationId" TEXT,
    "amount" INTEGER,
    "currency" TEXT,
    "email" TEXT,
    "outcome" "PaymentOutcome" NOT NULL,
    "reason" "UnmatchedReason",
    "assignedAt" TIMESTAMPTZ(3),

    CONSTRAINT "PaymentEvent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PaidSubscription" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT,
    "state" JSONB NOT NULL,
    "status" "SubscriptionStatus",
    "paysFor" "Tier",
    "currentPeriodEnd" TIMESTAMPTZ(3),
    "cancelAtPeriodEnd" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PaidSubscription_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CheckPlanInvoice" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT,
    "currency" "CheckPlanCurrency" NOT NULL,
    "email" TEXT NOT NULL,
    "providerId" TEXT,
    "checkoutUrl" TEXT,
    "status" "InvoiceStatus" NOT NULL DEFAULT 'NEW',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "settledAt" TIMESTAMPTZ(3),
    "grantedAt" TIMESTAMPTZ(3),
    "secretHash" TEXT,
    "claimedAt" TIMESTAMPTZ(3),
    "dueAt" TIMESTAMPTZ(3),

    CONSTRAINT "CheckPlanInvoice_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "PaymentEvent_outcome_receivedAt_id_idx" ON "PaymentEvent"("outcome", "receivedAt" DESC, "id");

-- CreateIndex
CREATE INDEX "PaymentEvent_objectId_outcome_idx" ON "PaymentEvent"("objectId", "outcome");

-- CreateIndex
CREATE INDEX "PaidSubscription_organizationId_createdAt_id_idx" ON "PaidSubscription"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "CheckPlanInvoice_providerId_key" ON "CheckPlanInvoice"("providerId");

-- CreateIndex
CREATE INDEX "CheckPlanInvoice_organizationId_createdAt_id_idx" ON "CheckPlanInvoice"("organizationId", "createdAt" DESC, "id");

-- CreateIndex
CREATE INDEX "CheckPlanInvoice_dueAt_idx" ON "CheckPlanInvoice"("dueAt");

-- AddForeignKey
ALTER TABLE "PaymentEvent" ADD CONSTRAINT "PaymentEvent_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PaidSubscription" ADD CONSTRAINT "PaidSubscription_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CheckPlanInvoice" ADD CONSTRAINT "CheckPlanInvoice_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
