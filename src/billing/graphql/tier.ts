import { requireScope } from '../../account/access.ts'
import { Conflict, Invalid, NotFound, Unavailable } from '../../errors.ts'
import { Tier } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { paidTierNamed, paymentLink, upgradeUrl } from '../checkout.ts'
import { setTier } from '../tier.ts'

const StartCheckoutPayload = builder.objectRef<{ url: string }>('StartCheckoutPayload').implement({
  description: 'Where to pay.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'To open in a browser within an hour; leads on to the payment link.' }),
  }),
})

builder.mutationField('startCheckout', (t) =>
  t.field({
    type: StartCheckoutPayload,
    description: 'Gives the address at which the caller’s organization upgrades. Needs a key.',
    args: { tier: t.arg({ type: Tier, description: 'The tier to upgrade to.' }) },
    errors: { types: [NotFound, Conflict, Unavailable] },
    resolve: async (_root, { tier }, ctx) => {
      const organizationId = requireScope(ctx, 'READ')
      const paid = paidTierNamed(tier.toLowerCase())
      await paymentLink(ctx, organizationId, paid)
      return { url: upgradeUrl(ctx, organizationId, paid === 'PRO' ? 'pro' : 'team') }
    },
  }),
)

const SetTierInput = builder.inputType('SetTierInput', {
  description: 'The tier to set.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization.' }),
    tier: t.field({ type: Tier, description: 'The tier.' }),
  }),
})

builder.mutationField('setTier', (t) =>
  t.prismaField({
    type: 'Organization',
    description:
      'Gives an organization a status-page tier, until a subscription of its changes what it pays for. Operator only.',
    args: { input: t.arg({ type: SetTierInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (query, _root, { input }, ctx) => {
      const { id } = await setTier(ctx, input)
      return ctx.db.organization.findUniqueOrThrow({ ...query, where: { id } })
    },
  }),
)
