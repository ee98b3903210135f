-- AlterEnum
ALTER TYPE "MonitorKind" ADD VALUE 'GROUP';
