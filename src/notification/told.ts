import type { Database } from '../core/context.ts'
import { plainRows } from '../database/sql-transaction.ts'
import type { ChannelKind } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** How many subscribers of one channel were told of an incident update. */
export interface ToldByChannel {
  readonly channel: ChannelKind
  readonly told: number
  readonly delivered: number
  /** Given up, or cancelled because the subscription ended; the rest is still on its way. */
  readonly failed: number
}

interface Row extends ToldByChannel {
  readonly updateId: string
}

/**
 * Counts who was told of incident updates, by the id of the update and by channel, from the deliveries that are kept (30 days after
 * they ended). Their caller is of the organization. Runs one statement.
 * @param incidentIds of these updates.
 */
export async function readTold(
  db: Database,
  organizationId: string,
  incidentIds: readonly string[],
  updateIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ToldByChannel[]>> {
  if (updateIds.length === 0) return new Map()
  const rows = await plainRows<Row>(
    db,
    Prisma.sql`
      SELECT event."updateId", delivery.channel, count(*)::int AS told,
        (count(*) FILTER (WHERE delivery.status = 'DELIVERED'))::int AS delivered,
        (count(*) FILTER (WHERE delivery.status IN ('FAILED', 'CANCELLED')))::int AS failed
      FROM "Event" AS event
      JOIN "Delivery" AS delivery ON delivery."organizationId" = event."organizationId" AND delivery.seq = event.seq
      WHERE event."organizationId" = ${organizationId} AND event."subjectId" = ANY(${[...incidentIds]}::text[])
        AND event."updateId" = ANY(${[...updateIds]}::text[])
      GROUP BY event."updateId", delivery.channel ORDER BY event."updateId", delivery.channel`,
  )
  const told = new Map<string, ToldByChannel[]>()
  for (const { updateId, ...each } of rows) told.set(updateId, [...(told.get(updateId) ?? []), each])
  return told
}
