import { thirdParty } from './destination.ts'
import type { DestinationLimiter } from './destination-limiter.ts'
import { createDestinationLimiter } from './destination-limiter.ts'

/**
 * The maximum number of connections per minute from one process to one public address (IPv6: to one /64), for all names
 * and callers. It is much higher than the limit for one name, because a content delivery network serves many unrelated
 * sites from one address. Allows 6,000 probes per minute, spread evenly; a sixth of the limit may start at once.
 */
export const CONNECTIONS_PER_MINUTE = 7200

/**
 * Limits connections by address, regardless of the names and redirects that lead to it. Checked when a connection
 * starts.
 */
export interface AddressRateLimiter {
  /** Admits a connection to an address; false: the limit is reached. @param owner who has half of it; absent: we. */
  tryAcquire(address: string, owner?: string): boolean
  /** Waits until the limit admits a connection; false: not within `waitMs` milliseconds, or the signal aborted. */
  acquire(
    address: string,
    limits: { readonly waitMs: number; readonly signal: AbortSignal; readonly owner?: string | undefined },
  ): Promise<boolean>
}

/** Creates a limiter. @param keyOf returns the key whose connections are limited together; null: no limit. */
export function createAddressRateLimiter(
  perMinute = CONNECTIONS_PER_MINUTE,
  keyOf: (address: string) => string | null = thirdParty,
): AddressRateLimiter {
  const limiter: DestinationLimiter = createDestinationLimiter({ atOnce: Number.POSITIVE_INFINITY, perMinute })
  return {
    tryAcquire(address, owner) {
      const key = keyOf(address)
      const end = key === null ? null : limiter.tryAcquire(key, owner)
      end?.()
      return key === null || end !== null
    },
    async acquire(address, limits) {
      const key = keyOf(address)
      return key === null || (await limiter.run(key, limits, async () => true)) === true
    },
  }
}
