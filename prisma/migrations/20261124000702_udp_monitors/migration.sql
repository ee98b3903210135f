-- AlterEnum
ALTER TYPE "MonitorKind" ADD VALUE 'UDP';
