import type { Context } from '../context.ts'
import { takeDue } from '../database/lease.ts'
import { patiently } from '../database/patience.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { MINUTE } from '../time.ts'

/** A batch takes seconds; when its worker dies, another goes on after this. */
const LEASE = 15 * MINUTE
/** How many rows one statement deletes at most: so few that nobody waits for it. */
const BATCH = 5000

const ofOrganization = (id: string) => Prisma.sql`"organizationId" = ${id}`
const ofMonitors = (id: string) => Prisma.sql`"monitorId" IN (SELECT id FROM "Monitor" WHERE "organizationId" = ${id})`

/** What an organization may have very much of, or what does not go with it by itself, in the order in which it is erased. */
const erased = [
  ['ProbeResult', ofMonitors],
  ['MonitorHour', ofMonitors],
  ['MonitorInterval', ofMonitors],
  ['MonitorGap', ofMonitors],
  ['UptimeDay', ofOrganization],
  ['Delivery', ofOrganization],
  ['Notice', ofOrganization],
  ['Subscriber', ofOrganization],
  ['Suppression', ofOrganization],
  ['Event', ofOrganization],
  ['IncidentUpdate', ofOrganization],
  ['MaintenanceUpdate', ofOrganization],
  ['Incident', ofOrganization],
  ['Maintenance', ofOrganization],
  ['Monitor', ofOrganization],
] as const

/**
 * Erases a batch of an organization whose time after its deletion is over: what it has, and then itself with all that is left.
 * What a crash prevents goes on when the lease is over. Gives whether there may be more: pause before the next batch, so that
 * others get their turn.
 */
export async function eraseDeleted(ctx: Context): Promise<boolean> {
  const lease = { table: 'Organization', dueColumn: 'erasureDueAt', limit: 1, leaseMs: LEASE }
  const [taken] = (await takeDue(ctx, { ...lease, where: Prisma.sql`"deletedAt" IS NOT NULL` })).taken
  if (taken === undefined) return false
  const isOver = await patiently(ctx, (tx) => eraseSome(tx, taken.id))
  if (isOver) ctx.log.info({ organization: taken.id }, 'account: a deleted organization is erased')
  // Due again at once; its own time goes first, so that one after the other is finished.
  else await ctx.db.organization.updateMany({ where: { id: taken.id }, data: { erasureDueAt: taken.dueAt } })
  return true
}

/** Erases a batch. Gives whether nothing is left. */
async function eraseSome({ db }: Pick<Context, 'db'>, id: string): Promise<boolean> {
  for (const [name, belonging] of erased) {
    const table = Prisma.raw(`"${name}"`)
    const count = await db.$executeRaw`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${belonging(id)} LIMIT ${BATCH}))`
    if (count >= BATCH) return false
  }
  await db.organization.deleteMany({ where: { id } })
  return true
}
