import { requireOperator } from '../../core/access.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import { PaymentProvider, UnmatchedReason } from '../../generated/prisma/enums.ts'
import { connectionOf, nodeQuery, pageArgs } from '../../graphql/list/connection.ts'
import { orderOf, pageOf } from '../../graphql/list/keyset.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { assignPayment } from '../subscription/payment.ts'
import { builder } from './builder.ts'

builder.enumType(PaymentProvider, {
  name: 'PaymentProvider',
  description: 'A payment provider.',
  values: describedValues({ BTCPAY: 'BTCPay Server.', STRIPE: 'Stripe.' }),
})
builder.enumType(UnmatchedReason, {
  name: 'UnmatchedReason',
  description: 'Why a payment could not be matched.',
  values: describedValues({
    NO_REFERENCE: 'The payment has no reference to an organization.',
    NO_SUBSCRIPTION: 'A one-time payment, which buys no tier.',
    PAID_IN_PART: 'Less than the price of the check plan was paid. Assigning it grants the plan.',
    PAID_LATE: 'The check plan was paid after its invoice had expired. Assigning it grants the plan.',
    UNKNOWN_AMOUNT: 'The amount is not the price of a tier.',
    UNKNOWN_ORGANIZATION: 'The referenced organization does not exist.',
    UNKNOWN_SUBSCRIPTION: 'No checkout of an organization has started this subscription yet.',
  }),
})

const PaymentEvent = builder.prismaObject('PaymentEvent', {
  description: 'An event of a payment provider. Operator only.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The provider’s id of the event.' }),
    provider: t.expose('provider', { type: PaymentProvider, description: 'The payment provider.' }),
    type: t.exposeString('type', { description: 'The event type at the provider.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the provider created it.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When we received it.' }),
    subscriptionId: t.exposeString('objectId', {
      nullable: true,
      description: 'The provider’s id of the subscription or invoice.',
    }),
    amount: t.exposeInt('amount', {
      nullable: true,
      description: 'The amount in minor units, before coupons and taxes.',
    }),
    currency: t.exposeString('currency', { nullable: true, description: 'The lower-case currency code.' }),
    email: t.exposeString('email', { nullable: true, description: 'The payer’s email address.' }),
    reason: t.expose('reason', {
      type: UnmatchedReason,
      nullable: true,
      description: 'Why the payment could not be matched; null once matched.',
    }),
    organizationId: t.exposeID('organizationId', {
      nullable: true,
      description: 'The organization that the payment belongs to, or null.',
    }),
    assignedAt: t.expose('assignedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the operator assigned it.',
    }),
  }),
})

const newestFirst = orderOf('PaymentEvent', { receivedAt: ['time', 'desc'], id: ['text', 'asc'] })

builder.queryField('unmatchedPayments', (t) =>
  t.field({
    type: connectionOf('PaymentEvent'),
    description: 'Payments without a known organization or tier, newest first. Operator only.',
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
  description: 'A paid tier.',
  values: describedValues({ PRO: 'The pro tier.', TEAM: 'The team tier.' }),
})

const AssignPaymentInput = builder.inputType('AssignPaymentInput', {
  description: 'The payment to assign, and its organization.',
  fields: (t) => ({
    paymentEventId: t.id({ description: 'The payment event to assign.' }),
    organizationId: t.id({ description: 'The organization to assign it to.' }),
    tier: t.field({
      type: PaidTierEnum,
      required: false,
      description: 'The tier that it buys, if its amount is not the price of a tier.',
    }),
  }),
})

builder.mutationField('assignPayment', (t) =>
  t.field({
    type: PaymentEvent,
    description: 'Assigns a payment and its subscription to an organization. Operator only.',
    args: { input: t.arg({ type: AssignPaymentInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => assignPayment(ctx, input),
  }),
)
