import { requireOperator } from '../../account/access.ts'
import { Conflict, Invalid, NotFound } from '../../errors.ts'
import { PaymentProvider, UnmatchedReason } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/connection.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { orderOf, pageOf } from '../../graphql/keyset.ts'
import { assignPayment } from '../payment.ts'

builder.enumType(PaymentProvider, {
  name: 'PaymentProvider',
  description: 'A payment provider.',
  values: describedValues({ BTCPAY: 'BTCPay Server.', STRIPE: 'Stripe.' }),
})
builder.enumType(UnmatchedReason, {
  name: 'UnmatchedReason',
  description: 'Why a payment could not be matched.',
  values: describedValues({
    NO_REFERENCE: 'The payment names no organization.',
    NO_SUBSCRIPTION: 'A single payment, which buys no tier.',
    UNKNOWN_AMOUNT: 'The amount is not the price of a tier.',
    UNKNOWN_ORGANIZATION: 'There is no organization of that reference.',
    UNKNOWN_SUBSCRIPTION: 'No payment of an organization has begun this subscription yet.',
  }),
})

const PaymentEvent = builder.prismaObject('PaymentEvent', {
  description: 'An event of a payment provider, for the operator.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The provider’s own.' }),
    provider: t.expose('provider', { type: PaymentProvider, description: 'The payment provider.' }),
    type: t.exposeString('type', { description: 'The provider’s name of the event’s type.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'As the provider says.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When it arrived here.' }),
    subscriptionId: t.exposeString('objectId', {
      nullable: true,
      description: 'The provider’s id of what it is about.',
    }),
    amount: t.exposeInt('amount', { nullable: true, description: 'In minor units, before coupons and taxes.' }),
    currency: t.exposeString('currency', { nullable: true, description: 'The currency, in small letters.' }),
    email: t.exposeString('email', { nullable: true, description: 'The payer’s.' }),
    reason: t.expose('reason', { type: UnmatchedReason, nullable: true, description: 'Null once it is matched.' }),
    organizationId: t.exposeID('organizationId', {
      nullable: true,
      description: 'The organization it was assigned to; null: none yet.',
    }),
    assignedAt: t.expose('assignedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was assigned by hand.',
    }),
  }),
})

const newestFirst = orderOf('PaymentEvent', { receivedAt: ['time', 'desc'], id: ['text', 'asc'] })

builder.queryField('unmatchedPayments', (t) =>
  t.field({
    type: connectionOf('PaymentEvent'),
    description: 'Payments of which it is not known whose they are, or for what; newest first. Operator only.',
    args: pageArgs,
    resolve: (_root, args, ctx, info) => {
      requireOperator(ctx)
      return pageOf({
        order: newestFirst,
        args,
        where: { outcome: 'UNMATCHED' as const },
        read: (slice) => ctx.db.paymentEvent.findMany({ ...nodeQuery('PaymentEvent', ctx, info), ...slice }),
        count: (query) => ctx.db.paymentEvent.count(query),
      })
    },
  }),
)

const PaidTierEnum = builder.enumType('PaidTier', {
  description: 'The tiers that are paid for.',
  values: describedValues({ PRO: 'The pro tier.', TEAM: 'The team tier.' }),
})

const AssignPaymentInput = builder.inputType('AssignPaymentInput', {
  description: 'Which payment to assign, and to which organization.',
  fields: (t) => ({
    paymentEventId: t.id({ description: 'The payment event to assign.' }),
    organizationId: t.id({ description: 'The organization to assign it to.' }),
    tier: t.field({
      type: PaidTierEnum,
      required: false,
      description: 'What it buys, where its amount is the price of no tier.',
    }),
  }),
})

builder.mutationField('assignPayment', (t) =>
  t.field({
    type: PaymentEvent,
    description: 'Gives a payment, and the subscription it is about, to an organization. Operator only.',
    args: { input: t.arg({ type: AssignPaymentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => assignPayment(ctx, input),
  }),
)
