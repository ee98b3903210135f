import { Prisma } from '../../generated/prisma/client.ts'

/** The position up to which an organization's log was dispatched; null: it is not dispatched. */
export const dispatchedUntil = (organizationId: string): Prisma.Sql =>
  Prisma.sql`(SELECT seq FROM "Dispatch" WHERE "organizationId" = ${organizationId})`
