import type { Database } from '../../context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { perOperation } from '../../graphql/loader.ts'

/** The newest or the oldest entries of one timeline. */
interface Asked {
  readonly parentId: string
  readonly take: number
  readonly newestFirst: boolean
  /** What Prisma has to include of each. */
  readonly include: object
}

interface Entry {
  readonly id: string
}

/**
 * Reads the ends of many timelines together: an operation that asks for the last entries of a hundred incidents must not
 * take a hundred statements.
 */
export function timelineEnds<Row extends Entry>(timeline: {
  readonly table: 'IncidentUpdate' | 'MaintenanceUpdate'
  readonly parent: 'incidentId' | 'maintenanceId'
  readonly read: (db: Database, ids: string[], include: object) => Promise<readonly Row[]>
}) {
  const { table, parent, read } = timeline
  return perOperation(async ({ db }, asked: readonly Asked[]): Promise<readonly (readonly Row[])[]> => {
    const alike = new Map<string, Asked[]>()
    for (const each of asked) {
      const { parentId: _, ...how } = each
      const key = JSON.stringify(how)
      alike.set(key, [...(alike.get(key) ?? []), each])
    }
    const found = new Map<Asked, readonly Row[]>()
    for (const group of alike.values()) {
      const [{ take, newestFirst, include } = { take: 0, newestFirst: true, include: {} }] = group
      const parents = [...new Set(group.map(({ parentId }) => parentId))]
      const direction = Prisma.raw(newestFirst ? 'DESC' : 'ASC')
      const places = await db.$queryRaw<{ parent: string; id: string }[]>`
        SELECT timeline.id AS parent, entry.id FROM unnest(${parents}::text[]) AS timeline (id)
        CROSS JOIN LATERAL (
          SELECT id, "createdAt" FROM ${Prisma.raw(`"${table}"`)} WHERE ${Prisma.raw(`"${parent}"`)} = timeline.id
          ORDER BY "createdAt" ${direction}, id ${direction} LIMIT ${take}
        ) AS entry ORDER BY timeline.id, entry."createdAt" ${direction}, entry.id ${direction}`
      const rows = await read(
        db,
        places.map(({ id }) => id),
        include,
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const each of group) {
        found.set(
          each,
          places.filter((place) => place.parent === each.parentId).flatMap(({ id }) => byId.get(id) ?? []),
        )
      }
    }
    return asked.map((each) => found.get(each) ?? [])
  })
}
