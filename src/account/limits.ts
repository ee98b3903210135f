import type { CheckPlan, Tier } from '../generated/prisma/enums.ts'

/** Checks per UTC day: free per client address, pro per organization (specification §8). */
export const checksPerDay = { FREE: 100, PRO: 1000 } as const satisfies Record<CheckPlan, number>

/** What a status-page tier allows (contract §4). */
export interface TierLimits {
  readonly monitors: number
  readonly services: number
  /** Status pages, the first one included. */
  readonly pages: number
  readonly minIntervalSeconds: number
  readonly subscribers: number
  readonly historyDays: number
  /** How many days single probe results are kept; the history derived from them stays. */
  readonly resultDays: number
  /** The maximum size of all files in the timelines of its incidents, in bytes. */
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

/** The most pages of an organization: as many as the highest tier allows. */
export const MAX_PAGES = tierLimits.TEAM.pages

/** Returns the check plan of an organization at a time, after which a paid plan may have ended. */
export function planAt(organization: { checkPlan: CheckPlan; checkPlanUntil: Date | null }, at: Date): CheckPlan {
  const { checkPlan, checkPlanUntil } = organization
  return checkPlanUntil === null || at < checkPlanUntil ? checkPlan : 'FREE'
}
