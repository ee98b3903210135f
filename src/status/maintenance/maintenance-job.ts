import { notDeleted } from '../../account/not-deleted.ts'
import type { Context } from '../../core/context.ts'
import { SECOND } from '../../core/time.ts'
import { claimDue } from '../../database/lease/lease.ts'
import { advanceMaintenance } from './maintenance.ts'

/** A run takes milliseconds. After this time, another worker takes over from a dead one. */
const LEASE_MS = 15 * SECOND
const BATCH_SIZE = 50

/**
 * Starts and ends due maintenance. A failure is logged and retried after the lease. Returns when the next maintenance
 * is due, or null.
 */
export async function runDueMaintenance(ctx: Context): Promise<Date | null> {
  const { taken } = await claimDue(ctx, {
    table: 'Maintenance',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH_SIZE,
    leaseMs: LEASE_MS,
  })
  for (const { id } of taken) {
    await advanceMaintenance(ctx, id).catch((error: unknown) =>
      ctx.log.error({ err: error, maintenance: id }, 'status: could not start or end a maintenance'),
    )
  }
  const next = await ctx.db.maintenance.findFirst({
    where: { dueAt: { not: null }, organization: { deletedAt: null } },
    orderBy: { dueAt: 'asc' },
  })
  return next?.dueAt ?? null
}
