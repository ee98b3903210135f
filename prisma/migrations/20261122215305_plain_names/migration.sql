ALTER TABLE "Notice" RENAME TO "NotificationPayload";
ALTER TABLE "NotificationPayload" RENAME CONSTRAINT "Notice_pkey" TO "NotificationPayload_pkey";
ALTER INDEX "Notice_createdAt_idx" RENAME TO "NotificationPayload_createdAt_idx";

ALTER TABLE "Watch" RENAME COLUMN "steadiness" TO "stability";
UPDATE "Watch" SET "stability" = ("stability" - 'pieces') || jsonb_build_object('intervals', "stability"->'pieces')
WHERE "stability" ? 'pieces';

UPDATE "ProbeResult" SET "detail" = ("detail" - 'said') || jsonb_build_object('output', "detail"->'said')
WHERE "detail" ? 'said';
