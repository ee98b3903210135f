import type { Database } from '../../core/context.ts'
import { plainRows } from '../../database/transaction.ts'
import { events } from '../../event-log/views.ts'
import type { ChannelKind } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** How many subscribers of one channel were notified of an incident update. */
export interface UpdateAudience {
  readonly channel: ChannelKind
  readonly notified: number
  readonly delivered: number
  /** Given up, or canceled because the subscription ended. The rest is still pending. */
  readonly failed: number
}

interface Row extends UpdateAudience {
  readonly updateId: string
}

/**
 * Counts the subscribers who were notified of incident updates, by update id and by channel, from the deliveries that
 * are still kept (30 days after they ended). The caller checks permissions. Runs one statement.
 * @param incidentIds the incidents of these updates.
 */
export async function readUpdateAudiences(
  db: Database,
  organizationId: string,
  incidentIds: readonly string[],
  updateIds: readonly string[],
): Promise<ReadonlyMap<string, readonly UpdateAudience[]>> {
  if (updateIds.length === 0) return new Map()
  const rows = await plainRows<Row>(
    db,
    Prisma.sql`
      SELECT event."updateId", delivery.channel, count(*)::int AS notified,
        (count(*) FILTER (WHERE delivery.status = 'DELIVERED'))::int AS delivered,
        (count(*) FILTER (WHERE delivery.status IN ('FAILED', 'CANCELLED')))::int AS failed
      FROM ${events} AS event
      JOIN "Delivery" AS delivery ON delivery."organizationId" = event."organizationId" AND delivery.seq = event.seq
      WHERE event."organizationId" = ${organizationId} AND event."subjectId" = ANY(${[...incidentIds]}::text[])
        AND event."updateId" = ANY(${[...updateIds]}::text[])
      GROUP BY event."updateId", delivery.channel ORDER BY event."updateId", delivery.channel`,
  )
  const audiences = new Map<string, UpdateAudience[]>()
  for (const { updateId, ...each } of rows) audiences.set(updateId, [...(audiences.get(updateId) ?? []), each])
  return audiences
}
