import { createKeyLimiter } from '../../core/concurrency/key-limiter.ts'
import { SECOND } from '../../core/time.ts'
import type { ThirdPartyRate } from '../../network/third-party-rate.ts'
import type { DeliveryKind, DueRow } from './kind.ts'

/** The shortest wait for a slot of a third party, in milliseconds. */
const MIN_SLOT_WAIT = 0.02 * SECOND

/** A running delivery's share of the limits. */
export interface Slot {
  /** Frees the destination for another delivery. */
  leaveDestination(): void
  /** Frees the receiver and the organization for another delivery. */
  leave(): void
}

/** The limits of concurrent deliveries: per organization, destination, receiver, and third party. */
export interface Slots<Row> {
  /** Acquires a slot; null if none is free. `onFree` is called when one may be free. */
  acquire(row: Row): Slot | null
  /** Returns the routes (`routeOf`) with enough running and queued deliveries. */
  saturated(queued: readonly Row[]): string[]
  /** Stops calling `onFree`. */
  close(): void
}

/** Creates the limits of a kind. @param onFree called when a third party has a free slot again. */
export function createSlots<Row extends DueRow>(
  { limits, receiverOf, isRated }: Pick<DeliveryKind<Row>, 'limits' | 'receiverOf' | 'isRated'>,
  rate: ThirdPartyRate,
  onFree: () => void,
): Slots<Row> {
  const { atOnce, perDestination } = limits
  const routeLimit = (route: string) => perDestination(route.slice(route.indexOf(' ') + 1)) / 2
  const organizations = createKeyLimiter({ inTotal: atOnce })
  const destinations = createKeyLimiter({ atOnce: perDestination })
  const routes = createKeyLimiter({ atOnce: routeLimit })
  const receivers = createKeyLimiter({ atOnce: 1 })
  let pause: NodeJS.Timeout | undefined

  /** Acquires a slot of a third party, or returns null. */
  function acquireThirdParty(row: Row) {
    if (!isRated(row)) return () => {}
    const { destination, organizationId } = row
    const end = rate.tryAcquire(destination, organizationId)
    if (end === null) {
      clearTimeout(pause)
      pause = setTimeout(onFree, Math.max(rate.msUntilFree(destination, organizationId), MIN_SLOT_WAIT)).unref()
    }
    return end
  }

  return {
    acquire(row) {
      const ofReceiver = acquireAll([
        () => receivers.tryAcquire(receiverOf(row)),
        () => organizations.tryAcquire(row.organizationId),
      ])
      if (ofReceiver === null) return null
      const ofDestination = acquireAll([
        () => routes.tryAcquire(routeOf(row)),
        () => destinations.tryAcquire(row.destination),
        () => acquireThirdParty(row),
      ])
      if (ofDestination === null) {
        ofReceiver()
        return null
      }
      return { leaveDestination: ofDestination, leave: ofReceiver }
    },
    saturated(queued) {
      const held = new Map(routes.running)
      for (const row of queued) held.set(routeOf(row), (held.get(routeOf(row)) ?? 0) + 1)
      return [...held].filter(([route, count]) => count >= 2 * routeLimit(route)).map(([route]) => route)
    },
    close: () => clearTimeout(pause),
  }
}

/** Acquires all of several limits; null if one has no room. Returns a function that may be called again. */
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
export const routeOf = ({ organizationId, destination }: Pick<DueRow, 'organizationId' | 'destination'>): string =>
  `${organizationId} ${destination}`
