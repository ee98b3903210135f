import { z } from 'zod'
import type { Organization, PaidSubscription } from '../../generated/prisma/client.ts'
import type { Limits, LimitUsage } from '../overview.ts'

/** The schemas of the billing REST API (contract §3). They define response types and generate `/openapi.json`. */

const count = z.int().min(0)
const limits = z
  .object({
    monitors: count,
    services: count,
    subscribers: count,
    min_interval_seconds: count,
    history_days: count,
    checks_per_day: count.meta({ description: 'Blacklist checks a day. The free plan counts per client address.' }),
  })
  .meta({ id: 'TierLimits' })

export const statusJson = z
  .object({
    organization_id: z.string(),
    tier: z.enum(['free', 'pro', 'team']),
    limits,
    usage: limits
      .extend({
        min_interval_seconds: count
          .nullable()
          .meta({ description: 'The shortest interval in use; null without monitors.' }),
      })
      .meta({ id: 'TierUsage' }),
    subscription: z
      .object({
        status: z.string().meta({ description: 'The status at the payment provider.', example: 'active' }),
        current_period_end: z.iso.datetime().nullable(),
        cancel_at_period_end: z.boolean(),
      })
      .nullable(),
    upgrade_urls: z
      .object({ pro: z.url().optional(), team: z.url().optional() })
      .meta({ description: 'Upgrade URLs of higher tiers. Each is valid for an hour and needs no key.' }),
  })
  .meta({ id: 'BillingStatus' })

export const returnedJson = z.object({ status: z.enum(['success', 'cancelled']) }).meta({ id: 'PaymentReturn' })
export const receivedJson = z.object({ received: z.literal(true) }).meta({ id: 'Received' })

/** Converts the billing status to its REST form. */
export function statusToJson(
  organization: Organization,
  limits: Limits,
  usage: LimitUsage,
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
