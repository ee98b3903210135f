import { createTokenBucket } from '../core/concurrency/token-bucket.ts'
import type { Clock } from '../core/time.ts'
import { DAY } from '../core/time.ts'

/** Limits the queries to one list, so that we never break its terms of use. */
export interface QueryBudget {
  /** Consumes one query. Returns false if none is left. */
  consume(): boolean
}

/**
 * Creates a budget of at most `perDay` queries in any 24 hours, half of them at once. Each process has its own budget,
 * so several instances behind one resolver can exceed the list's limit together.
 */
export function createDailyBudget(perDay: number, now: Clock): QueryBudget {
  const bucket = createTokenBucket({ limit: perDay, windowMs: DAY, burst: perDay / 2 }, () => now().getTime())
  return { consume: bucket.take }
}
