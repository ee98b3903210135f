import { createTokenBucket, type TokenBucket } from '../core/concurrency/token-bucket.ts'
import { createLruMap } from '../core/lru-map.ts'
import type { Clock } from '../core/time.ts'
import { DAY } from '../core/time.ts'

/** Limits the queries to one list, so that we never break its terms of use. */
export interface QueryBudget {
  /** Consumes one query of an owner, such as an organization. Returns false if none is left, or none of his half. */
  consume(owner: string): boolean
}

/** For how many owners a budget remembers what they have used: the last ones. */
const MAX_OWNERS = 500

/**
 * Creates a budget of at most `perDay` queries in any 24 hours, half of them at once. Each process has its own budget,
 * so several instances behind one resolver can exceed the list's limit together. An owner gets half of it.
 */
export function createDailyBudget(perDay: number, now: Clock): QueryBudget {
  const newBucket = (limit: number) =>
    createTokenBucket({ limit, windowMs: DAY, burst: Math.max(1, limit / 2) }, () => now().getTime())
  const shared = newBucket(perDay)
  const owners = createLruMap<TokenBucket>(MAX_OWNERS)

  function bucketOf(owner: string): TokenBucket {
    const known = owners.get(owner)
    if (known) return known
    const bucket = newBucket(perDay / 2)
    owners.set(owner, bucket)
    return bucket
  }

  return {
    // What is left for all comes first: it takes no memory, and a refused query uses up nothing of the owner's.
    consume: (owner) => shared.msUntilToken() === 0 && bucketOf(owner).take() && shared.take(),
  }
}
