-- AlterEnum
ALTER TYPE "MonitorKind" ADD VALUE 'GRPC';
