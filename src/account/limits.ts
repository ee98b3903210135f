import type { CheckPlan, Tier } from '../generated/prisma/enums.ts'

/** Checks per UTC day: for FREE per client address, for PRO per organization (specification §8). */
export const checksPerDay = { FREE: 100, PRO: 1000 } as const satisfies Record<CheckPlan, number>

/** The limits of a status-page tier (contract §4). */
export interface TierLimits {
  readonly monitors: number
  readonly services: number
  /** The number of status pages, including the first. */
  readonly pages: number
  readonly minIntervalSeconds: number
  readonly subscribers: number
  readonly historyDays: number
  /** How many days individual probe results are kept. The history derived from them is kept longer. */
  readonly resultDays: number
  /** The maximum total size of the files in its incidents' timelines, in bytes. */
  readonly fileBytes: number
}

const MEGABYTE = 1_000_000

export const tierLimits: Readonly<Record<Tier, TierLimits>> = {
  FREE: {
    monitors: 5,
    services: 10,
    pages: 1,
    minIntervalSeconds: 60,
    subscribers: 50,
    historyDays: 30,
    resultDays: 7,
    fileBytes: 100 * MEGABYTE,
  },
  PRO: {
    monitors: 50,
    services: 100,
    pages: 5,
    minIntervalSeconds: 30,
    subscribers: 1000,
    historyDays: 365,
    resultDays: 30,
    fileBytes: 1000 * MEGABYTE,
  },
  TEAM: {
    monitors: 500,
    services: 1000,
    pages: 50,
    minIntervalSeconds: 10,
    subscribers: 10_000,
    historyDays: 730,
    resultDays: 30,
    fileBytes: 10_000 * MEGABYTE,
  },
}

/** The maximum number of pages of an organization: the limit of the highest tier. */
export const MAX_PAGES = tierLimits.TEAM.pages

/** Returns how many days of history a tier shows, up to today, which counts as one. */
export const historyDaysOf = (tier: Tier): number => tierLimits[tier].historyDays

/** The longest history of any tier, in days. */
export const LONGEST_HISTORY_DAYS = Math.max(...Object.values(tierLimits).map(({ historyDays }) => historyDays))

/** Returns the check plan of an organization at a given time. A paid plan may have ended by then. */
export function planAt(organization: { checkPlan: CheckPlan; checkPlanUntil: Date | null }, at: Date): CheckPlan {
  const { checkPlan, checkPlanUntil } = organization
  return checkPlanUntil === null || at < checkPlanUntil ? checkPlan : 'FREE'
}
