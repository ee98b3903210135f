import { DAY, HOUR, SECOND } from '../time.ts'

/** How long after the first failed attempt the second follows; each pause after it is twice as long, up to the longest. */
const FIRST_PAUSE = 10 * SECOND
const LONGEST_PAUSE = 2 * HOUR

/** For how long after it was made a delivery is tried. */
export const TRIED_FOR = DAY

/**
 * When to try again what has failed for now: exponentially later, a quarter more or less so that those who failed together do
 * not come back together, and not before the receiver wants it. Null when that is more than a day after the delivery was made.
 * @param failed how many attempts have failed, at least 1. @param random from 0 to 1.
 */
export function nextAttempt(
  delivery: { readonly createdAt: Date; readonly failed: number; readonly retryAfterMs: number | null },
  now: Date,
  random: number,
): Date | null {
  const { createdAt, failed, retryAfterMs } = delivery
  const pause = Math.min(FIRST_PAUSE * 2 ** (failed - 1), LONGEST_PAUSE) * (0.75 + random / 2)
  const at = new Date(now.getTime() + Math.max(pause, retryAfterMs ?? 0))
  return at.getTime() - createdAt.getTime() > TRIED_FOR ? null : at
}
