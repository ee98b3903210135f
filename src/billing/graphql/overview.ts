import { planAt } from '../../account/limits.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import type { Organization as OrganizationRow, PaidSubscription } from '../../generated/prisma/client.ts'
import { CheckPlan, SubscriptionStatus, Tier } from '../../generated/prisma/enums.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { listInvoices } from '../check-plan/check-plan.ts'
import type { Limits, LimitUsage } from '../overview.ts'
import { limitsOf, listSubscriptions, primarySubscription, usageOf } from '../overview.ts'
import { upgradeUrls } from '../subscription/checkout.ts'
import { builder } from './builder.ts'
import { Invoice } from './check-plan.ts'

builder.enumType(SubscriptionStatus, {
  name: 'SubscriptionStatus',
  description: 'The status at the payment provider. ACTIVE, TRIALING and PAST_DUE grant the paid tier.',
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
  description: 'The limits of an organization, from its tier and check plan.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors', { description: 'Maximum number of monitors.' }),
    services: t.exposeInt('services', { description: 'Maximum number of services.' }),
    subscribers: t.exposeInt('subscribers', { description: 'Maximum number of subscribers.' }),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds', {
      description: 'The shortest interval of a monitor, in seconds.',
    }),
    historyDays: t.exposeInt('historyDays', { description: 'Days of history shown.' }),
    checksPerDay: t.exposeInt('checksPerDay', {
      description: 'Blacklist checks a day. The free plan counts per client address.',
    }),
  }),
})

const TierUsage = builder.objectRef<LimitUsage>('TierUsage').implement({
  description: 'An organization’s usage of its limits.',
  fields: (t) => ({
    monitors: t.exposeInt('monitors', { description: 'Number of monitors.' }),
    services: t.exposeInt('services', { description: 'Number of services.' }),
    subscribers: t.exposeInt('subscribers', { description: 'Number of subscribers.' }),
    minIntervalSeconds: t.exposeInt('minIntervalSeconds', {
      nullable: true,
      description: 'The shortest interval in use, in seconds; null without monitors.',
    }),
    historyDays: t.exposeInt('historyDays', { description: 'Days of history available.' }),
    checksPerDay: t.exposeInt('checksPerDay', { description: 'Checks of the pro plan in the current UTC day.' }),
  }),
})

const BillingSubscription = builder.objectRef<PaidSubscription>('BillingSubscription').implement({
  description: 'A subscription at the payment provider.',
  fields: (t) => ({
    status: t.field({
      type: SubscriptionStatus,
      description: 'The status at the payment provider.',
      // A subscription without a status is pending, and pending ones are not listed.
      resolve: ({ status }) => status ?? 'INCOMPLETE',
    }),
    paysFor: t.expose('paysFor', {
      type: Tier,
      nullable: true,
      description: 'The tier it pays for; null if its status or amount grants none.',
    }),
    currentPeriodEnd: t.expose('currentPeriodEnd', {
      type: 'DateTime',
      nullable: true,
      description: 'The end of the paid period.',
    }),
    cancelAtPeriodEnd: t.exposeBoolean('cancelAtPeriodEnd', {
      description: 'Whether it ends with the current period.',
    }),
    isGift: t.boolean({
      description:
        'Whether a person outside the organization may have started it: it did not start from the organization’s own checkout.',
      resolve: ({ isOwn }) => !isOwn,
    }),
  }),
})

const UpgradeUrls = builder.objectRef<{ pro?: string; team?: string }>('UpgradeUrls').implement({
  description: 'URLs for upgrading in a browser. Each is valid for an hour and needs no key.',
  fields: (t) => ({
    pro: t.string({
      nullable: true,
      description: 'The URL for the pro tier; null if the current tier is not lower.',
      resolve: ({ pro }) => pro,
    }),
    team: t.string({
      nullable: true,
      description: 'The URL for the team tier; null if the current tier is not lower.',
      resolve: ({ team }) => team,
    }),
  }),
})

const Billing = builder.objectRef<OrganizationRow>('Billing').implement({
  description: 'The plans, limits and usage of an organization.',
  fields: (t) => ({
    tier: t.expose('tier', { type: Tier, description: 'The status-page tier.' }),
    limits: t.field({
      type: TierLimits,
      description: 'The limits of the tier and the check plan.',
      resolve: (organization, _args, ctx) => limitsOf(ctx, organization),
    }),
    usage: t.field({
      type: TierUsage,
      description: 'The usage of the limits.',
      resolve: (organization, _args, ctx) => usageOf(ctx, organization),
    }),
    subscription: t.field({
      type: BillingSubscription,
      nullable: true,
      description:
        'The most relevant subscription: the organization’s own before gifts, then by tier, then the newest.',
      resolve: ({ id }, _args, ctx) => primarySubscription(ctx, id),
    }),
    subscriptions: t.field({
      type: [BillingSubscription],
      description:
        'Up to fifty subscriptions: the organization’s own before gifts, newest first. The tier is the highest that one of them pays for.',
      extensions: costs({ itself: STATEMENT_COST, items: 50 }),
      resolve: ({ id }, _args, ctx) => listSubscriptions(ctx, id),
    }),
    tierFloor: t.expose('tierFloor', {
      type: Tier,
      nullable: true,
      description:
        'The minimum tier set by the operator, which subscriptions can only raise; null for the default tier.',
    }),
    upgradeUrls: t.field({
      type: UpgradeUrls,
      description: 'The upgrade URLs of higher tiers.',
      resolve: (organization, _args, ctx) => upgradeUrls(ctx, organization),
    }),
    checkPlan: t.field({
      type: CheckPlan,
      description: 'The current check plan.',
      resolve: (organization, _args, ctx) => planAt(organization, ctx.now()),
    }),
    checkPlanUntil: t.expose('checkPlanUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the paid check plan ends; null if it has no end.',
    }),
    invoices: t.field({
      type: [Invoice],
      description: 'The latest twenty invoices of the check plan, newest first.',
      extensions: costs({ itself: STATEMENT_COST, items: 20 }),
      resolve: ({ id }, _args, ctx) => listInvoices(ctx, id, 20),
    }),
  }),
})

builder.prismaObjectField('Organization', 'billing', (t) =>
  t.field({
    type: Billing,
    description: 'The plans, limits and usage of the organization.',
    resolve: ({ id }, _args, ctx) => readOrganization(ctx, id),
  }),
)
