import type { Context } from '../context.ts'
import { Prisma } from '../generated/prisma/client.ts'

/** Work that is leased: rows of a table with an id and the time they are due. */
export interface LeaseOptions {
  /** The table, and its column with the due time; both are written into the statement, so never from outside. */
  readonly table: string
  readonly dueColumn: string
  /** How many rows to take at most. */
  readonly limit: number
  /** For how long, in milliseconds: after that another worker takes a row whose worker has died. */
  readonly leaseMs: number
}

/**
 * Takes due rows for this worker: their due time moves ahead by the lease, so that no other worker takes them meanwhile.
 * Who has done the work sets the next due time. Gives the ids, the longest due first.
 */
export async function takeDue(ctx: Context, options: LeaseOptions): Promise<string[]> {
  const now = ctx.now()
  const leasedUntil = new Date(now.getTime() + options.leaseMs)
  const table = Prisma.raw(`"${options.table}"`)
  const due = Prisma.raw(`"${options.dueColumn}"`)
  const taken = await ctx.db.$queryRaw<{ id: string; was: Date }[]>`
    WITH due AS (
      SELECT id, ${due} AS was FROM ${table} WHERE ${due} <= ${now}
      ORDER BY ${due} FOR UPDATE SKIP LOCKED LIMIT ${options.limit}
    )
    UPDATE ${table} AS work SET ${due} = ${leasedUntil} FROM due WHERE work.id = due.id
    RETURNING work.id, due.was`
  return taken.sort((one, other) => one.was.getTime() - other.was.getTime()).map(({ id }) => id)
}
