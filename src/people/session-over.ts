import { Prisma } from '../generated/prisma/client.ts'

/** Whether a session has ended, or its person no longer has this role in an organization. @param sessionId null: no. */
export const isSessionOver = (sessionId: string | null, organizationId: string, role: string | null): Prisma.Sql =>
  Prisma.sql`(${sessionId}::text IS NOT NULL AND NOT EXISTS (
    SELECT FROM "Session" JOIN "Membership" USING ("userId")
    WHERE "Session".id = ${sessionId} AND "Membership"."organizationId" = ${organizationId} AND role::text = ${role}))`
