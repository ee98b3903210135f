-- AlterTable
ALTER TABLE "Page" ADD COLUMN     "embedOrigins" TEXT[] DEFAULT ARRAY[]::TEXT[];
