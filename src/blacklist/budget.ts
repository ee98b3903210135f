import type { Clock } from '../time.ts'
import { DAY } from '../time.ts'

/** How many queries may still be sent to one list, so that its terms of use are never broken. */
export interface Budget {
  /** Takes one query from the budget; false when none is left. */
  take(): boolean
}

/**
 * A token bucket that never lets more than `perDay` through in any 24 hours: it holds half of them and refills the other
 * half over a day. Per process: several instances that share a resolver share the list's patience too.
 */
export function dailyBudget(perDay: number, now: Clock): Budget {
  const capacity = perDay / 2
  let tokens = capacity
  let refilledAt = now().getTime()
  return {
    take() {
      const at = now().getTime()
      tokens = Math.min(capacity, tokens + (Math.max(0, at - refilledAt) / DAY) * capacity)
      refilledAt = at
      if (tokens < 1) return false
      tokens -= 1
      return true
    },
  }
}
