import { notDeleted } from '../../account/not-deleted.ts'
import { SECOND } from '../../core/time.ts'
import { runDue } from '../../database/lease/due-work.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { advanceMaintenance } from './maintenance.ts'

/** A run takes milliseconds. After this time, another worker takes over from a dead one. */
const LEASE_MS = 15 * SECOND
const BATCH_SIZE = 50

/**
 * Starts and ends due maintenance. A failure is logged and retried after the lease. Returns when the next maintenance
 * is due, or null.
 */
export function runDueMaintenance(ctx: ChangeContext): Promise<Date | null> {
  return runDue(ctx, {
    table: 'Maintenance',
    dueColumn: 'dueAt',
    where: notDeleted,
    limit: BATCH_SIZE,
    leaseMs: LEASE_MS,
    each: ({ id }) => advanceMaintenance(ctx, id),
    subject: 'maintenance',
    failureMessage: 'status: could not start or end a maintenance',
  })
}
