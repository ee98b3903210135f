import type { Database } from '../core/context.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { EventKind } from '../generated/prisma/enums.ts'

/** The newest event of a kind, as JSON: its kind, position and time. */
export type NewestEventJson = readonly [kind: EventKind, seq: number, at: string]

/**
 * Returns an SQL expression for the newest event of each kind in an organization's log, as a JSON array of
 * `NewestEventJson`. It reads one index entry per kind, regardless of the length of the log.
 * @param organizationId an SQL expression.
 */
export function newestEventsJson(organizationId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(
    SELECT coalesce(json_agg(json_build_array(kind, seq, at)), '[]')
    FROM unnest(${Object.values(EventKind)}::text[]::"EventKind"[]) AS wanted (kind) CROSS JOIN LATERAL (
      SELECT seq, at FROM "Event" AS event
      WHERE event."organizationId" = ${organizationId} AND event.kind = wanted.kind ORDER BY seq DESC LIMIT 1
    ) AS newest)`
}

/** Reads the newest event of each kind in an organization's log, with one statement. */
export async function readNewestEvents(db: Database, organizationId: string): Promise<readonly NewestEventJson[]> {
  const [row] = await db.$queryRaw<{ newest: string }[]>`
    SELECT ${newestEventsJson(Prisma.sql`${organizationId}`)}::text AS newest`
  return JSON.parse(row?.newest ?? '[]')
}
