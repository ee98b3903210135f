import { withOrganization } from '../account/views.ts'
import type { Agenda } from '../database/lease/agenda.ts'
import { earliestOf } from '../database/lease/agenda.ts'
import type { LeasedWorker } from '../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../database/lease/leased-worker.ts'
import { Prisma } from '../generated/prisma/client.ts'
import { LEASE, pauses } from '../notification/queue/lease.ts'
import type { DeliveryParts, DueDelivery } from './delivery-sender.ts'
import { createDeliverySender } from './delivery-sender.ts'

const CONCURRENCY = 64

/**
 * Selects the first pending delivery of each channel and thread, so that messages arrive in order. OFFSET keeps the
 * planner from a join, which would read all pending deliveries.
 */
const isFirstPending = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM "AlertDelivery" AS earlier
  WHERE earlier."channelId" = "AlertDelivery"."channelId" AND earlier.thread = "AlertDelivery".thread
    AND earlier.position < "AlertDelivery".position AND earlier.status = 'PENDING' OFFSET 0)`

/** Creates a worker that sends due alert deliveries with the rights of the system. */
export function createAlertWorker(
  parts: DeliveryParts & {
    /** Wakes the worker when a delivery is due; without it, the worker polls every second. */
    readonly agenda?: Agenda
  },
): LeasedWorker {
  const { ctx, agenda } = parts
  const { db } = ctx
  const send = createDeliverySender(parts)

  const worker = createLeasedWorker<DueDelivery>({
    ctx,
    table: 'AlertDelivery',
    dueColumn: 'dueAt',
    where: () => isFirstPending,
    ownerOf: ({ organizationId }) => organizationId,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY,
    batch: CONCURRENCY,
    read: async (ids) =>
      (await db.alertDelivery.findMany({
        where: { id: { in: [...ids] }, status: 'PENDING', dueAt: { not: null } },
        include: { channel: true, ...withOrganization },
      })) as DueDelivery[],
    accept(claims) {
      for (const { row } of claims) worker.run(row, () => send(row).then(() => true))
    },
    earliest: earliestOf('AlertDelivery', isFirstPending),
    agenda,
    onEnd: () => worker.wake(),
    pauses,
    name: { room: 'alerting', rows: 'deliveries' },
  })

  return worker
}
