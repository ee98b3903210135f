import { z } from 'zod'
import type { Organization, PaidSubscription } from '../generated/prisma/client.ts'
import type { Limits, UsageOfLimits } from './overview.ts'

/** The shapes of the billing REST API (contract §3): what answers are typed with, and what `/openapi.json` is made from. */

const count = z.int().min(0)
const limits = z
  .object({
    monitors: count,
    services: count,
    subscribers: count,
    min_interval_seconds: count,
    history_days: count,
    checks_per_day: count.meta({ description: 'By the check plan. The free plan’s are counted by client address.' }),
  })
  .meta({ id: 'TierLimits' })

export const statusJson = z
  .object({
    organization_id: z.string(),
    tier: z.enum(['free', 'pro', 'team']),
    limits,
    usage: limits
      .extend({ min_interval_seconds: count.nullable().meta({ description: 'The shortest in use; null: none is.' }) })
      .meta({ id: 'TierUsage' }),
    subscription: z
      .object({
        status: z.string().meta({ description: 'As the payment provider calls it.', example: 'active' }),
        current_period_end: z.iso.datetime().nullable(),
        cancel_at_period_end: z.boolean(),
      })
      .nullable(),
    upgrade_urls: z
      .object({ pro: z.url().optional(), team: z.url().optional() })
      .meta({ description: 'Only of higher tiers. Each is good for an hour, and needs no key.' }),
  })
  .meta({ id: 'BillingStatus' })

export const returnedJson = z.object({ status: z.enum(['success', 'cancelled']) }).meta({ id: 'PaymentReturn' })
export const receivedJson = z.object({ received: z.literal(true) }).meta({ id: 'Received' })

/** The billing status as REST gives it. */
export function statusToJson(
  organization: Organization,
  limits: Limits,
  usage: UsageOfLimits,
  subscription: PaidSubscription | null,
  upgradeUrls: z.infer<typeof statusJson>['upgrade_urls'],
): z.infer<typeof statusJson> {
  return {
    organization_id: organization.id,
    tier: ({ FREE: 'free', PRO: 'pro', TEAM: 'team' } as const)[organization.tier],
    limits: limitsToJson(limits),
    usage: limitsToJson(usage),
    subscription: subscription && {
      status: (subscription.status ?? 'INCOMPLETE').toLowerCase(),
      current_period_end: subscription.currentPeriodEnd?.toISOString() ?? null,
      cancel_at_period_end: subscription.cancelAtPeriodEnd,
    },
    upgrade_urls: upgradeUrls,
  }
}

function limitsToJson<I extends number | null>(of: Omit<Limits, 'minIntervalSeconds'> & { minIntervalSeconds: I }) {
  return {
    monitors: of.monitors,
    services: of.services,
    subscribers: of.subscribers,
    min_interval_seconds: of.minIntervalSeconds,
    history_days: of.historyDays,
    checks_per_day: of.checksPerDay,
  }
}
