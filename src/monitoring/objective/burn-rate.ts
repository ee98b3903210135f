import { HOUR, MINUTE } from '../../core/time.ts'
import type { CountedStretch } from './account.ts'
import { accountOf } from './account.ts'
import { WHOLE } from './budget.ts'

/** How fast a budget burns: the share of it that a long window uses up, seen in a short one too, so that it ends soon after. */
export type BurnSpeed = 'FAST' | 'SLOW' | 'STEADY'

/** The rules of the SRE workbook (chapter 5): a percentage of the budget within the long window. */
const rules = [
  { speed: 'FAST', percentOfBudget: 2, longMs: HOUR, shortMs: 5 * MINUTE },
  { speed: 'SLOW', percentOfBudget: 5, longMs: 6 * HOUR, shortMs: 30 * MINUTE },
  { speed: 'STEADY', percentOfBudget: 10, longMs: 72 * HOUR, shortMs: 6 * HOUR },
] as const

/** The time before now that burn rates look at. */
export const BURN_HISTORY_MS = Math.max(...rules.map(({ longMs }) => longMs))

/** A pair of windows, and how fast the budget burns in both. */
export interface BurnRate {
  readonly speed: BurnSpeed
  readonly longMs: number
  readonly shortMs: number
  /** The burn rate from which it is too fast. 1 uses up the whole budget in exactly the objective's window. */
  readonly threshold: number
  /** Null: nothing is known of the window. */
  readonly longRate: number | null
  readonly shortRate: number | null
  /** Whether both are too fast; null: that cannot be told now, or not yet. */
  readonly isBurning: boolean | null
}

/** What burn rates are computed of. */
export interface BurnQuestion {
  /** In thousandths of a percent. */
  readonly target: number
  /** The length of the objective's window. */
  readonly windowMs: number
  readonly begunAt: Date
  readonly now: Date
}

/**
 * Returns the burn rates of an objective. Thresholds are scaled to its window, are at least 1, and at most what a complete outage
 * reaches. A pair whose long window is longer than the objective's is left out; one is silent until the service was watched for all of
 * its long window.
 */
export function burnRates(stretches: readonly CountedStretch[], question: BurnQuestion): BurnRate[] {
  const { windowMs, begunAt, now } = question
  return rules
    .filter(({ longMs }) => longMs <= windowMs)
    .map(({ speed, percentOfBudget, longMs, shortMs }) => {
      const threshold = thresholdOf(percentOfBudget, longMs, question)
      const [longRate, shortRate] = [longMs, shortMs].map((length) => rateOf(stretches, length, question))
      const hasHistory = begunAt.getTime() <= now.getTime() - longMs
      const isTold = hasHistory && longRate != null && shortRate != null
      const isBurning = isTold ? longRate >= threshold && shortRate >= threshold : null
      return { speed, longMs, shortMs, threshold, longRate: longRate ?? null, shortRate: shortRate ?? null, isBurning }
    })
}

/** Divides once, as `rateOf` does, so that what is equal in exact numbers is equal here. */
function thresholdOf(percentOfBudget: number, longMs: number, { target, windowMs }: BurnQuestion): number {
  const scaled = (percentOfBudget * windowMs) / (100 * longMs)
  return Math.min(Math.max(scaled, 1), WHOLE / (WHOLE - target))
}

function rateOf(stretches: readonly CountedStretch[], length: number, { target, now }: BurnQuestion): number | null {
  const { good, bad } = accountOf(stretches, { from: new Date(now.getTime() - length), to: now })
  return good + bad === 0 ? null : (bad * WHOLE) / ((good + bad) * (WHOLE - target))
}

/**
 * Returns how fast a budget burns: the fastest speed that is too fast; null: none is. What cannot be told stays as it was, so that
 * maintenance and silence begin and end nothing.
 * @param before what it was until now.
 */
export function burnSpeed(rates: readonly BurnRate[], before: BurnSpeed | null): BurnSpeed | null {
  const burning = rates.find(({ isBurning, speed }) => isBurning ?? speed === before)
  return burning?.speed ?? null
}
