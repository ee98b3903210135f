import { thirdParty } from './destination.ts'
import { createDestinationLimiter } from './destination-limiter.ts'

/** Limits the messages that the service sends to third parties, whose addresses users enter. */
export interface ThirdPartyRate {
  /**
   * Admits a message of an organization to a host now. Returns a function to call when it is sent; null: a limit is
   * reached.
   */
  tryAcquire(host: string, organizationId: string): (() => void) | null
  /** Returns the milliseconds until the limits per minute of a host may admit a message of an organization again. */
  msUntilFree(host: string, organizationId: string): number
}

/** The limits of one third party, for all organizations and kinds of messages together. */
const PER_PARTY = { atOnce: 64, perMinute: 600 } as const
/** The limits of one push service. They are higher because each serves all users of a browser. */
const PER_PUSH_SERVICE = { atOnce: 64, perMinute: 3000 } as const

/** The push services of Chrome and browsers like it, Firefox, Safari and Edge. */
const pushService =
  /^(?:fcm\.googleapis\.com|jmt17\.google\.com|[a-z0-9-]+\.push\.services\.mozilla\.com|[a-z0-9-]+\.push\.apple\.com|[a-z0-9-]+\.notify\.windows\.com)$/

/** Returns whether a host is the push service of a browser. @param host without a port. */
export const isPushService = (host: string): boolean => pushService.test(host.toLowerCase())

/** Creates the limits that all senders of this process share. Hosts in private networks have no limit. */
export function createThirdPartyRate(): ThirdPartyRate {
  const parties = createDestinationLimiter(PER_PARTY)
  const services = createDestinationLimiter(PER_PUSH_SERVICE)

  function limitOf(host: string) {
    const name = host.replace(/:\d+$/, '').toLowerCase()
    const party = thirdParty(name)
    return party === null ? null : { party, limiter: isPushService(name) ? services : parties }
  }

  return {
    tryAcquire(host, organizationId) {
      const limit = limitOf(host)
      return limit === null ? () => {} : limit.limiter.tryAcquire(limit.party, organizationId)
    },
    msUntilFree(host, organizationId) {
      const limit = limitOf(host)
      return limit === null ? 0 : limit.limiter.msUntilFree(limit.party, organizationId)
    },
  }
}
