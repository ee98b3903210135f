import type { TierLimits } from '../account/plan.ts'
import { checksPerDay, planAt, tierLimits } from '../account/plan.ts'
import { organizationChecks } from '../account/usage.ts'
import type { Context } from '../context.ts'
import type { Organization, PaidSubscription } from '../generated/prisma/client.ts'
import { active } from '../notification/subscriber.ts'
import { DAY } from '../time.ts'
import { tierOrder } from './price.ts'

/** What an organization may have, by its tier and its check plan. */
export interface Limits
  extends Pick<TierLimits, 'monitors' | 'services' | 'subscribers' | 'minIntervalSeconds' | 'historyDays'> {
  readonly checksPerDay: number
}

/** What it has of that. */
export interface UsageOfLimits extends Omit<Limits, 'minIntervalSeconds'> {
  /** The shortest interval of its monitors; null when it has none. */
  readonly minIntervalSeconds: number | null
}

/** The limits of an organization at this moment. */
export function limitsOf(ctx: Context, organization: Organization): Limits {
  return { ...tierLimits[organization.tier], checksPerDay: checksPerDay[planAt(organization, ctx.now())] }
}

/** What an organization uses of its limits. History is kept since it was made; free checks are counted by address, not here. */
export async function usageOfLimits(ctx: Context, { id, tier, createdAt }: Organization): Promise<UsageOfLimits> {
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
    historyDays: Math.max(0, Math.min(age, tierLimits[tier].historyDays)),
    checksPerDay: await organizationChecks(ctx, id),
  }
}

/**
 * The subscription that matters: its own before what others have begun for it, of those the one that pays for most, else the
 * one that was begun last; null when there is none.
 */
export async function subscriptionOf(ctx: Context, organizationId: string): Promise<PaidSubscription | null> {
  const all = await subscriptionsOf(ctx, organizationId)
  const worth = ({ paysFor, isOwn }: PaidSubscription) =>
    paysFor === null ? -1 : tierOrder.indexOf(paysFor) + (isOwn ? tierOrder.length : 0)
  return all.toSorted((one, other) => worth(other) - worth(one))[0] ?? null
}

/** How many subscriptions are told of one organization: anybody may begin one for it. */
const SHOWN = 50

/** The last subscriptions of an organization that have begun, newest first, its own before those of others. */
export function subscriptionsOf({ db }: Context, organizationId: string): Promise<PaidSubscription[]> {
  return db.paidSubscription.findMany({
    where: { organizationId, status: { not: null } },
    orderBy: [{ isOwn: 'desc' }, { createdAt: 'desc' }, { id: 'asc' }],
    take: SHOWN,
  })
}
