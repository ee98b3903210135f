-- AlterTable
ALTER TABLE "Organization" ALTER COLUMN "uptimeSource" SET DEFAULT 'MONITORS_AND_INCIDENTS';

-- The former default becomes the new one. Nobody chose it over a default that counts declared incidents, because there was none.
UPDATE "Organization" SET "uptimeSource" = 'MONITORS_AND_INCIDENTS' WHERE "uptimeSource" = 'MONITORS';
