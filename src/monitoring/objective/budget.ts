import type { Span } from '../uptime/uptime.ts'
import { coveragePercent, nothing, uptimePercent } from '../uptime/uptime.ts'
import type { CountedStretch, ObjectiveTally } from './objective-tally.ts'
import { objectiveTally } from './objective-tally.ts'

/** 100 % in the unit of targets, which is a thousandth of a percent: 99900 is 99.9 %. */
export const WHOLE = 100_000

/** The verdict on an objective. */
export type ObjectiveVerdict = 'HEALTHY' | 'AT_RISK' | 'EXHAUSTED' | 'NO_DATA'

/** The figures of an objective's window and its error budget. */
export interface Budget extends Span {
  readonly tally: ObjectiveTally
  /** The good share of the known time, in percent, rounded down; null: there is no data. */
  readonly percent: number | null
  /** The known share of the counted time, in percent, rounded down; null: no time counts. */
  readonly coverage: number | null
  /** The allowed bad time, in milliseconds. */
  readonly budgetMs: number
  /** The remaining budget, in milliseconds; negative: it is overspent. */
  readonly remainingMs: number
  readonly verdict: ObjectiveVerdict
  /** Whether the service has been monitored for the whole window. */
  readonly isFull: boolean
}

/** The data from which a budget is computed. */
export interface BudgetQuestion {
  /** The target, in thousandths of a percent. */
  readonly target: number
  /** The whole window, which may end after now. */
  readonly window: Span
  /** When the monitoring of the service started. */
  readonly begunAt: Date
  readonly now: Date
}

/** The remaining share of the budget at which an objective is at risk. */
const AT_RISK_SHARE = 0.2

/**
 * Computes the budget of an objective. The budget covers the whole window, including future time and the time before
 * monitoring started. Time without data, maintenance and excluded time reduce it proportionally.
 */
export function budgetOf(
  stretches: readonly CountedStretch[],
  { target, window, begunAt, now }: BudgetQuestion,
): Budget {
  const to = now < window.to ? now : window.to
  const begun = new Date(Math.min(Math.max(+begunAt, +window.from), +to))
  const tally = objectiveTally(stretches, { from: window.from, to })
  const before = objectiveTally(stretches, { from: window.from, to: begun })
  const { good, bad, unknown, maintenance, excluded } = tally
  const lost = unknown - before.unknown + maintenance + excluded
  const budgetMs = Math.floor(((WHOLE - target) * (window.to.getTime() - window.from.getTime() - lost)) / WHOLE)
  const known = { ...nothing, up: good, down: bad, unknown: unknown - before.unknown }
  return {
    from: window.from,
    to,
    tally,
    percent: uptimePercent(known),
    coverage: coveragePercent(known),
    budgetMs,
    remainingMs: budgetMs - bad,
    verdict: verdictOf(tally, budgetMs),
    isFull: begunAt <= window.from,
  }
}

function verdictOf({ good, bad }: ObjectiveTally, budgetMs: number): ObjectiveVerdict {
  if (good + bad === 0) return 'NO_DATA'
  if (bad > 0 && bad >= budgetMs) return 'EXHAUSTED'
  return bad > 0 && budgetMs - bad <= AT_RISK_SHARE * budgetMs ? 'AT_RISK' : 'HEALTHY'
}

/** Returns whether the known time meets a target; null: there is no data. */
export function isMet({ good, bad }: Pick<ObjectiveTally, 'good' | 'bad'>, target: number): boolean | null {
  return good + bad === 0 ? null : bad * WHOLE <= (WHOLE - target) * (good + bad)
}
