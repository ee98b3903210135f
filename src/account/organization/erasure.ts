import type { Context } from '../../core/context.ts'
import { MINUTE } from '../../core/time.ts'
import { withLongDeadline } from '../../database/connection/statement-deadline.ts'
import { claimDue } from '../../database/lease/lease.ts'
import { erasedEvents } from '../../event-log/retention.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { GRACE } from './deletion.ts'
import { organizationData } from './organization-data.ts'

/** A batch takes seconds. If its worker dies, another worker continues after this time. */
const LEASE = 15 * MINUTE
/** The maximum number of rows per statement, so that other statements do not wait long. */
const BATCH = 5000

/**
 * Erases a batch of a deleted organization after its restore period: first its rows, then the organization with everything that is
 * left. After a crash, another worker continues when the lease ends. Returns whether there may be more. Pause before the next
 * batch, so that other work gets its turn.
 */
export async function eraseDeleted(ctx: Context): Promise<boolean> {
  const lease = { table: 'Organization', dueColumn: 'erasureDueAt', limit: 1, leaseMs: LEASE }
  const [taken] = (await claimDue(ctx, { ...lease, where: Prisma.sql`"deletedAt" IS NOT NULL` })).taken
  if (taken === undefined) return false
  const isOver = await withLongDeadline(ctx, (tx) => eraseBatch(tx, taken.id))
  if (isOver) ctx.log.info({ organization: taken.id }, 'account: erased a deleted organization')
  // Makes it due again with its original due time, so that it stays first and organizations are erased one by one.
  else await ctx.db.organization.updateMany({ where: { id: taken.id }, data: { erasureDueAt: taken.dueAt } })
  return true
}

/**
 * Corrects due times that are later than the end of the restore period, as after the clock was set back. None moves
 * before that end.
 */
export async function correctErasureTimes({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  const latest = Prisma.sql`greatest(least("deletedAt", ${now()}::timestamptz) + ${GRACE}::float8 * interval '1 millisecond', ${new Date(now().getTime() + LEASE)}::timestamptz)`
  await db.$executeRaw`
    UPDATE "Organization" SET "erasureDueAt" = ${latest} WHERE "deletedAt" IS NOT NULL AND "erasureDueAt" > ${latest}`
}

const ofOrganization = (id: string) => Prisma.sql`"organizationId" = ${id}`

/** Erases a batch. Returns whether nothing is left. */
async function eraseBatch({ db }: Pick<Context, 'db'>, id: string): Promise<boolean> {
  const rooms = organizationData.get().flatMap(({ erased = [] }) => erased)
  for (const { table: name, where = ofOrganization } of [...rooms, erasedEvents]) {
    const table = Prisma.raw(`"${name}"`)
    const count = await db.$executeRaw`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${where(id)} LIMIT ${BATCH}))`
    if (count >= BATCH) return false
  }
  await db.organization.deleteMany({ where: { id } })
  return true
}
