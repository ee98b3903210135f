-- AlterTable
ALTER TABLE "Service" ADD COLUMN     "statedAt" TIMESTAMPTZ(3);

-- What was published until now stays: a service without monitors was operational from its creation on.
UPDATE "Service" SET "statedAt" = "createdAt";
