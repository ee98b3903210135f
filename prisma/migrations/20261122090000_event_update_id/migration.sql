ALTER TABLE "Event" RENAME COLUMN "entryId" TO "updateId";
