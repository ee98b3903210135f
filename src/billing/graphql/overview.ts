import { planAt } from '../../account/plan.ts'
import type { Organization as OrganizationRow, PaidSubscription } from '../../generated/prisma/client.ts'
import { CheckPlan, SubscriptionStatus, Tier } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { upgradeUrls } from '../checkout.ts'
import type { Limits, UsageOfLimits } from '../overview.ts'
import { limitsOf, subscriptionOf, usageOfLimits } from '../overview.ts'
import { Invoice } from './check-plan.ts'

builder.enumType(SubscriptionStatus, {
  name: 'SubscriptionStatus',
  description: 'As the payment provider names them. ACTIVE, TRIALING and PAST_DUE give the tier that is paid for.',
})
const TierLimits = builder.objectRef<Limits>('TierLimits').implement({
  description: 'What an organization may have, by its tier and its check plan.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors'),
    services: t.exposeInt('services'),
    subscribers: t.exposeInt('subscribers'),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds'),
    historyDays: t.exposeInt('historyDays'),
    checksPerDay: t.exposeInt('checksPerDay', { description: 'The free plan’s are counted by client address.' }),
  }),
})

const TierUsage = builder.objectRef<UsageOfLimits>('TierUsage').implement({
  description: 'What an organization has of that.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors'),
    services: t.exposeInt('services'),
    subscribers: t.exposeInt('subscribers'),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds', {
      nullable: true,
      description: 'The shortest in use; null: none is.',
    }),
    historyDays: t.exposeInt('historyDays'),
    checksPerDay: t.exposeInt('checksPerDay', { description: 'Of the current UTC day, by the pro plan.' }),
  }),
})

const BillingSubscription = builder.objectRef<PaidSubscription>('BillingSubscription').implement({
  description: 'A subscription at the payment provider.',
  fields: (t) => ({
    status: t.field({
      type: SubscriptionStatus,
      // Those without a status have not begun, and are not given.
      resolve: ({ status }) => status ?? 'INCOMPLETE',
    }),
    paysFor: t.expose('paysFor', {
      type: Tier,
      nullable: true,
      description: 'Null: nothing, by its status or amount.',
    }),
    currentPeriodEnd: t.expose('currentPeriodEnd', { type: 'DateTime', nullable: true }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd'),
  }),
})

const UpgradeUrls = builder.objectRef<{ pro?: string; team?: string }>('UpgradeUrls').implement({
  description:
    'Addresses to open in a browser, of the tiers that are higher. Each is good for an hour, and needs no key.',
  fields: (t) => ({
    pro: t.string({ nullable: true, resolve: ({ pro }) => pro }),
    team: t.string({ nullable: true, resolve: ({ team }) => team }),
  }),
})

const Billing = builder.objectRef<OrganizationRow>('Billing').implement({
  description: 'What an organization pays for, and what it may have by that.',
  fields: (t) => ({
    tier: t.expose('tier', { type: Tier }),
    limits: t.field({ type: TierLimits, resolve: (organization, _args, ctx) => limitsOf(ctx, organization) }),
    usage: t.field({ type: TierUsage, resolve: (organization, _args, ctx) => usageOfLimits(ctx, organization) }),
    subscription: t.field({
      type: BillingSubscription,
      nullable: true,
      description: 'The one that pays for most, else the last one.',
      resolve: ({ id }, _args, ctx) => subscriptionOf(ctx, id),
    }),
    upgradeUrls: t.field({ type: UpgradeUrls, resolve: (organization, _args, ctx) => upgradeUrls(ctx, organization) }),
    checkPlan: t.field({ type: CheckPlan, resolve: (organization, _args, ctx) => planAt(organization, ctx.now()) }),
    checkPlanUntil: t.expose('checkPlanUntil', { type: 'DateTime', nullable: true }),
    invoices: t.field({
      type: [Invoice],
      description: 'The last twenty of the check plan, newest first.',
      complexity: { field: 1, multiplier: 3 },
      resolve: ({ id }, _args, { db }) =>
        db.checkPlanInvoice.findMany({
          where: { organizationId: id },
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
          take: 20,
        }),
    }),
  }),
})

builder.prismaObjectField('Organization', 'billing', (t) =>
  t.field({
    type: Billing,
    resolve: ({ id }, _args, { db }) => db.organization.findUniqueOrThrow({ where: { id } }),
  }),
)
