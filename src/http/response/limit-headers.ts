import { DAY, SECOND } from '../../core/time.ts'

/** Returns the seconds from `now` until a time, rounded up; 0 for a past time. */
export function secondsUntil(at: Date, now: Date): number {
  return Math.max(0, Math.ceil((at.getTime() - now.getTime()) / SECOND))
}

/** The remaining quota of a plan. */
interface Quota {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: Date
}

/**
 * Returns the headers with the caller's remaining quota, alternating names and values: `RateLimit-Policy` and
 * `RateLimit` of draft-ietf-httpapi-ratelimit-headers-11 (the window in seconds), and the older `X-RateLimit-*` (reset
 * in epoch seconds).
 */
export function limitHeaders({ limit, remaining, resetsAt }: Quota, now: Date): string[] {
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
