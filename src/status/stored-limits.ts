import { LRUCache } from 'lru-cache'
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

/**
 * The part of the room of an organization that a process may take before it counts again, because counting a hundred
 * thousand rows takes 10 ms: twenty processes together take no more than there is.
 */
const UNCOUNTED_PART = 1 / 20
/** How many rows this process may add without counting, by their kind, its limit, and the organization. */
const uncounted = new LRUCache<string, number>({ max: 10_000 })

const keyOf = (of: LimitedRows, organizationId: string) => `${of} ${storedLimits[of].limit} ${organizationId}`

/** Returns whether this process may add a row without counting, and takes the room for it. */
export function takeUncounted(of: LimitedRows, organizationId: string): boolean {
  const key = keyOf(of, organizationId)
  const left = uncounted.get(key) ?? 0
  if (left > 0) uncounted.set(key, left - 1)
  return left > 0
}

/** Remembers how many rows an organization has, so that the next ones are not counted unless it may have few more. */
export function noteCounted(of: LimitedRows, organizationId: string, count: number): void {
  uncounted.set(keyOf(of, organizationId), Math.floor((storedLimits[of].limit - count) * UNCOUNTED_PART))
}

/** Returns an expression for how many rows an organization has, up to the limit. */
export function counted(of: LimitedRows, organizationId: string): Prisma.Sql {
  const { limit, rows } = storedLimits[of]
  return Prisma.sql`(SELECT count(*)::int FROM (
    SELECT 1 FROM ${rows} AND "organizationId" = ${organizationId} LIMIT ${limit}) AS counted)`
}

/** Returns how many more rows an organization may have. The caller may add as many. */
export async function roomFor(
  { db }: { readonly db: Pick<Database, '$queryRaw'> },
  of: LimitedRows,
  organizationId: string,
): Promise<number> {
  const [found] = await db.$queryRaw<[{ count: number }]>`SELECT ${counted(of, organizationId)} AS count`
  uncounted.delete(keyOf(of, organizationId))
  return storedLimits[of].limit - found.count
}

/** Returns whether an organization may have another row, and takes the room for it. */
export async function hasRoom(
  ctx: { readonly db: Pick<Database, '$queryRaw'> },
  of: LimitedRows,
  organizationId: string,
): Promise<boolean> {
  if (takeUncounted(of, organizationId)) return true
  const room = await roomFor(ctx, of, organizationId)
  noteCounted(of, organizationId, storedLimits[of].limit - room)
  return room > 0
}

/** @throws Conflict if an organization may have no more rows of one of these. */
export async function requireRoom(
  ctx: { readonly db: Pick<Database, '$queryRaw'> },
  organizationId: string,
  ...all: readonly LimitedRows[]
): Promise<void> {
  for (const of of all) {
    if (!(await hasRoom(ctx, of, organizationId))) throw new Conflict(`${fullMessage(of)} Delete some first.`)
  }
}
