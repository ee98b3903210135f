import { Prisma } from '../generated/prisma/client.ts'

// What other rooms may read of people, as tables for their statements: `FROM ${people} AS person`. PostgreSQL merges these
// queries into the statement, so they cost nothing.

/** People, without their secrets. */
export const people = Prisma.sql`(SELECT id, name, email, "isOperator" FROM "User")`

/** The members of organizations. */
export const members = Prisma.sql`(SELECT "organizationId", "userId", role, "createdAt" FROM "Membership")`

/** Sessions, without their hashes. */
export const sessions = Prisma.sql`(SELECT id, "userId", "expiresAt" FROM "Session")`
