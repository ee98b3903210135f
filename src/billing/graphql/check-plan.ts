import type { CreatedApiKey } from '../../account/api-key/api-key.ts'
import { Conflict, Invalid, LimitExceeded, NotFound, Unavailable } from '../../core/errors.ts'
import { withIdempotencyKey } from '../../core/idempotency.ts'
import type { CheckPlanInvoice } from '../../generated/prisma/client.ts'
import { CheckPlanCurrency, InvoiceStatus } from '../../generated/prisma/enums.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { IDEMPOTENCY_KEY } from '../../graphql/schema/idempotent-mutation.ts'
import { inputOf } from '../../graphql/schema/input.ts'
import { buyCheckPlan, claimCheckPlan, purchaseSerializer } from '../check-plan/check-plan.ts'
import { builder } from './builder.ts'

builder.enumType(CheckPlanCurrency, {
  name: 'CheckPlanCurrency',
  description: 'A cryptocurrency that pays for a check plan.',
  values: describedValues({ BTC: 'Bitcoin.', LTC: 'Litecoin.' }),
})
builder.enumType(InvoiceStatus, {
  name: 'InvoiceStatus',
  description: 'The status of an invoice.',
  values: describedValues({
    EXPIRED: 'Not paid in full in time; a late payment still settles it.',
    INVALID: 'The payment was never confirmed.',
    NEW: 'Waiting for the payment.',
    PROCESSING: 'Paid in full, not confirmed yet.',
    SETTLED: 'Paid and confirmed.',
  }),
})
export const Invoice = builder.objectRef<CheckPlanInvoice>('CheckPlanInvoice').implement({
  description: 'An invoice for thirty days of the pro check plan.',
  fields: (t) => ({
    id: t.exposeID('id'),
    status: t.expose('status', { type: InvoiceStatus, description: 'The state of the payment.' }),
    currency: t.expose('currency', { type: CheckPlanCurrency, description: 'The payment currency.' }),
    checkoutUrl: t.exposeString('checkoutUrl', { nullable: true, description: 'The URL for paying.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the time to pay ends.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the payment was confirmed, or null.',
    }),
  }),
})

const BuyCheckPlanPayload = builder
  .objectRef<Awaited<ReturnType<typeof buyCheckPlan>>>('BuyCheckPlanPayload')
  .implement({
    description: 'The invoice to pay.',
    fields: (t) => ({
      invoice: t.expose('invoice', { type: Invoice, description: 'The invoice to pay.' }),
      secret: t.exposeString('secret', {
        nullable: true,
        description:
          'The secret for claimCheckPlan once the invoice is settled. Null for a caller with an organization’s key, whose plan is extended.',
      }),
    }),
  })

const EMAIL = 'The buyer’s email address. Required without a key; defaults to the organization’s contact address.'

const BuyCheckPlanInput = builder.inputType('BuyCheckPlanInput', {
  description: 'The currency and the buyer.',
  fields: (t) => ({
    currency: t.field({ type: CheckPlanCurrency, description: 'The currency to pay in.' }),
    email: t.string({ required: false, description: EMAIL }),
    idempotencyKey: t.string(IDEMPOTENCY_KEY),
  }),
})

builder.mutationField('buyCheckPlan', (t) =>
  t.field({
    type: BuyCheckPlanPayload,
    description:
      'Creates an invoice for thirty days of the pro check plan, for the caller’s organization or, without a key, for a new one. Returns an existing invoice that can still be paid. Fails with Conflict when the plan has no end. Limit: 20 invoices a day (UTC) per organization, or per client address without a key.',
    args: {
      input: t.arg({ type: BuyCheckPlanInput, required: false }),
      currency: t.arg({
        type: CheckPlanCurrency,
        required: false,
        description: 'Instead of `input`: the currency to pay in.',
      }),
      email: t.arg.string({ required: false, description: EMAIL }),
    },
    errors: { types: [Invalid, Conflict, LimitExceeded, Unavailable] },
    resolve: (_root, args, ctx) => {
      const input = inputOf<(typeof BuyCheckPlanInput)['$inferInput']>(args, ['currency'])
      const asked = { operation: 'buyCheckPlan', input, key: input.idempotencyKey }
      return withIdempotencyKey(ctx, asked, purchaseSerializer(ctx), (claiming) => buyCheckPlan(claiming, input))
    },
  }),
)

const ClaimCheckPlanPayload = builder
  .objectRef<{ invoice: CheckPlanInvoice; apiKey: CreatedApiKey | null }>('ClaimCheckPlanPayload')
  .implement({
    description: 'The invoice, and the API key of the new organization.',
    fields: (t) => ({
      invoice: t.expose('invoice', { type: Invoice, description: 'The claimed invoice.' }),
      apiKey: t.string({
        nullable: true,
        description: 'The API key, returned once; null before the invoice is settled and after the first call.',
        resolve: ({ apiKey }) => apiKey?.secret,
      }),
    }),
  })

const ClaimCheckPlanInput = builder.inputType('ClaimCheckPlanInput', {
  description: 'The invoice to claim, and the secret that came with it.',
  fields: (t) => ({
    invoiceId: t.id({ description: 'The invoice’s id.' }),
    secret: t.string({ description: 'The secret that came with the invoice.' }),
  }),
})

builder.mutationField('claimCheckPlan', (t) =>
  t.field({
    type: ClaimCheckPlanPayload,
    description: 'Returns the API key of the organization that was created for a purchase without a key.',
    args: { input: t.arg({ type: ClaimCheckPlanInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, { input: { invoiceId, secret } }, ctx) => claimCheckPlan(ctx, invoiceId, secret),
  }),
)
