ALTER TYPE "EventKind" ADD VALUE 'PAGE_CREATED';
ALTER TYPE "EventKind" ADD VALUE 'PAGE_DELETED';

-- DropForeignKey
ALTER TABLE "CustomDomain" DROP CONSTRAINT "CustomDomain_organizationId_fkey";

-- DropIndex
DROP INDEX "CustomDomain_organizationId_key";

-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "serviceIds" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "Page" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "isFirst" BOOLEAN NOT NULL DEFAULT false,
    "name" TEXT,
    "description" TEXT,
    "accentColor" TEXT,
    "logoUrl" TEXT,
    "links" JSONB,
    "uptimeSource" "UptimeSource",
    "allServices" BOOLEAN NOT NULL DEFAULT true,
    "customDomain" TEXT,
    "version" INTEGER NOT NULL DEFAULT 1,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Page_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PageService" (
    "pageId" TEXT NOT NULL,
    "serviceId" TEXT NOT NULL,
    "position" INTEGER NOT NULL,

    CONSTRAINT "PageService_pkey" PRIMARY KEY ("pageId","serviceId")
);

-- Every organization has a first page, with its slug.
INSERT INTO "Page" (id, "organizationId", slug, "isFirst", "customDomain", "createdAt")
SELECT "pageId", id, slug, true, "customDomain", "createdAt" FROM "Organization";

CREATE FUNCTION first_page() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "Page" (id, "organizationId", slug, "isFirst", "createdAt")
    VALUES (NEW."pageId", NEW.id, NEW.slug, true, NEW."createdAt");
  ELSE
    UPDATE "Page" SET slug = NEW.slug WHERE id = NEW."pageId";
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER first_page AFTER INSERT OR UPDATE OF slug ON "Organization" FOR EACH ROW EXECUTE FUNCTION first_page();

-- The domain becomes that of the first page.
ALTER TABLE "CustomDomain" ADD COLUMN "pageId" TEXT;
UPDATE "CustomDomain" SET "pageId" = (SELECT "pageId" FROM "Organization" WHERE id = "CustomDomain"."organizationId");
ALTER TABLE "CustomDomain" ALTER COLUMN "pageId" SET NOT NULL;
DROP INDEX "Organization_customDomain_key";
ALTER TABLE "Organization" DROP COLUMN "customDomain";

-- CreateIndex
CREATE UNIQUE INDEX "Page_slug_key" ON "Page"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "Page_customDomain_key" ON "Page"("customDomain");

-- CreateIndex
CREATE INDEX "Page_organizationId_createdAt_id_idx" ON "Page"("organizationId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "PageService_serviceId_idx" ON "PageService"("serviceId");

-- CreateIndex
CREATE UNIQUE INDEX "CustomDomain_pageId_key" ON "CustomDomain"("pageId");

-- CreateIndex
CREATE INDEX "CustomDomain_organizationId_idx" ON "CustomDomain"("organizationId");

-- AddForeignKey
ALTER TABLE "Page" ADD CONSTRAINT "Page_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PageService" ADD CONSTRAINT "PageService_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PageService" ADD CONSTRAINT "PageService_serviceId_fkey" FOREIGN KEY ("serviceId") REFERENCES "Service"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CustomDomain" ADD CONSTRAINT "CustomDomain_pageId_fkey" FOREIGN KEY ("pageId") REFERENCES "Page"("id") ON DELETE CASCADE ON UPDATE CASCADE;
