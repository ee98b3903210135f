/** Limits a rate: contains a number of tokens, which are refilled evenly. */
export interface TokenBucket {
  /** Takes a token; returns false if there is none. */
  take(): boolean
  /** Returns the milliseconds until there is a token; 0: now. */
  msUntilToken(): number
  /** Returns whether the bucket is full. */
  isFull(): boolean
}

export interface RateLimit {
  /** The maximum number of tokens taken within any window of this many milliseconds. */
  readonly limit: number
  readonly windowMs: number
  /** The maximum number taken at once; the rest is spread over the window. */
  readonly burst: number
}

/** Creates a full bucket. @param clock milliseconds. */
export function createTokenBucket(
  { limit, windowMs, burst }: RateLimit,
  clock: () => number = () => performance.now(),
): TokenBucket {
  const perMs = Math.max(limit - burst, 1) / windowMs
  let tokens = burst
  let refilledAt = clock()

  function refill(): void {
    const now = clock()
    // Setting a clock back adds and removes nothing.
    tokens = Math.min(burst, tokens + Math.max(0, now - refilledAt) * perMs)
    refilledAt = now
  }

  return {
    take() {
      refill()
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
    msUntilToken() {
      refill()
      return tokens < 1 ? Math.ceil((1 - tokens) / perMs) : 0
    },
    isFull() {
      refill()
      return tokens >= burst
    },
  }
}
