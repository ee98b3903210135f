import type { TierLimits } from '../account/limits.ts'
import { checksPerDay, historyDaysOf, planAt, tierLimits } from '../account/limits.ts'
import { organizationChecks } from '../account/quota.ts'
import type { Context } from '../core/context.ts'
import { DAY } from '../core/time.ts'
import type { Organization, PaidSubscription } from '../generated/prisma/client.ts'
import { active } from '../notification/subscriber/subscriber-conditions.ts'
import { tierOrder } from './price.ts'

/** The limits of an organization, which come from its tier and check plan. */
export interface Limits
  extends Pick<TierLimits, 'monitors' | 'services' | 'subscribers' | 'minIntervalSeconds' | 'historyDays'> {
  readonly checksPerDay: number
}

/** How much of its limits an organization uses. */
export interface LimitUsage extends Omit<Limits, 'minIntervalSeconds'> {
  /** The shortest interval of its monitors; null: it has no monitors. */
  readonly minIntervalSeconds: number | null
}

/** Returns the current limits of an organization. */
export function limitsOf(ctx: Context, organization: Organization): Limits {
  return { ...tierLimits[organization.tier], checksPerDay: checksPerDay[planAt(organization, ctx.now())] }
}

/** Returns how much of its limits an organization uses. Its history starts when it was created. FREE checks count per address. */
export async function usageOf(ctx: Context, { id, tier, createdAt }: Organization): Promise<LimitUsage> {
  const monitors = await ctx.db.monitor.aggregate({
    where: { organizationId: id },
    _count: true,
    _min: { intervalSeconds: true },
  })
  const age = Math.floor((ctx.now().getTime() - createdAt.getTime()) / DAY)
  return {
    monitors: monitors._count,
    services: await ctx.db.service.count({ where: { organizationId: id } }),
    subscribers: await ctx.db.subscriber.count({ where: { organizationId: id, ...active } }),
    minIntervalSeconds: monitors._min.intervalSeconds,
    historyDays: Math.max(0, Math.min(age, historyDaysOf(tier))),
    checksPerDay: await organizationChecks(ctx, id),
  }
}

/**
 * Returns the most relevant subscription: the organization's own before gifts, then the one for the highest tier,
 * then the newest; null: none.
 */
export async function primarySubscription(ctx: Context, organizationId: string): Promise<PaidSubscription | null> {
  const all = await listSubscriptions(ctx, organizationId)
  const worth = ({ paysFor, isOwn }: PaidSubscription) =>
    paysFor === null ? -1 : tierOrder.indexOf(paysFor) + (isOwn ? tierOrder.length : 0)
  return all.toSorted((one, other) => worth(other) - worth(one))[0] ?? null
}

/** The maximum number of listed subscriptions, because anyone may start one for an organization. */
const MAX_SUBSCRIPTIONS = 50

/** Returns the latest subscriptions of an organization: its own before gifts, newest first, without pending ones. */
export function listSubscriptions({ db }: Context, organizationId: string): Promise<PaidSubscription[]> {
  return db.paidSubscription.findMany({
    where: { organizationId, status: { not: null } },
    orderBy: [{ isOwn: 'desc' }, { createdAt: 'desc' }, { id: 'asc' }],
    take: MAX_SUBSCRIPTIONS,
  })
}
