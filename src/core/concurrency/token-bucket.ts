/** Limits a rate: holds some tokens, and refills them evenly. */
export interface TokenBucket {
  /** Takes a token; returns false when none exists. */
  take(): boolean
  /** Returns in how many milliseconds there is a token; 0: now. */
  msUntilToken(): number
  /** Returns whether the bucket holds all the tokens that it can. */
  isFull(): boolean
}

export interface RateLimit {
  /** How many tokens can be taken within any window of this many milliseconds. */
  readonly limit: number
  readonly windowMs: number
  /** How many of them can be taken at once; the rest is spread over the window. */
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
    // A clock that is set back gives nothing, and takes nothing.
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
