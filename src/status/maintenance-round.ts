import { ofLiving } from '../account/deletion.ts'
import type { Context } from '../context.ts'
import { takeDue } from '../database/lease.ts'
import { SECOND } from '../time.ts'
import { advanceMaintenance } from './maintenance.ts'

/** A round takes milliseconds; when its worker dies, another takes its work over after this. */
const LEASE = 15 * SECOND
const AT_ONCE = 50

/**
 * Starts and ends the maintenance that is due. One that fails is logged, and tried again when its lease is over. Gives
 * the time at which the next one is due; null: none is.
 */
export async function runDueMaintenance(ctx: Context): Promise<Date | null> {
  const { taken } = await takeDue(ctx, {
    table: 'Maintenance',
    dueColumn: 'dueAt',
    where: ofLiving,
    limit: AT_ONCE,
    leaseMs: LEASE,
  })
  for (const { id } of taken) {
    await advanceMaintenance(ctx, id).catch((error: unknown) =>
      ctx.log.error({ err: error, maintenance: id }, 'status: maintenance did not start or end'),
    )
  }
  const next = await ctx.db.maintenance.findFirst({
    where: { dueAt: { not: null }, organization: { deletedAt: null } },
    orderBy: { dueAt: 'asc' },
  })
  return next?.dueAt ?? null
}
