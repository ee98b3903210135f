import { port } from '../core/port.ts'
import type { Prisma } from '../generated/prisma/client.ts'

/**
 * The statements about tables of rooms above, whose owners write them. The row of an organization is the head of its
 * log: it is locked by changes, numbers the events, and says since when the log is complete.
 */
export interface LogOwner {
  /**
   * Selects `deletedAt` and `columns` of an organization, and locks its row until the end of the transaction.
   * @param columns more columns, as SQL.
   */
  readonly lock: (organizationId: string, columns: Prisma.Sql) => Prisma.Sql
  /** Advances the position of a log's end by a number of events, and returns it as `lastSeq`. */
  readonly advance: (organizationId: string, count: number) => Prisma.Sql
  /** Records that events up to a time may be gone, if the condition is true. */
  readonly markDeleted: (organizationId: string, until: Prisma.Sql, condition: Prisma.Sql) => Prisma.Sql
  /** The ends of logs as a table with `id`, `lastSeq` and `eventsSince`. */
  readonly ends: Prisma.Sql
  /** Whether the caller's key was revoked, as an SQL condition. @param keyId null: it has none. */
  readonly isKeyRevoked: (keyId: string | null) => Prisma.Sql
  /** Whether a person's session has ended or their role has changed, as an SQL condition. @param sessionId null: none. */
  readonly isSessionOver: (sessionId: string | null, organizationId: string, role: string | null) => Prisma.Sql
  /** The position up to which a log was dispatched, as an SQL expression; null: it is not dispatched. */
  readonly dispatchedUntil: (organizationId: string) => Prisma.Sql
  /** The services of an event's subject, as an SQL array; `*` for a subject that affects all pages. @param subjectId as SQL. */
  readonly servicesOf: (subjectId: Prisma.Sql) => Prisma.Sql
}

/** The statements about tables of rooms above. */
export const logOwner = port<LogOwner>('the statements that the event log needs')
