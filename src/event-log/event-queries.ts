import type { Context } from '../core/context.ts'
import { plainRows } from '../database/transaction.ts'
import type { Event } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import type { EventKind } from '../generated/prisma/enums.ts'
import { logOwner } from './log-owner.ts'

type Db = Pick<Context, 'db'>

/** The filter of `listEvents`. */
export interface EventSearch {
  /** The kind of events; undefined: every kind. */
  readonly kind: EventKind | undefined
  /** The list starts with the event before this position; null: with the newest event. */
  readonly before: number | null
  readonly limit: number
}

/** Returns events of an organization's log, newest first. */
export function listEvents({ db }: Db, organizationId: string, { kind, before, limit }: EventSearch): Promise<Event[]> {
  return db.event.findMany({
    where: { organizationId, ...(kind && { kind }), ...(before !== null && { seq: { lt: before } }) },
    orderBy: { seq: 'desc' },
    take: limit,
  })
}

/** The subject of an event. */
export type EventSubject = Pick<Event, 'kind' | 'subjectName' | 'subjectId'>

/** Returns the subjects of the events at these positions of an organization's log. Deleted events are left out. */
export async function readEventSubjects(
  { db }: Db,
  organizationId: string,
  positions: readonly number[],
): Promise<ReadonlyMap<number, EventSubject>> {
  if (positions.length === 0) return new Map()
  const found = await db.event.findMany({
    where: { organizationId, seq: { in: [...new Set(positions)] } },
    select: { seq: true, kind: true, subjectName: true, subjectId: true },
  })
  return new Map(found.map(({ seq, ...event }) => [seq, event]))
}

/**
 * Returns the time from which an organization's log is complete, if the event after a position was deleted because of
 * its age; null: the event still exists, or the position is that of the newest event.
 */
export async function deletedAfter({ db }: Db, organizationId: string, position: number): Promise<Date | null> {
  const [log] = await plainRows<{ lastSeq: number; eventsSince: Date | null }>(
    db,
    Prisma.sql`SELECT "lastSeq", "eventsSince" FROM ${logOwner.get().ends} WHERE id = ${organizationId}`,
  )
  if (log === undefined || log.eventsSince === null || position >= log.lastSeq) return null
  const where = { organizationId_seq: { organizationId, seq: position + 1 } }
  return (await db.event.findUnique({ where, select: { seq: true } })) === null ? log.eventsSince : null
}
