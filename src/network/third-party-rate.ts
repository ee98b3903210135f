import { createKeyLimiter } from '../core/concurrency/key-limiter.ts'
import { thirdParty } from './destination.ts'
import { createDestinationLimiter } from './destination-limiter.ts'

/** Limits the messages that the service sends to third parties, whose addresses users enter. */
export interface ThirdPartyRate {
  /** Admits a message to a host now. Returns a function to call when it is sent; null: a limit is reached. */
  tryAcquire(host: string): (() => void) | null
  /** Returns the milliseconds until the limit per minute of a host may admit a message again. */
  msUntilFree(host: string): number
}

/** The limits of one third party, for all organizations and kinds of messages together. */
const PER_PARTY = { atOnce: 64, perMinute: 600 } as const
/** The limits of one push service. They are higher because each serves all users of a browser. */
const PER_PUSH_SERVICE = { atOnce: 64, perMinute: 3000 } as const

/** The push services of Chrome, Firefox, Safari and Edge. */
const pushService =
  /^(?:fcm\.googleapis\.com|updates\.push\.services\.mozilla\.com|web\.push\.apple\.com|[a-z0-9-]+\.notify\.windows\.com)$/

/** Creates the limits that all senders of this process share. Hosts in private networks have no limit. */
export function createThirdPartyRate(): ThirdPartyRate {
  const parties = createDestinationLimiter(PER_PARTY)
  const services = createDestinationLimiter(PER_PUSH_SERVICE)

  function limitsOf(host: string) {
    const name = host.replace(/:\d+$/, '').toLowerCase()
    const party = thirdParty(name)
    return party === null ? null : { party, limiter: pushService.test(name) ? services : parties }
  }

  return {
    tryAcquire(host) {
      const limits = limitsOf(host)
      return limits === null ? () => {} : limits.limiter.tryAcquire(limits.party)
    },
    msUntilFree(host) {
      const limits = limitsOf(host)
      return limits === null ? 0 : limits.limiter.msUntilFree(limits.party)
    },
  }
}

/**
 * Creates a limit of the messages to each host that one kind of sender sends at once. They also count against the rate that all
 * senders share.
 */
export function createHostLimit(
  rate: Pick<ThirdPartyRate, 'tryAcquire'>,
  atOnce: number,
): Pick<ThirdPartyRate, 'tryAcquire'> {
  const running = createKeyLimiter({ atOnce })
  return {
    tryAcquire(host) {
      const leave = running.tryAcquire(host)
      const release = leave && rate.tryAcquire(host)
      if (leave === null || release === null) {
        leave?.()
        return null
      }
      return () => {
        release()
        leave()
      }
    },
  }
}
