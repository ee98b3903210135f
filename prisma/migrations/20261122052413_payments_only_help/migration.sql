-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "tierFloor" "Tier";

-- AlterTable
ALTER TABLE "PaidSubscription" ADD COLUMN     "isOwn" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "PaymentEvent" ADD COLUMN     "references" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "PaymentReference" (
    "id" TEXT NOT NULL,
    "parentId" TEXT,
    "subscriptionId" TEXT,

    CONSTRAINT "PaymentReference_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CheckoutStart" (
    "organizationId" TEXT NOT NULL,
    "tier" "Tier" NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "CheckoutStart_pkey" PRIMARY KEY ("organizationId","tier","hour")
);

-- CreateIndex
CREATE INDEX "PaymentReference_parentId_idx" ON "PaymentReference"("parentId");

-- CreateIndex
CREATE INDEX "PaymentEvent_references_idx" ON "PaymentEvent" USING GIN ("references");

-- AddForeignKey
ALTER TABLE "CheckoutStart" ADD CONSTRAINT "CheckoutStart_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- What the operator had set last, and no subscription has changed since, is what the operator wants.
UPDATE "Organization" AS organization SET "tierFloor" = organization."tier"
WHERE 'OPERATOR' = (
    SELECT event."actorKind"::text FROM "Event" AS event
    WHERE event."organizationId" = organization."id" AND event."kind" = 'TIER_CHANGED'
    ORDER BY event."seq" DESC LIMIT 1
);
