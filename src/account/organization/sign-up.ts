import type { Context } from '../../core/context.ts'
import { RateLimited } from '../../core/errors.ts'
import { clientSubject } from '../../core/ip-address.ts'
import { HOUR, nextUtcDay, nextUtcHour, utcDay } from '../../core/time.ts'
import { consumeMany } from '../quota.ts'

/** Limits of organizations created without the operator's token. */
interface SignUpLimits {
  /** In an hour (UTC). */
  readonly hour: number
  /** On a day (UTC). */
  readonly day: number
}

/** From one network: an IPv4 address, or an IPv6 /64. */
export const SIGN_UPS_PER_NETWORK: SignUpLimits = { hour: 5, day: 10 }
/** From all networks together, so that a caller with many networks cannot fill the database. */
export const SIGN_UPS_IN_TOTAL: SignUpLimits = { hour: 200, day: 1000 }

/**
 * Counts a sign-up in the transaction that creates the organization, so that a rollback undoes it.
 * @throws RateLimited after too many sign-ups from the caller's network, or in total.
 */
export async function consumeSignUpQuota(tx: Context): Promise<void> {
  const subject = `sign-up ${clientSubject(tx.clientAddress)}`
  await consumeQuota(tx, subject, SIGN_UPS_PER_NETWORK, 'from one network')
  // Comes last, so that a refused network does not lock the shared row.
  await consumeQuota(tx, 'sign-up', SIGN_UPS_IN_TOTAL, 'by all networks together')
}

async function consumeQuota(tx: Context, subject: string, limits: SignUpLimits, whose: string): Promise<void> {
  const at = tx.now()
  const day = utcDay(at)
  const hour = Math.floor((at.getTime() - day.getTime()) / HOUR)
  const takes = (counter: string, limit: number) => consumeMany(tx, counter, day, { amount: 1, limit })
  if (!(await takes(subject, limits.day)))
    throw limitReached(`${limits.day} organizations a day`, whose, nextUtcDay(at))
  if (!(await takes(`${subject} hour ${hour}`, limits.hour))) {
    throw limitReached(`${limits.hour} organizations an hour`, whose, nextUtcHour(at))
  }
}

function limitReached(limit: string, whose: string, retryAt: Date): RateLimited {
  return new RateLimited(`At most ${limit} can be created ${whose} (UTC). Please try again later.`, retryAt)
}
