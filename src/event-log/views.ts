import { Prisma } from '../generated/prisma/client.ts'

/**
 * The events of all logs, as a table for the statements of other rooms: `FROM ${events} AS event`. PostgreSQL merges the
 * query into the statement, so it costs nothing.
 */
export const events = Prisma.sql`(
  SELECT "organizationId", seq, kind, at, since, "actorKind", "actorKeyId", "actorUserId", "subjectId", "subjectName", "updateId",
    "tellSubscribers", "serviceIds" FROM "Event")`
