import { Prisma } from '../generated/prisma/client.ts'

/** A condition on rows with an `organizationId`: their organization is not deleted. The subquery rarely returns a row. */
export const notDeleted = Prisma.sql`"organizationId" NOT IN (SELECT id FROM "Organization" WHERE "erasureDueAt" IS NOT NULL)`
