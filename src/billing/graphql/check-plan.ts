import type { CreatedApiKey } from '../../account/api-key.ts'
import { Conflict, Invalid, LimitExceeded, NotFound, Unavailable } from '../../errors.ts'
import type { CheckPlanInvoice } from '../../generated/prisma/client.ts'
import { CheckPlanCurrency, InvoiceStatus } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { buyCheckPlan, claimCheckPlan } from '../check-plan.ts'

builder.enumType(CheckPlanCurrency, { name: 'CheckPlanCurrency', description: 'The coins that pay for a check plan.' })
builder.enumType(InvoiceStatus, {
  name: 'InvoiceStatus',
  description:
    'PROCESSING: paid, not confirmed yet. EXPIRED: not paid in full in time; a late payment still settles it.',
})
export const Invoice = builder.objectRef<CheckPlanInvoice>('CheckPlanInvoice').implement({
  description: 'An invoice for thirty days of the pro check plan.',
  fields: (t) => ({
    id: t.exposeID('id'),
    status: t.expose('status', { type: InvoiceStatus }),
    currency: t.expose('currency', { type: CheckPlanCurrency }),
    checkoutUrl: t.exposeString('checkoutUrl', { nullable: true, description: 'Where to pay.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be paid in time.' }),
    settledAt: t.expose('settledAt', { type: 'DateTime', nullable: true }),
  }),
})

const BuyCheckPlanPayload = builder
  .objectRef<Awaited<ReturnType<typeof buyCheckPlan>>>('BuyCheckPlanPayload')
  .implement({
    fields: (t) => ({
      invoice: t.expose('invoice', { type: Invoice }),
      secret: t.exposeString('secret', {
        nullable: true,
        description:
          'For claimCheckPlan, once it is settled. Null with a key of an organization, whose plan is prolonged.',
      }),
    }),
  })

builder.mutationField('buyCheckPlan', (t) =>
  t.field({
    type: BuyCheckPlanPayload,
    description:
      'Makes an invoice for thirty days of the pro check plan: for the organization whose key the caller holds, or for a new one. One that can still be paid is given again. A plan that has no end is refused: there is nothing to buy. At most 20 invoices a day (UTC) are made for an organization, and without a key for a client address.',
    args: {
      currency: t.arg({ type: CheckPlanCurrency }),
      email: t.arg.string({ required: false, description: 'Needed without a key; else the contact address is taken.' }),
    },
    errors: { types: [Invalid, Conflict, LimitExceeded, Unavailable] },
    resolve: (_root, args, ctx) => buyCheckPlan(ctx, args),
  }),
)

const ClaimCheckPlanPayload = builder
  .objectRef<{ invoice: CheckPlanInvoice; apiKey: CreatedApiKey | null }>('ClaimCheckPlanPayload')
  .implement({
    fields: (t) => ({
      invoice: t.expose('invoice', { type: Invoice }),
      apiKey: t.string({
        nullable: true,
        description: 'The key, this once; null before the invoice is settled, and after it was given.',
        resolve: ({ apiKey }) => apiKey?.secret,
      }),
    }),
  })

builder.mutationField('claimCheckPlan', (t) =>
  t.field({
    type: ClaimCheckPlanPayload,
    description: 'Gives who has bought a check plan without an organization the key of the one that was made for it.',
    args: { invoiceId: t.arg.id(), secret: t.arg.string() },
    errors: { types: [NotFound] },
    resolve: (_root, { invoiceId, secret }, ctx) => claimCheckPlan(ctx, invoiceId, secret),
  }),
)
