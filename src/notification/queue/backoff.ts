import { DAY, HOUR, SECOND } from '../../core/time.ts'

/** The pause after the first failed attempt; each further pause is twice as long, up to `MAX_PAUSE`. */
const FIRST_PAUSE = 10 * SECOND
const MAX_PAUSE = 2 * HOUR

/** How long after its creation a delivery is retried. */
const RETRY_WINDOW = DAY
/** A delivery is tried this often even after its window, of which this service may have been down for the most part. */
const FEWEST_ATTEMPTS = 10

/** How long a postponed delivery waits, in milliseconds; jitter up to doubles it. */
const POSTPONE_MS = 2 * SECOND

/**
 * Returns when to try again after a message was not sent because its destination is at its limit. This is not an
 * attempt.
 * @param random from 0 to 1.
 */
export function postponedUntil(now: Date, random: number): Date {
  return new Date(now.getTime() + POSTPONE_MS * (1 + random))
}

/**
 * Returns when to retry a delivery: exponential backoff with 25% jitter, and not before the receiver's `Retry-After`.
 * Null if that is more than a day after the delivery was created and it was tried ten times, or if the receiver asks for
 * more than a day.
 * @param failed the number of failed attempts, at least 1.
 * @param random from 0 to 1.
 */
export function nextAttempt(
  delivery: { readonly createdAt: Date; readonly failed: number; readonly retryAfterMs: number | null },
  now: Date,
  random: number,
): Date | null {
  const { createdAt, failed, retryAfterMs } = delivery
  const pause = Math.min(FIRST_PAUSE * 2 ** (failed - 1), MAX_PAUSE) * (0.75 + random / 2)
  const at = now.getTime() + Math.max(pause, retryAfterMs ?? 0)
  const windowFrom = failed < FEWEST_ATTEMPTS ? now : createdAt
  // Includes times beyond the range of dates, because receivers can ask for any delay.
  return at - windowFrom.getTime() > RETRY_WINDOW ? null : new Date(at)
}
