-- AlterEnum
ALTER TYPE "MonitorKind" ADD VALUE 'DOMAIN';
