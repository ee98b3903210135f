import type pg from 'pg'
import type { Context } from '../../core/context.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { LEASE } from './lease.ts'

/**
 * The table and columns of deliveries that are sent in order: of one receiver and subject, only the first pending one.
 * The names are interpolated into SQL, so never pass user input. An index of the three columns finds the pending rows.
 */
export interface Threads {
  readonly table: string
  readonly receiver: string
  readonly subject: string
  /** Null in rows that wait for no other. */
  readonly position: string
}

/** A delivery's place in its thread. */
export interface Place {
  readonly receiver: string
  readonly subject: string
  readonly position: number | null
}

const earlierThan = ({ table, receiver, subject, position }: Threads, row: string) => `
  FROM "${table}" AS earlier
  WHERE earlier."${receiver}" = ${row}."${receiver}" AND earlier."${subject}" = ${row}."${subject}"
    AND earlier."${position}" < ${row}."${position}" AND earlier.status = 'PENDING'`

/**
 * Selects the first pending delivery of each thread. OFFSET keeps the planner from a join, which would read all pending
 * deliveries.
 */
export const isFirst = (threads: Threads): Prisma.Sql =>
  Prisma.raw(`NOT EXISTS (SELECT 1 ${earlierThan(threads, `"${threads.table}"`)} OFFSET 0)`)

/** Postpones the later deliveries of threads as long as these, because they cannot be sent before them. */
export async function postponeFollowing(
  pool: Pick<pg.Pool, 'query'>,
  { table, receiver, subject, position }: Threads,
  postponed: readonly { readonly place: Place; readonly dueAt: Date }[],
): Promise<void> {
  const late = postponed.filter(({ place }) => place.position !== null)
  if (late.length === 0) return
  await pool.query(
    `UPDATE "${table}" AS later SET "dueAt" = earlier.due
     FROM unnest($1::text[], $2::text[], $3::int[], $4::timestamptz[]) AS earlier (receiver, subject, position, due)
     WHERE later."${receiver}" = earlier.receiver AND later."${subject}" = earlier.subject
       AND later."${position}" > earlier.position AND later.status = 'PENDING' AND later."dueAt" < earlier.due`,
    [
      late.map(({ place }) => place.receiver),
      late.map(({ place }) => place.subject),
      late.map(({ place }) => place.position),
      late.map(({ dueAt }) => dueAt),
    ],
  )
}

/** How many due deliveries one statement looks at. */
const LOOKED_AT = 1000

/**
 * Postpones due deliveries that came after an earlier one of their thread was postponed. Otherwise they would stay due, and
 * every claim would read them. Those that wait for one that is being sent stay due.
 */
export async function postponeBlocked({ db, now }: Pick<Context, 'db' | 'now'>, threads: Threads): Promise<void> {
  const table = Prisma.raw(`"${threads.table}"`)
  await db.$executeRaw`
    UPDATE ${table} AS work SET "dueAt" = blocked.until FROM (
      SELECT due.id, first.until
      FROM (SELECT * FROM ${table} WHERE "dueAt" <= ${now()} ORDER BY "dueAt" LIMIT ${LOOKED_AT}) AS due
      CROSS JOIN LATERAL (
        SELECT earlier."dueAt" AS until ${Prisma.raw(earlierThan(threads, 'due'))}
        ORDER BY earlier.${Prisma.raw(`"${threads.position}"`)} LIMIT 1
      ) AS first
      WHERE first.until > ${new Date(now().getTime() + LEASE)}
    ) AS blocked
    WHERE work.id = blocked.id AND work."dueAt" <= ${now()}`
}
