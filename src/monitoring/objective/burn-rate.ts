import { HOUR, MINUTE } from '../../core/time.ts'
import { WHOLE } from './budget.ts'
import type { CountedStretch } from './objective-tally.ts'
import { objectiveTally } from './objective-tally.ts'

/**
 * The kind of a burn rate. Each is measured in a long window, and in a short one so that it ends soon after a problem.
 */
export type BurnSpeed = 'FAST' | 'SLOW' | 'STEADY'

/** The rules of the SRE workbook (chapter 5): the percentage of the budget that is used within the long window. */
const rules = [
  { speed: 'FAST', percentOfBudget: 2, longMs: HOUR, shortMs: 5 * MINUTE },
  { speed: 'SLOW', percentOfBudget: 5, longMs: 6 * HOUR, shortMs: 30 * MINUTE },
  { speed: 'STEADY', percentOfBudget: 10, longMs: 72 * HOUR, shortMs: 6 * HOUR },
] as const

/** How far burn rates look back from now. */
export const BURN_HISTORY_MS = Math.max(...rules.map(({ longMs }) => longMs))

/** The burn rates in a pair of windows. */
export interface BurnRate {
  readonly speed: BurnSpeed
  readonly longMs: number
  readonly shortMs: number
  /** The burn rate that counts as too fast. A rate of 1 uses up the budget in exactly the objective's window. */
  readonly threshold: number
  /** The rate in each window; null: there is no data. */
  readonly longRate: number | null
  readonly shortRate: number | null
  /** Whether both rates are too fast; null: it is unknown. */
  readonly isBurning: boolean | null
}

/** The data from which burn rates are computed. */
export interface BurnQuestion {
  /** The target, in thousandths of a percent. */
  readonly target: number
  /** The length of the objective's window. */
  readonly windowMs: number
  readonly begunAt: Date
  readonly now: Date
}

/**
 * Computes the burn rates of an objective. Thresholds are scaled to its window; they are at least 1, and at most the
 * rate of a complete outage. Leaves out pairs whose long window exceeds the objective's window. A pair is unknown until
 * the service has been monitored for its long window.
 */
export function burnRates(stretches: readonly CountedStretch[], question: BurnQuestion): BurnRate[] {
  const { windowMs, begunAt, now } = question
  return rules
    .filter(({ longMs }) => longMs <= windowMs)
    .map(({ speed, percentOfBudget, longMs, shortMs }) => {
      const threshold = thresholdOf(percentOfBudget, longMs, question)
      const [longRate, shortRate] = [longMs, shortMs].map((length) => rateOf(stretches, length, question))
      const hasHistory = begunAt.getTime() <= now.getTime() - longMs
      const isKnown = hasHistory && longRate != null && shortRate != null
      const isBurning = isKnown ? longRate >= threshold && shortRate >= threshold : null
      return { speed, longMs, shortMs, threshold, longRate: longRate ?? null, shortRate: shortRate ?? null, isBurning }
    })
}

/**
 * Returns the threshold of a pair. Divides only once, like `rateOf`, so that equal rates stay equal despite rounding.
 */
function thresholdOf(percentOfBudget: number, longMs: number, { target, windowMs }: BurnQuestion): number {
  const scaled = (percentOfBudget * windowMs) / (100 * longMs)
  return Math.min(Math.max(scaled, 1), WHOLE / (WHOLE - target))
}

function rateOf(stretches: readonly CountedStretch[], length: number, { target, now }: BurnQuestion): number | null {
  const { good, bad } = objectiveTally(stretches, { from: new Date(now.getTime() - length), to: now })
  return good + bad === 0 ? null : (bad * WHOLE) / ((good + bad) * (WHOLE - target))
}

/**
 * Returns the fastest burn rate that is too fast; null: there is none. An unknown rate counts as unchanged, so that
 * maintenance and missing data neither start nor end burning.
 * @param before the previous burn rate.
 */
export function burnSpeed(rates: readonly BurnRate[], before: BurnSpeed | null): BurnSpeed | null {
  const burning = rates.find(({ isBurning, speed }) => isBurning ?? speed === before)
  return burning?.speed ?? null
}
