import { Conflict, Invalid, NotFound, Unavailable } from '../../core/errors.ts'
import { Tier } from '../../generated/prisma/enums.ts'
import { inputOf } from '../../graphql/schema/input.ts'
import { VERSION_READ } from '../../graphql/schema/version.ts'
import { startUpgrade } from '../subscription/checkout.ts'
import { setTier } from '../subscription/tier.ts'
import { builder } from './builder.ts'

const StartCheckoutPayload = builder.objectRef<{ url: string }>('StartCheckoutPayload').implement({
  description: 'The URL for paying.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Redirects to the payment link. Open it in a browser within an hour.' }),
  }),
})

const StartCheckoutInput = builder.inputType('StartCheckoutInput', {
  description: 'The upgrade.',
  fields: (t) => ({
    tier: t.field({ type: Tier, description: 'The tier to upgrade to.' }),
    own: t.boolean({
      required: false,
      description: 'Whether to pay even if a gift subscription already pays for this tier.',
    }),
  }),
})

builder.mutationField('startCheckout', (t) =>
  t.field({
    type: StartCheckoutPayload,
    description: 'Returns the URL for upgrading the caller’s organization. Requires a key.',
    args: {
      input: t.arg({ type: StartCheckoutInput, required: false }),
      tier: t.arg({ type: Tier, required: false, description: 'Instead of `input`: the tier to upgrade to.' }),
    },
    errors: { types: [Invalid, NotFound, Conflict, Unavailable] },
    resolve: async (_root, args, ctx) => {
      const { tier, own } = inputOf<(typeof StartCheckoutInput)['$inferInput']>(args, ['tier'])
      return startUpgrade(ctx, tier.toLowerCase(), { own: own === true })
    },
  }),
)

const SetTierInput = builder.inputType('SetTierInput', {
  description: 'The organization and its minimum tier.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization.' }),
    tier: t.field({ type: Tier, required: false, description: 'The minimum tier; null restores the default.' }),
    version: t.int(VERSION_READ),
  }),
})

builder.mutationField('setTier', (t) =>
  t.prismaField({
    type: 'Organization',
    description:
      'Sets the minimum status-page tier of an organization, which subscriptions can only raise. Operator only.',
    args: { input: t.arg({ type: SetTierInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: async (query, _root, { input }, ctx) => {
      const { id } = await setTier(ctx, input)
      return ctx.db.organization.findUniqueOrThrow({ ...query, where: { id } })
    },
  }),
)
