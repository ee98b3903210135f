-- AlterEnum
ALTER TYPE "UnmatchedReason" ADD VALUE 'PAID_LATE';
ALTER TYPE "UnmatchedReason" ADD VALUE 'PAID_IN_PART';
