-- AlterEnum
ALTER TYPE "MonitorKind" ADD VALUE 'MONGODB';
