import { SECOND } from '../../core/time.ts'
import type { Agenda } from '../../database/lease/agenda.ts'
import { earliestOf } from '../../database/lease/agenda.ts'
import type { LeasedWorker } from '../../database/lease/leased-worker.ts'
import { createLeasedWorker } from '../../database/lease/leased-worker.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import type { DeliveryKind, DueRow } from './kind.ts'
import { LEASE } from './lease.ts'
import type { ClaimedDelivery, SendingParts } from './sender.ts'
import { createSender } from './sender.ts'
import type { Slot } from './slots.ts'
import { createSlots, routeOf } from './slots.ts'
import { isFirst, postponeBlocked } from './thread.ts'

/** A delivery with less time left on its lease is released instead of started. */
const MIN_LEASE = 50 * SECOND
/**
 * How long a queued delivery counts as current, in milliseconds. After that it is read again, because its receiver may
 * have unsubscribed.
 */
const FRESH = SECOND
/** The minimum pause between looks for due deliveries that must wait. */
const BLOCKED_PAUSE = 10 * SECOND
/** The pauses of a worker. Wake-ups are merged, because many sends end at about the same time. */
const pauses = { noRoom: SECOND, full: 5, partial: 0.25 * SECOND, soonest: 0.25 * SECOND, wake: 20 } as const

/** What a worker needs. */
export interface WorkerParts extends SendingParts {
  readonly rate: ThirdPartyRate
  /** Wakes the worker when a delivery is due; without it, the worker polls every second. */
  readonly agenda?: Agenda
}

/** Creates a worker that sends the deliveries of one kind as the system. */
export function createDeliveryWorker<Row extends DueRow>(parts: WorkerParts, kind: DeliveryKind<Row>): LeasedWorker {
  const { ctx, rate, agenda } = parts
  const { table, threads, limits, receiverOf } = kind
  const queue: ClaimedDelivery<Row>[] = []
  const slots = createSlots(kind, rate, startQueued)
  const deliver = createSender(parts, kind)
  const isNext = threads === null ? Prisma.sql`TRUE` : isFirst(threads)
  const saturated = () => slots.saturated(queue.map(({ delivery }) => delivery))
  /** Whether the last poll claimed something, and when due deliveries were postponed, on the monotonic clock. */
  let isClaiming = true
  let lookedAt = Number.NEGATIVE_INFINITY

  const worker = createLeasedWorker<Row>({
    ctx,
    table,
    dueColumn: 'dueAt',
    where: () => Prisma.sql`${isOfOtherRoutes(kind, saturated())} AND ${isNext}`,
    ownerOf: ({ organizationId }) => organizationId,
    leaseMs: LEASE,
    maxClaimed: limits.claimed,
    batch: limits.batch,
    prepare: postponeWaiting,
    read: (ids) => kind.read(ids),
    accept(claims) {
      isClaiming = true
      for (const { row } of claims) queue.push({ delivery: row, freshUntil: performance.now() + FRESH })
      startQueued()
    },
    earliest: earliestOf(table),
    agenda,
    onEnd: startQueued,
    pauses,
    name: kind.name,
  })

  /** Postpones what is due but must wait for others, once a poll has found nothing else. */
  async function postponeWaiting(): Promise<void> {
    const isPause = performance.now() - lookedAt < BLOCKED_PAUSE
    if (threads !== null && !isClaiming && !isPause) {
      lookedAt = performance.now()
      await postponeBlocked(ctx, threads)
    }
    isClaiming = false
  }

  /** Starts queued deliveries in the order of their claims, within the limits. */
  function startQueued(): void {
    const late: ClaimedDelivery<Row>[] = []
    for (const taken of queue.splice(0)) {
      if (taken.delivery.dueAt.getTime() - ctx.now().getTime() < MIN_LEASE) {
        late.push(taken)
        continue
      }
      const hasRoom = !worker.isClosing && worker.running < limits.atOnce
      const slot = hasRoom ? slots.acquire(taken.delivery) : null
      if (slot === null) queue.push(taken)
      else run(taken, slot)
    }
    if (late.length > 0) void worker.release(late.map(({ delivery }) => delivery))
  }

  function run(taken: ClaimedDelivery<Row>, slot: Slot): void {
    const { delivery } = taken
    const receiver = receiverOf(delivery)
    let isSent = false
    const sent = () => {
      if (isSent) return
      isSent = true
      slot.leaveDestination()
      startQueued()
    }
    worker.run(delivery, async () => {
      try {
        await deliver(taken, sent)
      } finally {
        sent()
        slot.leave()
        // The delivery may have ended the subscription.
        for (const other of queue) if (receiverOf(other.delivery) === receiver) other.freshUntil = 0
        // Now the next one of its thread can be claimed. While the route has enough queued deliveries, a poll would find nothing.
        if (!saturated().includes(routeOf(delivery))) worker.wake()
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

/** Selects deliveries of other routes (`routeOf`). Compares nothing while there are none, because it reads each row. */
function isOfOtherRoutes({ destinationSql }: Pick<DeliveryKind<never>, 'destinationSql'>, routes: readonly string[]) {
  if (routes.length === 0) return Prisma.sql`TRUE`
  return Prisma.sql`"organizationId" || ' ' || ${Prisma.raw(destinationSql)} <> ALL (${routes}::text[])`
}
