import { planAt } from '../../account/plan.ts'
import type { Organization as OrganizationRow, PaidSubscription } from '../../generated/prisma/client.ts'
import { CheckPlan, SubscriptionStatus, Tier } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { costs, STATEMENT } from '../../graphql/cost.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { upgradeUrls } from '../checkout.ts'
import type { Limits, UsageOfLimits } from '../overview.ts'
import { limitsOf, subscriptionOf, subscriptionsOf, usageOfLimits } from '../overview.ts'
import { Invoice } from './check-plan.ts'

builder.enumType(SubscriptionStatus, {
  name: 'SubscriptionStatus',
  description: 'As the payment provider names them. ACTIVE, TRIALING and PAST_DUE give the tier that is paid for.',
  values: describedValues({
    ACTIVE: 'Paid.',
    CANCELED: 'Ended.',
    INCOMPLETE: 'The first payment has not succeeded yet.',
    INCOMPLETE_EXPIRED: 'The first payment never succeeded.',
    PAST_DUE: 'A payment failed and is being retried.',
    PAUSED: 'Paused at the payment provider.',
    TRIALING: 'In its trial period.',
    UNPAID: 'A payment failed and is no longer retried.',
  }),
})
const TierLimits = builder.objectRef<Limits>('TierLimits').implement({
  description: 'What an organization may have, by its tier and its check plan.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors', { description: 'How many monitors it may have.' }),
    services: t.exposeInt('services', { description: 'How many services it may have.' }),
    subscribers: t.exposeInt('subscribers', { description: 'How many subscribers it may have.' }),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds', {
      description: 'The shortest interval between checks, in seconds.',
    }),
    historyDays: t.exposeInt('historyDays', { description: 'How many days of history are shown.' }),
    checksPerDay: t.exposeInt('checksPerDay', { description: 'The free plan’s are counted by client address.' }),
  }),
})

const TierUsage = builder.objectRef<UsageOfLimits>('TierUsage').implement({
  description: 'What an organization has of that.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors', { description: 'How many monitors it has.' }),
    services: t.exposeInt('services', { description: 'How many services it has.' }),
    subscribers: t.exposeInt('subscribers', { description: 'How many subscribers it has.' }),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds', {
      nullable: true,
      description: 'The shortest in use; null: none is.',
    }),
    historyDays: t.exposeInt('historyDays', { description: 'How many days of history there are.' }),
    checksPerDay: t.exposeInt('checksPerDay', { description: 'Of the current UTC day, by the pro plan.' }),
  }),
})

const BillingSubscription = builder.objectRef<PaidSubscription>('BillingSubscription').implement({
  description: 'A subscription at the payment provider.',
  fields: (t) => ({
    status: t.field({
      type: SubscriptionStatus,
      description: 'The status at the payment provider.',
      // Those without a status have not begun, and are not given.
      resolve: ({ status }) => status ?? 'INCOMPLETE',
    }),
    paysFor: t.expose('paysFor', {
      type: Tier,
      nullable: true,
      description: 'Null: nothing, by its status or amount.',
    }),
    currentPeriodEnd: t.expose('currentPeriodEnd', {
      type: 'DateTime',
      nullable: true,
      description: 'When the period that is paid for ends.',
    }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd', {
      description: 'Whether it ends with the current period.',
    }),
    isGift: t.boolean({
      description:
        'Whether somebody may have begun it who does not belong to the organization: no checkout of the organization went before.',
      resolve: ({ isOwn }) => !isOwn,
    }),
  }),
})

const UpgradeUrls = builder.objectRef<{ pro?: string; team?: string }>('UpgradeUrls').implement({
  description:
    'Addresses to open in a browser, of the tiers that are higher. Each is good for an hour, and needs no key.',
  fields: (t) => ({
    pro: t.string({
      nullable: true,
      description: 'Upgrades to the pro tier; null: not higher than the current tier, or not sold.',
      resolve: ({ pro }) => pro,
    }),
    team: t.string({
      nullable: true,
      description: 'Upgrades to the team tier; null: not higher than the current tier, or not sold.',
      resolve: ({ team }) => team,
    }),
  }),
})

const Billing = builder.objectRef<OrganizationRow>('Billing').implement({
  description: 'What an organization pays for, and what it may have by that.',
  fields: (t) => ({
    tier: t.expose('tier', { type: Tier, description: 'The status-page tier.' }),
    limits: t.field({
      type: TierLimits,
      description: 'What the tier and the check plan allow.',
      resolve: (organization, _args, ctx) => limitsOf(ctx, organization),
    }),
    usage: t.field({
      type: TierUsage,
      description: 'How much of the limits is used.',
      resolve: (organization, _args, ctx) => usageOfLimits(ctx, organization),
    }),
    subscription: t.field({
      type: BillingSubscription,
      nullable: true,
      description: 'The own one that pays for most, else that of somebody else, else the last one.',
      resolve: ({ id }, _args, ctx) => subscriptionOf(ctx, id),
    }),
    subscriptions: t.field({
      type: [BillingSubscription],
      description:
        'Up to fifty, the organization’s own first, newest first: the tier is the highest that one pays for.',
      extensions: costs({ itself: STATEMENT, items: 50 }),
      resolve: ({ id }, _args, ctx) => subscriptionsOf(ctx, id),
    }),
    tierFloor: t.expose('tierFloor', {
      type: Tier,
      nullable: true,
      description: 'The tier that the operator has given, which subscriptions can only raise; null: the default tier.',
    }),
    upgradeUrls: t.field({
      type: UpgradeUrls,
      description: 'Where to upgrade to a higher tier.',
      resolve: (organization, _args, ctx) => upgradeUrls(ctx, organization),
    }),
    checkPlan: t.field({
      type: CheckPlan,
      description: 'The check plan as of now.',
      resolve: (organization, _args, ctx) => planAt(organization, ctx.now()),
    }),
    checkPlanUntil: t.expose('checkPlanUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the paid check plan ends; null: it does not end.',
    }),
    invoices: t.field({
      type: [Invoice],
      description: 'The last twenty of the check plan, newest first.',
      extensions: costs({ itself: STATEMENT, items: 20 }),
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
    description: 'What it pays for and what that allows.',
    resolve: ({ id }, _args, { db }) => db.organization.findUniqueOrThrow({ where: { id } }),
  }),
)
