import { requireScope } from '../../account/access.ts'
import { Conflict, Invalid, NotFound, Unavailable } from '../../errors.ts'
import { Tier } from '../../generated/prisma/enums.ts'
import { builder } from '../../graphql/builder.ts'
import { inputOf, REPLACED } from '../../graphql/input.ts'
import { paidTierNamed, paymentLink, upgradeUrl } from '../checkout.ts'
import { setTier } from '../tier.ts'

const StartCheckoutPayload = builder.objectRef<{ url: string }>('StartCheckoutPayload').implement({
  description: 'Where to pay.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'To open in a browser within an hour; leads on to the payment link.' }),
  }),
})

const StartCheckoutInput = builder.inputType('StartCheckoutInput', {
  description: 'What to upgrade to.',
  fields: (t) => ({
    tier: t.field({ type: Tier, description: 'The tier to upgrade to.' }),
    own: t.boolean({
      required: false,
      description: 'Whether to pay also where somebody else pays for this tier already.',
    }),
  }),
})

builder.mutationField('startCheckout', (t) =>
  t.field({
    type: StartCheckoutPayload,
    description: 'Gives the address at which the caller’s organization upgrades. Needs a key.',
    args: {
      input: t.arg({ type: StartCheckoutInput, required: false }),
      tier: t.arg({ type: Tier, ...REPLACED, description: 'The tier to upgrade to.' }),
    },
    errors: { types: [Invalid, NotFound, Conflict, Unavailable] },
    resolve: async (_root, args, ctx) => {
      const { tier, own } = inputOf<(typeof StartCheckoutInput)['$inferInput']>(args, ['tier'])
      const choice = { own: own === true }
      const organizationId = requireScope(ctx, 'READ')
      const paid = paidTierNamed(tier.toLowerCase())
      await paymentLink(ctx, organizationId, paid, choice)
      return { url: upgradeUrl(ctx, organizationId, paid === 'PRO' ? 'pro' : 'team', choice) }
    },
  }),
)

const SetTierInput = builder.inputType('SetTierInput', {
  description: 'The tier to set.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization that is given the tier.' }),
    tier: t.field({ type: Tier, required: false, description: 'Null: the default one again.' }),
  }),
})

builder.mutationField('setTier', (t) =>
  t.prismaField({
    type: 'Organization',
    description:
      'Gives an organization a status-page tier, which subscriptions can only raise, until another is given. Operator only.',
    args: { input: t.arg({ type: SetTierInput }) },
    errors: { types: [Invalid, NotFound] },
    resolve: async (query, _root, { input }, ctx) => {
      const { id } = await setTier(ctx, input)
      return ctx.db.organization.findUniqueOrThrow({ ...query, where: { id } })
    },
  }),
)
