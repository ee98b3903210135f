import type pg from 'pg'
import { SECOND } from '../../core/time.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { earliestOf } from '../../database/lease/agenda.ts'
import type { LeasedWorker } from '../../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../../database/lease/leased-worker.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import { LEASE, pauses } from '../queue/lease.ts'
import type { DueDelivery } from './delivery.ts'
import { readDeliveries } from './delivery.ts'
import type { ClaimedDelivery, DeliveryTools } from './delivery-sender.ts'
import { createDeliverySender } from './delivery-sender.ts'
import type { Slot } from './delivery-slots.ts'
import { CONCURRENCY, createSlots, routeOf } from './delivery-slots.ts'

/** A delivery with less time left on its lease is released instead of started. */
const MIN_LEASE = 50 * SECOND
/** How many deliveries one statement claims. */
const BATCH = 400
/**
 * How long a queued delivery counts as current, in milliseconds. After that it is read again, because its subscriber
 * may have unsubscribed.
 */
const FRESH = SECOND

/**
 * Selects the first pending delivery of each subscriber and subject, so that the updates of an incident arrive in
 * order. OFFSET keeps the planner from a join, which would read all pending deliveries.
 */
export const isFirstPending = Prisma.sql`NOT EXISTS (
  SELECT 1 FROM "Delivery" AS earlier
  WHERE earlier."subscriberId" = "Delivery"."subscriberId" AND earlier."subjectId" = "Delivery"."subjectId"
    AND earlier.seq < "Delivery".seq AND earlier.status = 'PENDING' OFFSET 0)`

/** Selects deliveries of other routes (`routeOf`). Compares nothing while there are none, because it reads each row. */
const isOfOtherRoutes = (routes: readonly string[]) =>
  routes.length === 0 ? Prisma.sql`TRUE` : Prisma.sql`"organizationId" || ' ' || destination <> ALL (${routes}::text[])`

const deliveries = { table: 'Delivery', dueColumn: 'dueAt' } as const

/** What a worker needs. */
interface Parts extends DeliveryTools {
  readonly pool: Pick<pg.Pool, 'query'>
  readonly rate: ThirdPartyRate
  /** Wakes the worker when a delivery is due; without it, the worker polls every second. */
  readonly agenda?: Agenda
}

/** Creates a worker that sends deliveries as the system. */
export function createDeliveryWorker(parts: Parts): LeasedWorker {
  const { ctx, pool, rate, agenda } = parts
  const queue: ClaimedDelivery[] = []
  const slots = createSlots(rate, startQueued)
  const deliver = createDeliverySender(parts)
  const saturated = () => slots.saturated(queue.map(({ delivery }) => delivery))
  const worker = createLeasedWorker<DueDelivery>({
    ctx,
    ...deliveries,
    where: () => Prisma.sql`${isOfOtherRoutes(saturated())} AND ${isFirstPending}`,
    ownerOf: ({ organizationId }) => organizationId,
    leaseMs: LEASE,
    maxClaimed: CONCURRENCY + BATCH,
    batch: BATCH,
    read: (ids) => readDeliveries(pool, ids),
    accept(claims) {
      for (const { row } of claims) queue.push({ delivery: row, freshUntil: performance.now() + FRESH })
      startQueued()
    },
    earliest: earliestOf('Delivery'),
    agenda,
    onEnd: startQueued,
    pauses,
    name: { room: 'notification', rows: 'deliveries' },
  })

  /** Starts queued deliveries in the order of their claims, within the limits. */
  function startQueued(): void {
    const late: ClaimedDelivery[] = []
    for (const taken of queue.splice(0)) {
      if (taken.delivery.dueAt.getTime() - ctx.now().getTime() < MIN_LEASE) {
        late.push(taken)
        continue
      }
      const hasRoom = !worker.isClosing && worker.running < CONCURRENCY
      const slot = hasRoom ? slots.acquire(taken.delivery) : null
      if (slot === null) queue.push(taken)
      else run(taken, slot)
    }
    if (late.length > 0) void worker.release(late.map(({ delivery }) => delivery))
  }

  function run(taken: ClaimedDelivery, slot: Slot): void {
    const { subscriber } = taken.delivery
    let isSent = false
    const sent = () => {
      if (isSent) return
      isSent = true
      slot.leaveDestination()
      startQueued()
      // While the route has enough queued deliveries, a poll would find nothing.
      if (!saturated().includes(routeOf(taken.delivery))) worker.wake()
    }
    worker.run(taken.delivery, async () => {
      try {
        await deliver(taken, sent)
      } finally {
        sent()
        slot.leave()
        // The delivery may have ended the subscription.
        for (const other of queue) if (other.delivery.subscriber.id === subscriber.id) other.freshUntil = 0
      }
      return true
    })
  }

  return {
    ...worker,
    close() {
      slots.close()
      return worker.close()
    },
  }
}
