import { Prisma } from '../../generated/prisma/client.ts'

/** Selects `deletedAt` and these columns of an organization, and locks its row. The columns are SQL. */
export const lockOrganization = (id: string, columns: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`SELECT "deletedAt", ${columns} FROM "Organization" WHERE id = ${id} FOR NO KEY UPDATE`

/** Advances the end of an organization's log by a number of events, and returns it. */
export const advanceLog = (id: string, count: number): Prisma.Sql =>
  Prisma.sql`UPDATE "Organization" SET "lastSeq" = "lastSeq" + ${count} WHERE id = ${id} RETURNING "lastSeq"`

/** Records that events up to a time may be gone, if the condition is true. Both are SQL. */
export const markEventsDeleted = (id: string, until: Prisma.Sql, condition: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`UPDATE "Organization" SET "eventsSince" = greatest("eventsSince", ${until}) WHERE id = ${id} AND ${condition}`

/** The ends of all logs, as a table. */
export const logEnds = Prisma.sql`(SELECT id, "lastSeq", "eventsSince" FROM "Organization") AS log`

/** Whether an API key was revoked. @param id null: there is no key. */
export const isKeyRevoked = (id: string | null): Prisma.Sql =>
  Prisma.sql`EXISTS (SELECT FROM "ApiKey" WHERE id = ${id} AND "revokedAt" IS NOT NULL)`
