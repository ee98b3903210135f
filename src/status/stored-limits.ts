import type { Database } from '../core/context.ts'
import { Conflict } from '../core/errors.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** Rows of which an organization may have so many, and what they are. */
interface StoredLimit {
  readonly limit: number
  readonly noun: string
  readonly rows: Prisma.Sql
}

/**
 * Rows that nothing else bounds: a hundred incidents a day for three years. Planned maintenances are fewer, because those
 * of all organizations start one after the other. What monitors open, and the dates of maintenance series, are few and
 * are always written.
 */
export const storedLimits = {
  Incident: { limit: 100_000, noun: 'incidents', rows: Prisma.sql`"Incident" WHERE TRUE` },
  Maintenance: { limit: 100_000, noun: 'maintenances', rows: Prisma.sql`"Maintenance" WHERE TRUE` },
  PlannedMaintenance: {
    limit: 1000,
    noun: 'maintenances that have not ended',
    rows: Prisma.sql`"Maintenance" WHERE status IN ('SCHEDULED', 'IN_PROGRESS', 'VERIFYING')`,
  },
  ImportedRecord: {
    limit: 100_000,
    noun: 'remembered records of imports',
    rows: Prisma.sql`"ImportedRecord" WHERE TRUE`,
  },
} as const satisfies Record<string, StoredLimit>

export type LimitedRows = keyof typeof storedLimits

/** Says that an organization has all the rows that it may have. */
export function fullMessage(of: LimitedRows): string {
  const { limit, noun } = storedLimits[of]
  return `The organization has ${limit.toLocaleString('en')} ${noun}, as many as it may have.`
}

/** Returns an expression for how many rows an organization has, up to the limit. */
function counted(of: LimitedRows, organizationId: string): Prisma.Sql {
  const { limit, rows } = storedLimits[of]
  return Prisma.sql`(SELECT count(*)::int FROM (
    SELECT 1 FROM ${rows} AND "organizationId" = ${organizationId} LIMIT ${limit}) AS counted)`
}

/** Returns a condition: whether an organization may have another row. */
export function hasRoom(of: LimitedRows, organizationId: string): Prisma.Sql {
  return Prisma.sql`${counted(of, organizationId)} < ${storedLimits[of].limit}`
}

/** Returns how many more rows an organization may have. */
export async function roomFor(
  { db }: { readonly db: Pick<Database, '$queryRaw'> },
  of: LimitedRows,
  organizationId: string,
): Promise<number> {
  const [found] = await db.$queryRaw<[{ count: number }]>`SELECT ${counted(of, organizationId)} AS count`
  return storedLimits[of].limit - found.count
}

/** @throws Conflict if an organization may have no more rows of one of these. */
export async function requireRoom(
  { db }: { readonly db: Pick<Database, '$queryRaw'> },
  organizationId: string,
  ...all: readonly LimitedRows[]
): Promise<void> {
  const conditions = Prisma.join(all.map((of) => hasRoom(of, organizationId)))
  const [found] = await db.$queryRaw<[{ has: boolean[] }]>`SELECT ARRAY[${conditions}] AS has`
  const full = all.find((_, index) => !found.has[index])
  if (full !== undefined) throw new Conflict(`${fullMessage(full)} Delete some first.`)
}
