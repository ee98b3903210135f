-- AlterEnum
ALTER TYPE "TokenPurpose" ADD VALUE 'HELD_FORM';
