import { SECOND } from '../../core/time.ts'
import { thirdParty } from '../../network/destination.ts'
import { createDestinationLimiter } from '../../network/destination-limiter.ts'
import { MAIL } from '../channel/email.ts'
import { MAX_CONCURRENT_MAILS } from '../channel/mailer.ts'
import type { DueDelivery } from './delivery.ts'

/** The number of concurrent sends. */
export const CONCURRENCY = 64
/** Concurrent sends to one host, which can serve many subscribers. A subscriber gets one message at a time. */
const PER_HOST = 4
/** Messages per minute to one webhook host from all organizations; more wait. */
const MAX_WEBHOOKS_PER_MINUTE = 600
/** The shortest wait for a slot of a webhook's host, in milliseconds. */
const MIN_SLOT_WAIT = 0.02 * SECOND

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
  acquire(delivery: Pick<DueDelivery, 'destination' | 'subscriber'>): Slot | null
  /**
   * Returns the destinations with enough running and queued deliveries. @param queued the destination of each queued
   * delivery.
   */
  saturated(queued: readonly string[]): string[]
  /** Stops calling `onFree`. */
  close(): void
}

/** Creates the limits. @param onFree called when a third party's host has a free slot again. */
export function createSlots(onFree: () => void): Slots {
  /** Running deliveries by destination and by subscriber. */
  const busy = new Map<string, number>()
  const webhooks = createDestinationLimiter({ atOnce: CONCURRENCY, perMinute: MAX_WEBHOOKS_PER_MINUTE })
  let pause: NodeJS.Timeout | undefined

  const count = (key: string, by: number) => {
    const left = (busy.get(key) ?? 0) + by
    if (left > 0) busy.set(key, left)
    else busy.delete(key)
  }

  /** Acquires a slot of a third party's host, or returns null. */
  function acquireHost({ subscriber, destination }: Pick<DueDelivery, 'destination' | 'subscriber'>) {
    const party = subscriber.channel === 'WEBHOOK' ? thirdParty(destination.replace(/:\d+$/, '')) : null
    if (party === null) return () => {}
    const end = webhooks.tryAcquire(party)
    if (end === null) {
      clearTimeout(pause)
      pause = setTimeout(onFree, Math.max(webhooks.msUntilFree(party), MIN_SLOT_WAIT)).unref()
    }
    return end
  }

  return {
    acquire(delivery) {
      const { destination, subscriber } = delivery
      if ((busy.get(destination) ?? 0) >= concurrencyLimit(destination) || busy.has(subscriber.id)) return null
      const leaveHost = acquireHost(delivery)
      if (leaveHost === null) return null
      count(destination, 1)
      count(subscriber.id, 1)
      return {
        leaveDestination() {
          count(destination, -1)
          leaveHost()
        },
        leaveSubscriber: () => count(subscriber.id, -1),
      }
    },
    saturated(queued) {
      const taken = new Map(busy)
      for (const destination of queued) taken.set(destination, (taken.get(destination) ?? 0) + 1)
      return [...taken]
        .filter(([destination, held]) => held >= 2 * concurrencyLimit(destination))
        .map(([destination]) => destination)
    },
    close: () => clearTimeout(pause),
  }
}

const concurrencyLimit = (destination: string) => (destination === MAIL ? MAX_CONCURRENT_MAILS : PER_HOST)
