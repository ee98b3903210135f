import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { SECOND } from '../../core/time.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import { MAIL } from '../channel/email.ts'
import { MAX_CONCURRENT_MAILS } from '../channel/mailer.ts'
import type { DueDelivery } from './delivery.ts'

/** The number of concurrent sends. */
export const CONCURRENCY = 64
/** Concurrent sends to one host, which can serve many subscribers. A subscriber gets one message at a time. */
const PER_HOST = 4
/** The shortest wait for a slot of a webhook's host, in milliseconds. */
const MIN_SLOT_WAIT = 0.02 * SECOND

/** A delivery that waits for a slot. */
type Waiting = Pick<DueDelivery, 'organizationId' | 'destination' | 'subscriber'>

/** A running delivery's share of the limits. */
export interface Slot {
  /** Frees the destination for another delivery. */
  leaveDestination(): void
  /** Frees the subscriber for another delivery. */
  leaveSubscriber(): void
}

/** The limits of concurrent deliveries: per destination, per subscriber, and per third party's host. */
export interface Slots {
  /** Acquires a slot; null if none is free. `onFree` is called when one may be free. */
  acquire(delivery: Waiting): Slot | null
  /**
   * Returns the destinations with enough running and queued deliveries. @param queued the destination of each queued
   * delivery.
   */
  saturated(queued: readonly string[]): string[]
  /** Stops calling `onFree`. */
  close(): void
}

/** Creates the limits. @param onFree called when a third party's host has a free slot again. */
export function createSlots(rate: ThirdPartyRate, onFree: () => void): Slots {
  const destinations = createKeyLimiter({ atOnce: concurrencyLimit })
  const subscribers = createKeyLimiter({ atOnce: 1 })
  let pause: NodeJS.Timeout | undefined

  /** Acquires a slot of a third party's host, or returns null. */
  function acquireHost({ subscriber, destination, organizationId }: Waiting) {
    if (subscriber.channel !== 'WEBHOOK') return () => {}
    const end = rate.tryAcquire(destination, organizationId)
    if (end === null) {
      clearTimeout(pause)
      pause = setTimeout(onFree, Math.max(rate.msUntilFree(destination, organizationId), MIN_SLOT_WAIT)).unref()
    }
    return end
  }

  return {
    acquire(delivery) {
      const { destination, subscriber } = delivery
      const leaveSubscriber = subscribers.tryAcquire(subscriber.id)
      if (leaveSubscriber === null) return null
      const leave = destinations.tryAcquire(destination)
      const leaveHost = leave && acquireHost(delivery)
      if (leave === null || leaveHost === null) {
        leave?.()
        leaveSubscriber()
        return null
      }
      return {
        leaveDestination() {
          leave()
          leaveHost()
        },
        leaveSubscriber,
      }
    },
    saturated(queued) {
      const taken = new Map(destinations.running)
      for (const destination of queued) taken.set(destination, (taken.get(destination) ?? 0) + 1)
      return [...taken]
        .filter(([destination, held]) => held >= 2 * concurrencyLimit(destination))
        .map(([destination]) => destination)
    },
    close: () => clearTimeout(pause),
  }
}

const concurrencyLimit = (destination: string) => (destination === MAIL ? MAX_CONCURRENT_MAILS : PER_HOST)
