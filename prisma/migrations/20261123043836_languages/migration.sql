-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "defaultLanguage" TEXT NOT NULL DEFAULT 'EN',
ADD COLUMN     "languages" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "Subscriber" ADD COLUMN     "language" TEXT NOT NULL DEFAULT 'EN';
