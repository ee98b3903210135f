import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/context.ts'
import { MINUTE, SECOND } from '../../core/time.ts'
import { Prisma } from '../../generated/prisma/client.ts'

/** A column of due times. Both names are interpolated into SQL, so never pass user input. */
export interface DueTimes {
  readonly table: string
  readonly dueColumn: string
  /** A condition on the rows that may be due sooner; absent: all. */
  readonly where?: Prisma.Sql
}

/** The interval at which the time is recorded, in milliseconds. */
export const RECORD_MS = 20 * SECOND
/** How far the recorded time may lie ahead before the clock counts as set back. */
const TOLERANCE = 10 * SECOND
/** Due times up to here stay: they are the leases of running work, and hold nothing back for longer. */
const LONGEST_LEASE = 2 * MINUTE

/**
 * Records the time, and finds out whether the clock was set back since the last record, which may be of a process that
 * has ended. Then due times and leases of the wrong time lie so far ahead that nothing would happen until then.
 * @param repair makes such rows due; runs in one transaction with the record, in one process only.
 * @returns by how many milliseconds the clock was set back, at least; null: it was not.
 */
export async function recordTime(
  ctx: Context,
  repair: (tx: Context, setBackMs: number) => Promise<void>,
): Promise<number | null> {
  const now = ctx.now()
  const recorded = await ctx.db.$queryRaw<unknown[]>`
    INSERT INTO "ClockReading" (id, at) VALUES (1, ${now}::timestamptz)
    ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at
      WHERE "ClockReading".at <= ${new Date(now.getTime() + TOLERANCE)}::timestamptz
    RETURNING at`
  if (recorded.length > 0) return null
  return transaction(ctx, async (tx) => {
    const [latest] = await tx.db.$queryRaw<{ at: Date }[]>`SELECT at FROM "ClockReading" WHERE id = 1 FOR UPDATE`
    const setBackMs = (latest?.at.getTime() ?? 0) - now.getTime()
    // Another process has noticed it at the same time.
    if (setBackMs <= TOLERANCE) return null
    await repair(tx, setBackMs)
    await tx.db.$executeRaw`UPDATE "ClockReading" SET at = ${now}::timestamptz WHERE id = 1`
    return setBackMs
  })
}

/** Makes rows due sooner by as much as the clock was set back, but not before now. Leases of running work stay. */
export async function moveDueTimes(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { table, dueColumn, where = Prisma.sql`TRUE` }: DueTimes,
  setBackMs: number,
): Promise<void> {
  const due = Prisma.raw(`"${dueColumn}"`)
  await db.$executeRaw`
    UPDATE ${Prisma.raw(`"${table}"`)}
    SET ${due} = greatest(${now()}::timestamptz, ${due} - ${setBackMs}::float8 * interval '1 millisecond')
    WHERE ${due} > ${new Date(now().getTime() + LONGEST_LEASE)}::timestamptz AND ${where}`
}
