-- CreateTable
CREATE TABLE "Logo" (
    "organizationId" TEXT NOT NULL,
    "file" TEXT NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "Logo_pkey" PRIMARY KEY ("organizationId")
);

-- CreateIndex
CREATE INDEX "Logo_file_idx" ON "Logo"("file");

-- AddForeignKey
ALTER TABLE "Logo" ADD CONSTRAINT "Logo_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;
