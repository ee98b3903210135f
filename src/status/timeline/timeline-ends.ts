import type { Database } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** A table of updates, and its column with the id of the incident or maintenance. */
export interface TimelineTable {
  readonly table: 'IncidentUpdate' | 'MaintenanceUpdate'
  readonly parent: 'incidentId' | 'maintenanceId'
}

/** An update of a timeline. */
export interface UpdateReference {
  /** The id of the incident or maintenance. */
  readonly parent: string
  readonly id: string
}

/**
 * Returns the first or last updates of each timeline, in this order, with one statement.
 * @param take the number per timeline.
 */
export function readTimelineEnds(
  db: Database,
  { table, parent }: TimelineTable,
  parentIds: readonly string[],
  { take, newestFirst }: { readonly take: number; readonly newestFirst: boolean },
): Promise<UpdateReference[]> {
  const direction = Prisma.raw(newestFirst ? 'DESC' : 'ASC')
  return db.$queryRaw<UpdateReference[]>`
    SELECT timeline.id AS parent, update.id FROM unnest(${[...parentIds]}::text[]) AS timeline (id)
    CROSS JOIN LATERAL (
      SELECT id, "createdAt" FROM ${Prisma.raw(`"${table}"`)} WHERE ${Prisma.raw(`"${parent}"`)} = timeline.id
      ORDER BY "createdAt" ${direction}, id ${direction} LIMIT ${take}
    ) AS update ORDER BY timeline.id, update."createdAt" ${direction}, update.id ${direction}`
}
