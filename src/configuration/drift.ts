import { apiKeys } from '../account/views.ts'
import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Database } from '../core/context.ts'
import { events } from '../event-log/views.ts'
import type { ManagedObject } from '../generated/prisma/client.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { people } from '../people/views.ts'
import type { Digest, Existing } from './current.ts'
import type { Drift } from './plan.ts'
import type { Section } from './sections.ts'

/** Returns how managed objects differ from their last applied state, and who last changed each. */
export async function readDrift(
  { db }: { readonly db: Database },
  organizationId: string,
  rows: readonly ManagedObject[],
  existing: ReadonlyMap<string, Existing>,
  digest: Digest,
): Promise<Drift[]> {
  const drifted = []
  for (const row of rows) {
    await yieldAfterTimeSlice(organizationId)
    const now = existing.get(row.objectId)
    // Only this folder writes the column.
    const fields = Object.entries(row.fields as Readonly<Record<string, string>>)
    const members = fields.filter(([name, hash]) => now && digest(now.fields[name] ?? null) !== hash)
    const subjectId = now?.subjectId ?? row.objectId
    if (!now || members.length > 0) drifted.push({ row, subjectId, members: members.map(([name]) => name) })
  }
  if (drifted.length === 0) return []
  const last = await lastChanges(
    db,
    organizationId,
    drifted.map(({ subjectId, row }) => [subjectId, row.appliedSeq]),
  )
  return drifted.map(({ row, subjectId, members }) => ({
    section: row.section as Section,
    key: row.key,
    members,
    last: last.get(subjectId) ?? null,
  }))
}

interface LastChange {
  readonly subjectId: string
  readonly by: string
  readonly at: Date
}

/** Reads the last event of each subject after a position, with the name of its actor. */
async function lastChanges(
  db: Database,
  organizationId: string,
  subjects: readonly (readonly [id: string, after: number])[],
): Promise<ReadonlyMap<string, Omit<LastChange, 'subjectId'>>> {
  const found = await db.$queryRaw<LastChange[]>(Prisma.sql`
    SELECT asked.id AS "subjectId", event.at,
      coalesce(
        (SELECT coalesce(nullif(person.name, ''), email) FROM ${people} AS person WHERE person.id = event."actorUserId"),
        (SELECT 'the key ' || key.name FROM ${apiKeys} AS key WHERE key.id = event."actorKeyId"),
        CASE event."actorKind" WHEN 'OPERATOR' THEN 'the operator' ELSE 'this service' END
      ) AS by
    FROM unnest(${subjects.map(([id]) => id)}::text[], ${subjects.map(([, after]) => after)}::int[]) AS asked (id, after)
    CROSS JOIN LATERAL (
      SELECT at, "actorKind", "actorKeyId", "actorUserId" FROM ${events} AS events
      WHERE "organizationId" = ${organizationId} AND "subjectId" = asked.id AND seq > asked.after
      ORDER BY seq DESC LIMIT 1
    ) AS event`)
  return new Map(found.map(({ subjectId, by, at }) => [subjectId, { by, at }]))
}
