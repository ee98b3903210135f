import { apiKeys } from '../../account/views.ts'
import type { Database } from '../../core/context.ts'
import { plainRows } from '../../database/transaction.ts'
import { events } from '../../event-log/views.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ActorKind } from '../../generated/prisma/enums.ts'
import { people } from '../../people/views.ts'

/** The author of an update. */
export interface Author {
  readonly kind: ActorKind
  /** The name of the person or of the API key; null: neither, or it was deleted. */
  readonly name: string | null
}

interface Row extends Author {
  readonly updateId: string
}

/**
 * Reads the authors of updates of incidents or maintenance, by the id of the update: the actor of the first event that
 * announces it.
 * @param subjectIds the incidents or maintenances of these updates.
 */
export async function readAuthors(
  db: Database,
  organizationId: string,
  subjectIds: readonly string[],
  updateIds: readonly string[],
): Promise<ReadonlyMap<string, Author>> {
  if (updateIds.length === 0) return new Map()
  const rows = await plainRows<Row>(
    db,
    Prisma.sql`
      SELECT DISTINCT ON (event."updateId") event."updateId", event."actorKind" AS kind,
        coalesce(person.name, key.name) AS name
      FROM ${events} AS event
      LEFT JOIN ${people} AS person ON person.id = event."actorUserId"
      LEFT JOIN ${apiKeys} AS key ON key.id = event."actorKeyId"
      WHERE event."organizationId" = ${organizationId} AND event."subjectId" = ANY(${[...subjectIds]}::text[])
        AND event."updateId" = ANY(${[...updateIds]}::text[])
      ORDER BY event."updateId", event.seq`,
  )
  return new Map(rows.map(({ updateId, kind, name }) => [updateId, { kind, name }]))
}
