import type { CreatedApiKey } from '../../account/api-key.ts'
import { Conflict, Invalid, LimitExceeded, NotFound, Unavailable } from '../../errors.ts'
import type { CheckPlanInvoice } from '../../generated/prisma/client.ts'
import { CheckPlanCurrency, InvoiceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { describedValues } from '../../graphql/descriptions.ts'
import { inputOf, REPLACED } from '../../graphql/input.ts'
import { buyCheckPlan, claimCheckPlan } from '../check-plan.ts'

builder.enumType(CheckPlanCurrency, {
  name: 'CheckPlanCurrency',
  description: 'The coins that pay for a check plan.',
  values: describedValues({ BTC: 'Bitcoin.', LTC: 'Litecoin.' }),
})
builder.enumType(InvoiceStatus, {
  name: 'InvoiceStatus',
  description:
    'PROCESSING: paid, not confirmed yet. EXPIRED: not paid in full in time; a late payment still settles it.',
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
    currency: t.expose('currency', { type: CheckPlanCurrency, description: 'The currency it is paid in.' }),
    checkoutUrl: t.exposeString('checkoutUrl', { nullable: true, description: 'Where to pay.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be paid in time.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the payment was confirmed; null: not yet.',
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
          'For claimCheckPlan, once it is settled. Null with a key of an organization, whose plan is prolonged.',
      }),
    }),
  })

const EMAIL = 'Needed without a key; else the contact address is taken.'

const BuyCheckPlanInput = builder.inputType('BuyCheckPlanInput', {
  description: 'How to pay, and who.',
  fields: (t) => ({
    currency: t.field({ type: CheckPlanCurrency, description: 'The currency to pay in.' }),
    email: t.string({ required: false, description: EMAIL }),
  }),
})

builder.mutationField('buyCheckPlan', (t) =>
  t.field({
    type: BuyCheckPlanPayload,
    description:
      'Makes an invoice for thirty days of the pro check plan: for the organization whose key the caller holds, or for a new one. One that can still be paid is given again. A plan that has no end is refused: there is nothing to buy. At most 20 invoices a day (UTC) are made for an organization, and without a key for a client address.',
    args: {
      input: t.arg({ type: BuyCheckPlanInput, required: false }),
      currency: t.arg({ type: CheckPlanCurrency, ...REPLACED, description: 'The currency to pay in.' }),
      email: t.arg.string({ ...REPLACED, description: EMAIL }),
    },
    errors: { types: [Invalid, Conflict, LimitExceeded, Unavailable] },
    resolve: (_root, args, ctx) =>
      buyCheckPlan(ctx, inputOf<(typeof BuyCheckPlanInput)['$inferInput']>(args, ['currency'])),
  }),
)

const ClaimCheckPlanPayload = builder
  .objectRef<{ invoice: CheckPlanInvoice; apiKey: CreatedApiKey | null }>('ClaimCheckPlanPayload')
  .implement({
    description: 'The invoice, and the key of the new organization.',
    fields: (t) => ({
      invoice: t.expose('invoice', { type: Invoice, description: 'The invoice that was claimed.' }),
      apiKey: t.string({
        nullable: true,
        description: 'The key, this once; null before the invoice is settled, and after it was given.',
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
    description: 'Gives who has bought a check plan without an organization the key of the one that was made for it.',
    args: {
      input: t.arg({ type: ClaimCheckPlanInput, required: false }),
      invoiceId: t.arg.id({ ...REPLACED, description: 'The invoice’s id.' }),
      secret: t.arg.string({ ...REPLACED, description: 'The secret that came with the invoice.' }),
    },
    errors: { types: [Invalid, NotFound] },
    resolve: (_root, args, ctx) => {
      const { invoiceId, secret } = inputOf<(typeof ClaimCheckPlanInput)['$inferInput']>(args, ['invoiceId', 'secret'])
      return claimCheckPlan(ctx, invoiceId, secret)
    },
  }),
)
