import type { Context } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** The options of a claim on rows of a table that has ids and due times. */
export interface LeaseOptions {
  /** The table and its due time column. Both are interpolated into SQL, so never pass user input. */
  readonly table: string
  readonly dueColumn: string
  /** A condition on the rows to claim; absent: all. */
  readonly where?: Prisma.Sql
  /** The maximum number of rows. */
  readonly limit: number
  /** The length of the lease in milliseconds, after which another worker can claim the rows of a crashed one. */
  readonly leaseMs: number
}

/** Rows that a worker has claimed. */
export interface Lease {
  /** Their ids and previous due times, earliest first. */
  readonly taken: readonly { readonly id: string; readonly dueAt: Date }[]
  /** Their new due time. While a row has exactly this value, no other worker has claimed or changed it. */
  readonly until: Date
}

/** The table and its due time column. */
type LeaseTable = Pick<LeaseOptions, 'table' | 'dueColumn'>

/** Returns unfinished leases: makes the rows due again, unless they were claimed or changed since. */
export async function releaseClaims(
  ctx: Pick<Context, 'db' | 'now'>,
  { table, dueColumn }: LeaseTable,
  left: readonly { readonly id: string; readonly until: Date }[],
): Promise<void> {
  if (left.length === 0) return
  const [rows, due] = [Prisma.raw(`"${table}"`), Prisma.raw(`"${dueColumn}"`)]
  await ctx.db.$executeRaw`
    UPDATE ${rows} AS work SET ${due} = ${ctx.now()}
    FROM unnest(${left.map(({ id }) => id)}::text[], ${left.map(({ until }) => until)}::timestamptz[]) AS left_over (id, until)
    WHERE work.id = left_over.id AND work.${due} = left_over.until`
}

/**
 * Claims due rows for this worker, the earliest due of all owners first (`createFairClaim` claims owner by owner). Sets their due time to the end of the lease, so that no other worker claims them
 * meanwhile. The worker sets the next due time when it has finished.
 */
export async function claimDue(ctx: Pick<Context, 'db' | 'now'>, options: LeaseOptions): Promise<Lease> {
  const now = ctx.now()
  const until = new Date(now.getTime() + options.leaseMs)
  const table = Prisma.raw(`"${options.table}"`)
  const due = Prisma.raw(`"${options.dueColumn}"`)
  const where = options.where ?? Prisma.sql`TRUE`
  const taken = await ctx.db.$queryRaw<{ id: string; dueAt: Date }[]>`
    WITH due AS (
      SELECT id, ${due} AS was FROM ${table} WHERE ${due} <= ${now} AND ${where}
      ORDER BY ${due} FOR UPDATE SKIP LOCKED LIMIT ${options.limit}
    )
    UPDATE ${table} AS work SET ${due} = ${until} FROM due WHERE work.id = due.id
    RETURNING work.id, due.was AS "dueAt"`
  return { taken: earliestFirst(taken), until }
}

/** A claim on the rows of several parts of a table, each of which an index has in the order of due times. */
export interface PartedClaim {
  readonly table: string
  readonly dueColumn: string
  /** The column that begins the index, and its values for the rows to claim. */
  readonly partColumn: string
  readonly parts: readonly string[]
  /** A condition on the rows; absent: all. */
  readonly where?: Prisma.Sql | undefined
  readonly limit: number
  readonly now: Date
  /** The end of the lease, which becomes the due time. */
  readonly until: Date
}

/**
 * Returns the parts `due` and `claimed` of a `WITH` clause, which claims the earliest due rows like `claimDue`. `claimed`
 * has the rows as they are after the claim, and their previous due time as `was`. Reads at most `limit` rows of each
 * part, because a condition on several parts at once would sort their whole backlog.
 */
export function partedClaim({
  table,
  dueColumn,
  partColumn,
  parts,
  where,
  limit,
  now,
  until,
}: PartedClaim): Prisma.Sql {
  const [rows, due, part] = [table, dueColumn, partColumn].map((name) => Prisma.raw(`"${name}"`))
  // In the text, because the plan depends on it.
  const most = Prisma.raw(String(limit))
  return Prisma.sql`due AS (
      SELECT open.id, open.was FROM unnest(${parts}::text[]) AS part (value) CROSS JOIN LATERAL (
        SELECT id, ${due} AS was FROM ${rows} WHERE ${part} = part.value AND ${due} <= ${now} AND ${where ?? Prisma.sql`TRUE`}
        ORDER BY ${due} LIMIT ${most} FOR UPDATE SKIP LOCKED
      ) AS open ORDER BY open.was LIMIT ${most}
    ), claimed AS (
      UPDATE ${rows} AS work SET ${due} = ${until} FROM due WHERE work.id = due.id RETURNING work.*, due.was
    )`
}

/** Sorts claimed rows, the earliest due first, because statements return them in any order. */
export function earliestFirst<Row extends { readonly dueAt: Date }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
}
