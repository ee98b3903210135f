import type { Span } from '../uptime.ts'
import { coveragePercent, uptimePercent } from '../uptime.ts'
import type { Account, CountedStretch } from './account.ts'
import { accountOf } from './account.ts'

/** A whole, in thousandths of a percent, in which targets are given: 99900 is 99.9 %. */
export const WHOLE = 100_000

/** How an objective stands. */
export type ObjectiveVerdict = 'HEALTHY' | 'AT_RISK' | 'EXHAUSTED' | 'NO_DATA'

/** How much of an objective's window was good, and what is left of its error budget. */
export interface Budget extends Span {
  readonly account: Account
  /** The share of the known time that was good, in percent, rounded down; null: nothing is known. */
  readonly percent: number | null
  /** The known share of the time that counts, in percent, rounded down; null: none counts. */
  readonly coverage: number | null
  /** How much of the window may be bad, in milliseconds. */
  readonly budgetMs: number
  /** What is left of it; negative: it is overspent. */
  readonly remainingMs: number
  readonly verdict: ObjectiveVerdict
  /** Whether the service was watched since the window began. */
  readonly isFull: boolean
}

/** What a budget is computed of. */
export interface BudgetQuestion {
  /** In thousandths of a percent. */
  readonly target: number
  /** The whole window, which may end later than now. */
  readonly window: Span
  /** Since when the service is watched. */
  readonly begunAt: Date
  readonly now: Date
}

/** An objective is at risk from this share of its budget down. */
const AT_RISK_SHARE = 0.2

/**
 * Returns how an objective stands. The budget is that of the whole window, in which what is still to come, and what was before the service
 * was watched, may be bad as well; time without data, maintenance and what was excluded takes its share away.
 */
export function budgetOf(
  stretches: readonly CountedStretch[],
  { target, window, begunAt, now }: BudgetQuestion,
): Budget {
  const to = now < window.to ? now : window.to
  const begun = new Date(Math.min(Math.max(+begunAt, +window.from), +to))
  const account = accountOf(stretches, { from: window.from, to })
  const before = accountOf(stretches, { from: window.from, to: begun })
  const { good, bad, unknown, maintenance, excluded } = account
  const lost = unknown - before.unknown + maintenance + excluded
  const budgetMs = Math.floor(((WHOLE - target) * (window.to.getTime() - window.from.getTime() - lost)) / WHOLE)
  const known = { up: good, degraded: 0, down: bad, unknown: unknown - before.unknown, maintenance: 0 }
  return {
    from: window.from,
    to,
    account,
    percent: uptimePercent(known),
    coverage: coveragePercent(known),
    budgetMs,
    remainingMs: budgetMs - bad,
    verdict: verdictOf(account, budgetMs),
    isFull: begunAt <= window.from,
  }
}

function verdictOf({ good, bad }: Account, budgetMs: number): ObjectiveVerdict {
  if (good + bad === 0) return 'NO_DATA'
  if (bad > 0 && bad >= budgetMs) return 'EXHAUSTED'
  return bad > 0 && budgetMs - bad <= AT_RISK_SHARE * budgetMs ? 'AT_RISK' : 'HEALTHY'
}

/** Returns whether the known time was as good as a target; null: nothing is known. */
export function isMet({ good, bad }: Pick<Account, 'good' | 'bad'>, target: number): boolean | null {
  return good + bad === 0 ? null : bad * WHOLE <= (WHOLE - target) * (good + bad)
}
