import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { SECOND } from '../../core/time.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import { MAIL } from '../channel/email.ts'
import { MAX_CONCURRENT_MAILS } from '../channel/mailer.ts'
import type { DueDelivery } from './delivery.ts'

/** The number of concurrent sends. Of this and of all other limits, an organization has at most half. */
export const CONCURRENCY = 128
/** Concurrent sends to one host, which can serve many subscribers. A subscriber gets one message at a time. */
const PER_HOST = 8
/** The shortest wait for a slot of a webhook's host, in milliseconds. */
const MIN_SLOT_WAIT = 0.02 * SECOND

/** A delivery that waits for a slot. */
type Waiting = Pick<DueDelivery, 'organizationId' | 'destination' | 'subscriber'>

/** A running delivery's share of the limits. */
export interface Slot {
  /** Frees the destination for another delivery. */
  leaveDestination(): void
  /** Frees the subscriber and the organization for another delivery. */
  leave(): void
}

/** The limits of concurrent deliveries: per organization, destination, subscriber, and third party's host. */
export interface Slots {
  /** Acquires a slot; null if none is free. `onFree` is called when one may be free. */
  acquire(delivery: Waiting): Slot | null
  /** Returns the routes (`routeOf`) with enough running and queued deliveries. */
  saturated(queued: readonly Waiting[]): string[]
  /** Stops calling `onFree`. */
  close(): void
}

/** Creates the limits. @param onFree called when a third party's host has a free slot again. */
export function createSlots(rate: ThirdPartyRate, onFree: () => void): Slots {
  const organizations = createKeyLimiter({ inTotal: CONCURRENCY })
  const destinations = createKeyLimiter({ atOnce: concurrencyLimit })
  const routes = createKeyLimiter({ atOnce: routeLimit })
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
      const { destination, subscriber, organizationId } = delivery
      const ofSender = acquireAll([
        () => subscribers.tryAcquire(subscriber.id),
        () => organizations.tryAcquire(organizationId),
      ])
      if (ofSender === null) return null
      const ofDestination = acquireAll([
        () => routes.tryAcquire(routeOf(delivery)),
        () => destinations.tryAcquire(destination),
        () => acquireHost(delivery),
      ])
      if (ofDestination === null) {
        ofSender()
        return null
      }
      return { leaveDestination: ofDestination, leave: ofSender }
    },
    saturated(queued) {
      const held = new Map(routes.running)
      for (const delivery of queued) held.set(routeOf(delivery), (held.get(routeOf(delivery)) ?? 0) + 1)
      return [...held].filter(([route, count]) => count >= 2 * routeLimit(route)).map(([route]) => route)
    },
    close: () => clearTimeout(pause),
  }
}

/** Acquires all of several limits; null if one has no room. Each returns a function that may be called again. */
function acquireAll(limits: readonly (() => (() => void) | null)[]): (() => void) | null {
  const acquired: (() => void)[] = []
  const leave = () => acquired.splice(0).forEach((end) => void end())
  for (const acquire of limits) {
    const end = acquire()
    if (end === null) {
      leave()
      return null
    }
    acquired.push(end)
  }
  return leave
}

/** Names an organization's deliveries to one destination. */
export const routeOf = ({ organizationId, destination }: Pick<Waiting, 'organizationId' | 'destination'>): string =>
  `${organizationId} ${destination}`

const concurrencyLimit = (destination: string) => (destination === MAIL ? MAX_CONCURRENT_MAILS : PER_HOST)
const routeLimit = (route: string) => concurrencyLimit(route.slice(route.indexOf(' ') + 1)) / 2
