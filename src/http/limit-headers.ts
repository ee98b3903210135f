import type { Allowance } from '../account/usage.ts'
import { DAY, SECOND } from '../time.ts'

/** Whole seconds from `now` until a moment, rounded up; 0 when it has passed. */
export function secondsUntil(at: Date, now: Date): number {
  return Math.max(0, Math.ceil((at.getTime() - now.getTime()) / SECOND))
}

/**
 * The headers that tell a caller what is left of its plan, names and values by turns: `RateLimit-Policy` and `RateLimit`
 * of draft-ietf-httpapi-ratelimit-headers-11 (the window in seconds), and the older `X-RateLimit-*` (reset in epoch
 * seconds).
 */
export function limitHeaders(
  { limit, remaining, resetsAt }: Pick<Allowance, 'limit' | 'remaining' | 'resetsAt'>,
  now: Date,
): string[] {
  return [
    'RateLimit-Policy',
    `"daily";q=${limit};w=${DAY / SECOND}`,
    'RateLimit',
    `"daily";r=${remaining};t=${secondsUntil(resetsAt, now)}`,
    'X-RateLimit-Limit',
    String(limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(resetsAt.getTime() / SECOND),
  ]
}
