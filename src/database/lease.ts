import type { Context } from '../context.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** Work that is leased: rows of a table with an id and the time they are due. */
export interface LeaseOptions {
  /** The table, and its column with the due time; both are written into the statement, so never from outside. */
  readonly table: string
  readonly dueColumn: string
  /** Which rows this worker takes, as a condition on them; absent: any. */
  readonly where?: Prisma.Sql
  /** How many rows to take at most. */
  readonly limit: number
  /** For how long, in milliseconds: after that another worker takes a row whose worker has died. */
  readonly leaseMs: number
}

/** Rows that a worker has taken. */
export interface Lease {
  /** Their ids, and when each was due; the longest due first. */
  readonly taken: readonly { readonly id: string; readonly dueAt: Date }[]
  /** What their due time is now. As long as it is exactly that, nobody else has taken or changed them. */
  readonly until: Date
}

/** The table that work is in, and its column with the due time. */
type LeasedIn = Pick<LeaseOptions, 'table' | 'dueColumn'>

/** Makes what was taken and not done due again, unless somebody else has taken or changed it since. */
export async function giveBack(
  ctx: Pick<Context, 'db' | 'now'>,
  { table, dueColumn }: LeasedIn,
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
 * Takes due rows for this worker: their due time moves ahead by the lease, so that no other worker takes them meanwhile.
 * Who has done the work sets the next due time.
 */
export async function takeDue(ctx: Pick<Context, 'db' | 'now'>, options: LeaseOptions): Promise<Lease> {
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
  return { taken: taken.sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime()), until }
}
