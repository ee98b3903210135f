-- CreateTable
CREATE TABLE "ManagedObject" (
    "organizationId" TEXT NOT NULL,
    "section" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "file" TEXT NOT NULL,
    "objectId" TEXT NOT NULL,
    "given" TEXT NOT NULL,
    "fields" JSONB NOT NULL,
    "appliedSeq" INTEGER NOT NULL,

    CONSTRAINT "ManagedObject_pkey" PRIMARY KEY ("organizationId","section","key")
);

-- AddForeignKey
ALTER TABLE "ManagedObject" ADD CONSTRAINT "ManagedObject_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
